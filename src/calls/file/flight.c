/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records into a ring of blocks: see flight.h. */
#include "calls/file/flight_ring.h"
#include "calls/file/pack.h"
#include "calls/file/parts.h"
#include "calls/file/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_ROOM = 4200,
    SEGMENTS = 32, /* a segment has at most about that part of the kept bytes */
};

struct gt_compact_flight {
    struct gt_compact_flight_options o;
    char path[PATH_ROOM]; /* of the ring; "": it was never opened */
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
