/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records into a ring of blocks: see flight.h. */
#include "base/array.h"
#include "base/file.h"
#include "calls/file/flight_ring.h"
#include "calls/file/pack.h"
#include "calls/file/parts.h"
#include "calls/file/resume.h"
#include "calls/file/split.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- where blocks go ------------------------------------------------------------------------ */

/*
 * Where a ring's blocks go: see flight_ring.h.
 *
 * A block goes to where the last one ends, as long as that is free; else to the largest part that
 * is; else the file grows; and where it must not or cannot, the oldest segment goes. Free room is
 * overwritten from its beginning, so that of an old block the head goes first.
 */

struct gt_compact_flight_sys gt_compact_flight_sys = {.pwrite = pwrite, .fallocate = fallocate};

int gt_compact_flight_write_at(int fd, const uint8_t *data, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t put = gt_compact_flight_sys.pwrite(fd, data, n, (off_t)at);
        if (put < 0 && errno != EINTR)
            return errno;
        if (put == 0)
            return ENOSPC;
        data += put > 0 ? put : 0;
        at += put > 0 ? (uint64_t)put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    return 0;
}

static const struct gt_compact_block *oldest(const struct gt_compact_flight_room *r)
{
    return r->block + r->first;
}

static void drop(struct gt_compact_flight_room *r, size_t n)
{
    r->first += n;
    r->n -= n;
}

static int compare(const void *a, const void *b)
{
    const struct gt_compact_gap *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Takes the largest part of the file that no block which counts is in. */
static bool take_gap(struct gt_compact_flight_room *r, size_t size)
{
    struct gt_compact_gap *used = calloc(r->n + 1, sizeof *used);
    uint64_t from = GT_COMPACT_FILE_HEAD, most = 0;
    if (!used)
        return false;
    for (size_t i = 0; i < r->n; i++)
        used[i] =
            (struct gt_compact_gap){oldest(r)[i].at, GT_COMPACT_HEAD + oldest(r)[i].head.size};
    qsort(used, r->n, sizeof *used, compare);
    used[r->n].at = r->size;
    for (size_t i = 0; i <= r->n; i++) {
        if (used[i].at > from && used[i].at - from > most) {
            most = used[i].at - from;
            r->next = from;
            r->free_end = used[i].at;
        }
        from = used[i].at + used[i].size;
    }
    free(used);
    return most >= size;
}

/* Makes the file longer; what it is longer by is allocated. */
static bool grow(struct gt_compact_flight_room *r, size_t size)
{
    uint64_t more = size > GT_FLIGHT_GROW ? size : GT_FLIGHT_GROW;
    if (r->full || r->limit.bytes < r->size || r->limit.bytes - r->size < size)
        return false;
    if (r->limit.bytes - r->size < more)
        more = r->limit.bytes - r->size;
    int e;
    do
        e = gt_compact_flight_sys.fallocate(r->fd, 0, (off_t)r->size, (off_t)more) == 0 ? 0 : errno;
    while (e == EINTR);
    if (e == EOPNOTSUPP || e == ENOSYS)
        e = ftruncate(r->fd, (off_t)(r->size + more)) == 0 ? 0 : errno;
    r->size += e ? 0 : more;
    return e == 0;
}

/* Finds a place for a block that goes on with the last one, or begins a segment. The blocks of the
 * segment that it goes on with stay. */
static bool make_room(struct gt_compact_flight_room *r, size_t size, bool begins)
{
    if (r->free_end - r->next >= size)
        return true;
    drop(r, gt_compact_flight_expired(oldest(r), r->n, r->limit.time));
    while (!take_gap(r, size)) {
        size_t n = r->n ? gt_compact_flight_segment_end(oldest(r), r->n, 0) : 0;
        if (grow(r, size))
            continue;
        if (n == 0 || (n == r->n && !begins))
            return false;
        drop(r, n);
    }
    return true;
}

static bool note(struct gt_compact_flight_room *r, const struct gt_compact_head *h)
{
    if (r->first > r->n) {
        memmove(r->block, oldest(r), r->n * sizeof *r->block);
        r->first = 0;
    }
    if (!GT_ARRAY_GROW(&r->block, &r->room, r->first + r->n + 1))
        return false;
    r->block[r->first + r->n++] = (struct gt_compact_block){r->next, *h};
    r->next += GT_COMPACT_HEAD + h->size;
    return true;
}

int gt_compact_flight_put_block(struct gt_compact_flight_room *r,
                                const struct gt_compact_head *head, const uint8_t *block,
                                size_t size)
{
    int e = size > r->limit.bytes / 2 ? EFBIG : ENOSPC;
    while (make_room(r, size, head->flags & GT_COMPACT_SEGMENT)) {
        e = gt_compact_flight_write_at(r->fd, block, size, r->next);
        if (e == 0)
            return note(r, head) ? 0 : ENOMEM;
        if ((e != ENOSPC && e != EDQUOT) || r->full)
            return e;
        r->full = true; /* the file has grown in name only */
        r->size = r->free_end = r->next;
    }
    return e;
}

/* ---- reading a ring ------------------------------------------------------------------------- */

bool gt_compact_flight_path(const char *dir, uint32_t number, char *path, size_t room)
{
    return snprintf(path, room, "%s/.guesttrace-%u.last", dir, number) < (int)room;
}

bool gt_compact_flight_is_ring(const char *name, uint32_t *number)
{
    char whole[40];
    if (sscanf(name, ".guesttrace-%u.last", number) != 1)
        return false;
    snprintf(whole, sizeof whole, ".guesttrace-%u.last", *number);
    return strcmp(name, whole) == 0;
}

/* ---- what counts --------------------------------------------------------------------------- */

/* The last of the records that heads say. */
static uint64_t last_record(const struct gt_compact_file *f, uint32_t number)
{
    uint64_t last = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_compact_head *h = &f->block[i].head;
        if (h->type == GT_COMPACT_RECORDS && h->packer == number)
            last = h->before + h->records > last ? h->before + h->records : last;
    }
    return last;
}

/* Keeps the packer's blocks that are whole. */
static int keep_whole(struct gt_compact_file *f, uint32_t number, struct gt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_compact_head *h = &f->block[i].head;
        const uint8_t *payload;
        if (h->type != GT_COMPACT_RECORDS || h->packer != number)
            continue;
        int status = gt_compact_file_payload(f, i, &payload, err);
        if (status == GT_E_NOMEM || status == GT_E_IO)
            return status;
        if (status == 0)
            f->block[n++] = f->block[i];
    }
    f->n = n;
    return 0;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct gt_compact_block *x = a, *y = b;
    if (x->head.before != y->head.before)
        return x->head.before < y->head.before ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void drop_first(struct gt_compact_file *f, size_t n)
{
    f->n -= n;
    if (n && f->n)
        memmove(f->block, f->block + n, f->n * sizeof *f->block);
}

/* Keeps the row that leads to the last block, from the first segment on. */
static void keep_row(struct gt_compact_file *f)
{
    size_t first = f->n, i = f->n;
    while (i > 0) {
        const struct gt_compact_head *h = &f->block[--i].head;
        if (i + 1 < f->n && h->before + h->records != f->block[i + 1].head.before)
            break;
        if (h->flags & GT_COMPACT_SEGMENT)
            first = i;
    }
    drop_first(f, first);
}

size_t gt_compact_flight_segment_end(const struct gt_compact_block *block, size_t n, size_t i)
{
    do
        i++;
    while (i < n && !(block[i].head.flags & GT_COMPACT_SEGMENT));
    return i;
}

static uint64_t last_time(const struct gt_compact_block *block, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = block[i].head.last_time > last ? block[i].head.last_time : last;
    return last;
}

size_t gt_compact_flight_expired(const struct gt_compact_block *block, size_t n, uint64_t time)
{
    size_t from = 0;
    if (!time || !n)
        return 0;
    uint64_t now = last_time(block + n - 1, 1);
    while (from < n) {
        size_t end = gt_compact_flight_segment_end(block, n, from);
        uint64_t last = last_time(block + from, end - from);
        if (end == n || last >= now || now - last <= time)
            return from;
        from = end;
    }
    return from;
}

int gt_compact_flight_open(const char *path, uint32_t number, uint64_t time,
                           struct gt_compact_file *out, uint64_t *records, uint64_t *seen,
                           struct gt_error *err)
{
    *records = 0;
    int status = gt_compact_file_scan(path, out, err);
    if (status < 0)
        return status;
    if (seen)
        *seen = last_record(out, number);
    status = keep_whole(out, number, err);
    if (status < 0) {
        gt_compact_file_close(out);
        return status;
    }
    if (out->n)
        qsort(out->block, out->n, sizeof *out->block, compare_blocks);
    if (out->n)
        *records = out->block[out->n - 1].head.before + out->block[out->n - 1].head.records;
    keep_row(out);
    drop_first(out, gt_compact_flight_expired(out->block, out->n, time));
    return 0;
}

/* ---- into a compact file -------------------------------------------------------------------- */

enum { RING_PATH = 4200, TRIES = 16 };

/* ---- how much ------------------------------------------------------------------------------ */

int gt_compact_flight_parse(const char *text, struct gt_compact_flight_limit *out,
                            struct gt_error *err)
{
    uint64_t value = 0;
    bool is_time = false;
    int status = gt_compact_amount_parse(text, &value, &is_time);
    if (status == GT_E_USAGE)
        return gt_error_set(err, GT_E_USAGE, "%.40s: expected a size or a time, as 64M or 10s",
                            text);
    *out = is_time ? (struct gt_compact_flight_limit){GT_COMPACT_FLIGHT_MOST, value}
                   : (struct gt_compact_flight_limit){value, 0};
    if (status == 0 && out->bytes >= GT_COMPACT_FLIGHT_LEAST &&
        out->bytes <= GT_COMPACT_FLIGHT_MOST)
        return 0;
    return gt_error_set(err, GT_E_USAGE, "%.40s: expected %s", text,
                        is_time ? "a shorter time" : "a size from 1M to 1G");
}

static const char *limit_path(const char *dir, char path[RING_PATH])
{
    snprintf(path, RING_PATH, "%s/" GT_COMPACT_FLIGHT_FILE, dir);
    return path;
}

bool gt_compact_flight_is(const char *dir)
{
    char path[RING_PATH];
    return access(limit_path(dir, path), F_OK) == 0;
}

int gt_compact_flight_read(const char *dir, struct gt_compact_flight_limit *out,
                           struct gt_error *err)
{
    char path[RING_PATH], *text;
    size_t size;
    int status = gt_file_read(limit_path(dir, path), 4096, &text, &size, err);
    if (status < 0)
        return status;
    if (sscanf(text, "bytes=%" SCNu64 "\ntime=%" SCNu64, &out->bytes, &out->time) != 2)
        status = gt_error_set(err, GT_E_FORMAT, "%s: expected bytes=N and time=N", path);
    free(text);
    return status;
}

int gt_compact_flight_write(const char *dir, const struct gt_compact_flight_limit *limit,
                            struct gt_error *err)
{
    char path[RING_PATH], text[80];
    int n = snprintf(text, sizeof text, "bytes=%" PRIu64 "\ntime=%" PRIu64 "\n", limit->bytes,
                     limit->time);
    return gt_file_replace(limit_path(dir, path), text, (size_t)n, err);
}

/* ---- copying ------------------------------------------------------------------------------- */

struct copy {
    const char *path; /* of the file */
    int fd;
    uint64_t time;
    struct gt_error *err;
};

/* Adds block i. 1: it is not there any more. */
static int copy_block(const struct copy *c, const struct gt_compact_file *ring, size_t i,
                      struct gt_compact_buffer *buffer)
{
    const uint8_t *payload;
    int status = gt_compact_file_read(ring, i, buffer, &payload, c->err);
    if (status == GT_E_FORMAT || status == GT_E_TRUNC)
        return 1;
    return status < 0 ? status
                      : gt_compact_append_to(c->fd, c->path, buffer->data,
                                             GT_COMPACT_HEAD + ring->block[i].head.size, c->err);
}

/* Adds the blocks in order. Where one was overwritten meanwhile so were all before it: the added
 * blocks are taken back, and the next segment is the first. Returns the number of records. */
static int64_t copy_blocks(const struct copy *c, const struct gt_compact_file *ring)
{
    struct gt_compact_buffer buffer = {0};
    off_t begin = lseek(c->fd, 0, SEEK_END);
    int64_t records = 0;
    int status = begin < 0 ? gt_error_errno(c->err, errno, "%s", c->path) : 0;
    for (size_t i = 0; i < ring->n && status == 0;) {
        status = copy_block(c, ring, i, &buffer);
        records += ring->block[i].head.records;
        i = status == 1 ? gt_compact_flight_segment_end(ring->block, ring->n, i) : i + 1;
        if (status != 1)
            continue;
        records = 0;
        status = ftruncate(c->fd, begin) == 0 ? 0 : gt_error_errno(c->err, errno, "%s", c->path);
    }
    gt_compact_buffer_free(&buffer);
    return status < 0 ? status : records;
}

/* A ring all of which was overwritten meanwhile is read again: its heads say that more records came
 * since the last time, or none could be read at all. */
static int64_t copy_ring(const struct copy *c, const char *dir, uint32_t number)
{
    char path[RING_PATH];
    uint64_t all, seen, last = 0;
    if (!gt_compact_flight_path(dir, number, path, sizeof path))
        return gt_error_set(c->err, GT_E_RANGE, "%.200s...: path too long", dir);
    for (int tries = 0; tries < TRIES; tries++, last = seen) {
        struct gt_compact_file ring;
        int status = gt_compact_flight_open(path, number, c->time, &ring, &all, &seen, c->err);
        if (status == GT_E_FORMAT) /* it has just been created, or it was killed then */
            return 0;
        if (status < 0)
            return status;
        int64_t records = copy_blocks(c, &ring);
        bool is_empty = ring.size <= GT_COMPACT_FILE_HEAD;
        gt_compact_file_close(&ring);
        if (records != 0 || is_empty || (seen && seen == last))
            return records;
    }
    if (!last) /* it was killed with its first block */
        return 0;
    return gt_error_set(c->err, GT_E_IO, "%s: records come faster than they can be copied", path);
}

static int select_ring(const struct dirent *e)
{
    uint32_t number;
    return gt_compact_flight_is_ring(e->d_name, &number);
}

int64_t gt_compact_flight_copy(const char *dir, const char *path, struct gt_error *err)
{
    struct gt_compact_flight_limit limit;
    struct copy c = {.path = path, .err = err};
    struct dirent **list;
    int64_t records = 0, status = gt_compact_flight_read(dir, &limit, err);
    if (status < 0)
        return status;
    c.time = limit.time;
    int n = scandir(dir, &list, select_ring, alphasort);
    if (n < 0)
        return gt_error_errno(err, errno, "%s", dir);
    c.fd = gt_compact_lock(path, err);
    status = c.fd < 0 ? c.fd : 0;
    for (int i = 0; i < n; i++) {
        uint32_t number;
        if (status >= 0 && gt_compact_flight_is_ring(list[i]->d_name, &number))
            status = copy_ring(&c, dir, number);
        records += status > 0 ? status : 0;
        free(list[i]);
    }
    free(list);
    if (c.fd >= 0)
        close(c.fd);
    return status < 0 ? status : records;
}

/* ---- packers -------------------------------------------------------------------------------- */

enum {
    SEGMENTS = 32, /* a segment has at most about that part of the kept bytes */
};

struct gt_compact_flight {
    struct gt_compact_flight_options o;
    char path[RING_PATH]; /* of the ring; "": it was never opened */
    uint32_t number;
    bool resumes;    /* the packer's tasks are to be read from the ring, with the first record */
    bool recover;    /* it is opened for what pools have */
    bool in_block;   /* it has records */
    uint64_t before; /* records of the packer in the ring and before it */
    struct gt_compact_packer *packer; /* NULL: made with the first record */
    struct gt_compact_flight_room ring;
    /* the present segment */
    uint64_t segment_bytes, segment_begin;
};

/* ---- life ---------------------------------------------------------------------------------- */

int gt_compact_flight_create(const struct gt_compact_flight_options *o,
                             struct gt_compact_flight **out)
{
    struct gt_compact_flight *f = calloc(1, sizeof *f);
    *out = f;
    if (!f)
        return GT_E_NOMEM;
    f->o = *o;
    f->ring = (struct gt_compact_flight_room){.fd = -1, .limit = o->limit};
    f->o.dir = strdup(o->dir);
    if (f->o.dir)
        return 0;
    gt_compact_flight_destroy(f);
    *out = NULL;
    return GT_E_NOMEM;
}

void gt_compact_flight_destroy(struct gt_compact_flight *f)
{
    if (!f)
        return;
    gt_compact_packer_destroy(f->packer);
    free(f->ring.block);
    free((char *)f->o.dir);
    free(f);
}

static const char *path_of(const void *self)
{
    const struct gt_compact_flight *f = self;
    return *f->path ? f->path : f->o.dir;
}

static void close_ring(void *self, bool descriptors)
{
    struct gt_compact_flight *f = self;
    if (descriptors && f->ring.fd >= 0)
        close(f->ring.fd);
    gt_compact_packer_destroy(f->packer);
    f->packer = NULL;
    f->in_block = f->resumes = false;
    free(f->ring.block);
    f->ring = (struct gt_compact_flight_room){.fd = -1, .limit = f->o.limit};
    f->segment_bytes = 0;
}

static int errno_of(int status)
{
    return status == GT_E_NOMEM ? ENOMEM : status == GT_E_RANGE ? EAGAIN : EIO;
}

/* A file that is new, or was cut by a kill. */
static int begin_file(struct gt_compact_flight *f)
{
    uint8_t head[GT_COMPACT_FILE_HEAD];
    gt_compact_file_head(head);
    f->ring.next = f->ring.free_end = f->ring.size = GT_COMPACT_FILE_HEAD;
    f->resumes = false;
    return gt_compact_flight_write_at(f->ring.fd, head, sizeof head, 0);
}

/* Takes over what the ring has. */
static int take_file(struct gt_compact_flight *f)
{
    struct gt_compact_file file;
    int status = gt_compact_flight_open(f->path, f->number, 0, &file, &f->before, NULL, NULL);
    if (status < 0)
        return errno_of(status);
    f->ring.block = file.block;
    f->ring.n = file.n;
    f->ring.room = file.room;
    f->ring.size = file.size;
    file.block = NULL;
    const struct gt_compact_block *last = f->ring.n ? &f->ring.block[f->ring.n - 1] : NULL;
    f->ring.next = last ? last->at + GT_COMPACT_HEAD + last->head.size : GT_COMPACT_FILE_HEAD;
    f->ring.free_end = f->ring.next;
    f->resumes = f->ring.n > 0;
    gt_compact_file_close(&file);
    return 0;
}

static int open_ring(void *self, uint32_t number, bool recover, uint64_t *records)
{
    struct gt_compact_flight *f = self;
    f->recover = recover; /* a ring always goes on where it ends */
    *records = f->before = 0;
    f->number = number;
    if (!gt_compact_flight_path(f->o.dir, number, f->path, sizeof f->path))
        return ENAMETOOLONG;
    f->ring.fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (f->ring.fd < 0)
        return errno;
    off_t size = lseek(f->ring.fd, 0, SEEK_END);
    int e = size < GT_COMPACT_FILE_HEAD ? begin_file(f) : take_file(f);
    *records = f->before;
    return e;
}

/* ---- going on ------------------------------------------------------------------------------ */

/* The tasks of the last segment, as they are after it; for a recovery the tasks of all segments: it
 * has records of every task, and one may not be in the last. */
static int last_tasks(const struct gt_compact_flight *f,
                      int (*task)(void *self, const struct gt_compact_tail_task *t), void *self)
{
    size_t n = f->ring.first + f->ring.n, i = n;
    while (i > f->ring.first &&
           (!(f->ring.block[--i].head.flags & GT_COMPACT_SEGMENT) || f->recover))
        continue;
    const struct gt_compact_tail tail = {.file = {.fd = f->ring.fd,
                                                  .path = (char *)f->path,
                                                  .size = f->ring.size,
                                                  .block = f->ring.block + i,
                                                  .n = n - i}};
    return gt_compact_tail_tasks(&tail, task, self, NULL);
}

static bool is_exact(const struct gt_compact_flight *f)
{
    return !f->o.exact || f->o.exact(f->o.self);
}

static int make_packer(struct gt_compact_flight *f)
{
    const struct gt_compact_packer_options o = {
        .packer = f->number, .exact = is_exact(f), .before = f->before};
    if (gt_compact_packer_create(&o, &f->packer) < 0)
        return ENOMEM;
    int status = f->resumes ? last_tasks(f, gt_compact_tail_resume, f->packer) : 0;
    return status < 0 ? errno_of(status) : 0;
}

/* ---- records ------------------------------------------------------------------------------- */

/* Bytes that a segment should have: the ring may not come to be longer than it is. */
static uint64_t segment_bytes(const struct gt_compact_flight *f)
{
    uint64_t size = f->ring.size > GT_FLIGHT_GROW ? f->ring.size : GT_FLIGHT_GROW;
    return (size < f->o.limit.bytes ? size : f->o.limit.bytes) / SEGMENTS;
}

/* A block that must not become longer: of a small ring, or of a short time. */
static bool is_due(const struct gt_compact_flight *f)
{
    const struct gt_compact_packer *p = f->packer;
    uint64_t bytes = 0, most = segment_bytes(f) / 2;
    for (int i = 0; i < GT_COLUMNS; i++)
        bytes += p->column[i].n;
    uint64_t span = p->head.records ? p->head.last_time - p->head.first_time : 0;
    return bytes >= most || (f->o.limit.time && span >= f->o.limit.time / SEGMENTS / 2);
}

static int put(void *self, uint32_t id, const uint64_t *words, size_t n)
{
    struct gt_compact_flight *f = self;
    int e = f->packer ? 0 : make_packer(f);
    if (e)
        return e;
    if (!f->in_block)
        gt_compact_packer_set_exact(f->packer, is_exact(f));
    else if (is_due(f))
        return EAGAIN;
    int status = gt_compact_packer_put_words(f->packer, id, words, n);
    f->in_block |= status == 0;
    return status < 0 ? errno_of(status) : 0;
}

static bool is_full(const void *self)
{
    const struct gt_compact_flight *f = self;
    return gt_compact_packer_is_full(f->packer) || is_due(f);
}

static void forget(void *self, uint32_t id)
{
    struct gt_compact_flight *f = self;
    if (f->packer)
        gt_compact_packer_forget(f->packer, id);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void end_segment(struct gt_compact_flight *f, const struct gt_compact_head *h)
{
    const struct gt_compact_flight_limit *l = &f->o.limit;
    if (h->flags & GT_COMPACT_SEGMENT) {
        f->segment_bytes = 0;
        f->segment_begin = h->first_time;
    }
    f->segment_bytes += GT_COMPACT_HEAD + h->size;
    uint64_t span = h->last_time > f->segment_begin ? h->last_time - f->segment_begin : 0;
    if (f->segment_bytes >= segment_bytes(f) || (l->time && span >= l->time / SEGMENTS))
        gt_compact_packer_end_segment(f->packer);
}

static int end_block(void *self, uint64_t *bytes)
{
    struct gt_compact_flight *f = self;
    struct gt_compact_head head;
    const uint8_t *block;
    size_t size;
    f->in_block = false;
    if (gt_compact_packer_end_block(f->packer, &block, &size) < 0)
        return ENOMEM;
    *bytes = size;
    if (gt_compact_head_read(block, size, &head) < 0)
        return EIO;
    int e = gt_compact_flight_put_block(&f->ring, &head, block, size);
    if (!e)
        end_segment(f, &head);
    return e;
}

const struct gt_stream_packing gt_compact_flight_packing = {.open = open_ring,
                                                            .put = put,
                                                            .is_full = is_full,
                                                            .end = end_block,
                                                            .forget = forget,
                                                            .close = close_ring,
                                                            .path = path_of};

/* ---- earlier records ----------------------------------------------------------------------- */

uint64_t gt_compact_flight_last_time(struct gt_compact_flight *f, uint32_t number, uint32_t task)
{
    struct gt_compact_tail_time last = {.task = task};
    uint64_t records;
    if (open_ring(f, number, false, &records) == 0 && f->ring.n > 0)
        last_tasks(f, gt_compact_tail_note_time, &last);
    close_ring(f, true);
    return last.time;
}
