/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records into a compact file: see writer.h. */
#include "calls/file/writer.h"
#include "calls/file/pack.h"
#include "calls/file/parts.h"
#include "calls/file/resume.h"
#include "calls/file/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct gt_compact_record) == 16, "two words");

struct gt_compact_writer {
    struct gt_compact_writer_options o;
    int fd; /* -1: not open */
    uint32_t number;
    bool recover;
    bool resumes;     /* the packer's tasks are to be read from the file, with the first record */
    bool in_block;    /* it has records */
    bool removed;     /* the file had no name any more when it was closed */
    uint64_t before;  /* records of the packer in the file */
    uint64_t segment; /* offset of its last segment; 0: not known */
    uint32_t segment_part;            /* the part that has it */
    struct gt_compact_split split;    /* the part that is open */
    struct gt_compact_packer *packer; /* NULL: made with the first record */
    struct gt_compact_room room;
    uint64_t most;  /* bytes that the block should have */
    uint64_t words; /* of segments that have ended */
};

/* ---- life ---------------------------------------------------------------------------------- */

int gt_compact_writer_create(const struct gt_compact_writer_options *o,
                             struct gt_compact_writer **out)
{
    struct gt_compact_writer *w = calloc(1, sizeof *w);
    *out = w;
    if (!w)
        return GT_E_NOMEM;
    w->o = *o;
    w->fd = -1;
    w->o.path = strdup(o->path);
    w->o.dir = strdup(o->dir);
    w->split = (struct gt_compact_split){.limits = o->limits, .file = w->o.path, .dir = w->o.dir};
    /* A limit of parts is kept by removing the oldest. */
    w->room = (struct gt_compact_room){
        .file = w->o.path,
        .dir = w->o.dir,
        .total = gt_compact_limits_split(&o->limits) ? 0 : o->limits.total};
    if (w->o.path && w->o.dir)
        return 0;
    gt_compact_writer_destroy(w);
    *out = NULL;
    return GT_E_NOMEM;
}

void gt_compact_writer_destroy(struct gt_compact_writer *w)
{
    if (!w)
        return;
    gt_compact_packer_destroy(w->packer);
    free((char *)w->o.path);
    free((char *)w->o.dir);
    free(w);
}

static const char *path_of(const void *self)
{
    return ((const struct gt_compact_writer *)self)->o.path;
}

static void close_file(void *self, bool descriptors)
{
    struct gt_compact_writer *w = self;
    struct stat st;
    if (w->fd >= 0)
        w->removed = fstat(w->fd, &st) == 0 && st.st_nlink == 0;
    if (descriptors && w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    gt_compact_packer_destroy(w->packer);
    w->packer = NULL;
    w->in_block = w->resumes = false;
}

static int errno_of(int status)
{
    return status == GT_E_NOMEM ? ENOMEM : status == GT_E_RANGE ? EAGAIN : EIO;
}

/* ---- packers' files ------------------------------------------------------------------------ */

static int open_mark(const struct gt_compact_writer *w, int flags)
{
    char path[4200];
    int n = snprintf(path, sizeof path, "%s/.guesttrace-%u.packer", w->o.dir, w->number);
    if (n >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0666);
}

/* False: the file has no blocks of this number. w->segment: see writer.h; 0: look at all of it. */
static bool was_there(struct gt_compact_writer *w)
{
    uint64_t mark[2] = {0};
    int fd = open_mark(w, O_WRONLY | O_CREAT | O_EXCL);
    bool is_new = fd >= 0;
    if (!is_new) {
        fd = open_mark(w, O_RDONLY);
        if (fd >= 0 && pread(fd, mark, sizeof mark, 0) != sizeof mark)
            mark[0] = 0;
    }
    if (fd >= 0)
        close(fd);
    w->segment = mark[0];
    w->segment_part = (uint32_t)mark[1];
    return !is_new;
}

/* Where this fails, the next process of this number has more to read. */
static void put_mark(const struct gt_compact_writer *w, uint64_t segment)
{
    const uint64_t mark[2] = {segment, w->split.part.number};
    int fd = open_mark(w, O_WRONLY | O_CREAT);
    if (fd < 0)
        return;
    if (pwrite(fd, mark, sizeof mark, 0) != sizeof mark)
        (void)!ftruncate(fd, 0);
    close(fd);
}

/* ---- going on ------------------------------------------------------------------------------ */

static int lock(const struct gt_compact_writer *w)
{
    int failed;
    do
        failed = flock(w->fd, LOCK_EX);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

/* In the newest part, or, where its last segment is in an earlier one, in all from that on. For a
 * recovery in all: it needs every task. */
static int find_tail(const struct gt_compact_writer *w, struct gt_compact_tail *tail)
{
    const uint32_t part = w->split.part.number;
    bool known = !w->recover && w->segment;
    uint64_t from = known && w->segment_part == part ? w->segment : 0;
    int e = lock(w);
    if (e)
        return e;
    int status = gt_compact_tail_find(w->fd, w->o.path, w->number, from, tail, NULL);
    if (status == 0 && part > 1 && (w->recover || tail->file.n == 0)) {
        gt_compact_tail_clear(tail);
        status = gt_compact_tail_find_in_set(w->o.path, w->number, known ? w->segment_part : 0,
                                             known ? w->segment : 0, tail, NULL);
    }
    flock(w->fd, LOCK_UN);
    return status < 0 ? errno_of(status) : 0;
}

static int open_file(void *self, uint32_t number, bool recover, uint64_t *records)
{
    struct gt_compact_writer *w = self;
    struct gt_compact_tail tail;
    w->number = number;
    w->recover = recover;
    w->before = *records = 0;
    w->fd = gt_compact_split_open(&w->split);
    if (w->fd < 0)
        return errno;
    w->resumes = was_there(w) || recover;
    int e = w->resumes ? find_tail(w, &tail) : 0;
    if (w->resumes && !e) {
        w->before = *records = tail.records;
        gt_compact_tail_clear(&tail);
    }
    return e;
}

static int resume(struct gt_compact_writer *w)
{
    struct gt_compact_tail tail;
    int e = find_tail(w, &tail);
    if (e)
        return e;
    int status = gt_compact_tail_tasks(&tail, gt_compact_tail_resume, w->packer, NULL);
    gt_compact_tail_clear(&tail);
    return status < 0 ? errno_of(status) : 0;
}

static bool is_exact(const struct gt_compact_writer *w)
{
    return !w->o.exact || w->o.exact(w->o.self);
}

static int make_packer(struct gt_compact_writer *w)
{
    const struct gt_compact_packer_options o = {
        .packer = w->number, .exact = is_exact(w), .before = w->before};
    if (gt_compact_packer_create(&o, &w->packer) < 0)
        return ENOMEM;
    return w->resumes ? resume(w) : 0;
}

/* ---- records ------------------------------------------------------------------------------- */

/* The next block is of the newest part: the first one in it begins a segment. 0 or an errno value.
 */
static int open_newest(struct gt_compact_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = gt_compact_split_open(&w->split);
    gt_compact_packer_end_segment(w->packer);
    return w->fd < 0 ? errno : 0;
}

static int begin_block(struct gt_compact_writer *w)
{
    int e = 0;
    gt_compact_packer_set_exact(w->packer, is_exact(w));
    if (gt_compact_limits_split(&w->o.limits))
        while (!e && (w->fd < 0 || !gt_compact_split_enter(&w->split, w->fd)))
            e = open_newest(w);
    if (!e)
        w->most = gt_compact_room_for_block(&w->room, w->fd, w->words + w->packer->words.n);
    return e;
}

static int put(void *self, uint32_t id, const uint64_t *words, size_t n)
{
    struct gt_compact_writer *w = self;
    int e = w->packer ? 0 : make_packer(w);
    if (w->in_block && gt_compact_packer_size(w->packer) >= w->most)
        return EAGAIN;
    if (!e && !w->in_block)
        e = begin_block(w);
    if (e)
        return e;
    int status = gt_compact_packer_put_words(w->packer, id, words, n);
    w->in_block |= status == 0;
    return status < 0 ? errno_of(status) : 0;
}

static void forget(void *self, uint32_t id)
{
    struct gt_compact_writer *w = self;
    if (w->packer)
        gt_compact_packer_forget(w->packer, id);
}

static bool is_full(const void *self)
{
    const struct gt_compact_writer *w = self;
    return gt_compact_packer_is_full(w->packer);
}

/* Ends the packer's block. *words: that its process has recorded, at most. */
static int end_packing(struct gt_compact_writer *w, const uint8_t **block, size_t *size,
                       uint64_t *words)
{
    const uint64_t own = w->packer->words.n;
    int status = gt_compact_packer_end_block(w->packer, block, size);
    *words = w->words + own;
    if (w->packer->words.n < own) /* a new segment */
        w->words += own;
    return status;
}

/* *at: where the block begins in the file. *turned: the file is a part that has ended. */
static int append(struct gt_compact_writer *w, const uint8_t *block, size_t size, uint64_t words,
                  uint64_t *at, bool *turned)
{
    int e = lock(w);
    if (e)
        return e;
    off_t end = lseek(w->fd, 0, SEEK_END);
    *at = end < 0 ? 0 : (uint64_t)end;
    e = gt_compact_room_append(&w->room, w->fd, block, size, words);
    *turned = !e && gt_compact_split_turn(&w->split, w->fd, size);
    flock(w->fd, LOCK_UN);
    return e;
}

/* After a block: others may finish the part. */
static void leave_part(struct gt_compact_writer *w, bool turned)
{
    const uint32_t part = w->split.part.number;
    if (!gt_compact_limits_split(&w->o.limits))
        return;
    gt_compact_split_leave(w->fd);
    if (!turned)
        return;
    open_newest(w); /* else the next block tries again */
    if (w->o.finished)
        w->o.finished(w->o.finished_self, part);
}

static int end_block(void *self, uint64_t *bytes)
{
    struct gt_compact_writer *w = self;
    struct gt_compact_head head;
    const uint8_t *block;
    size_t size;
    uint64_t at, words;
    bool turned = false;
    w->in_block = false;
    if (end_packing(w, &block, &size, &words) < 0)
        return ENOMEM;
    *bytes = size;
    int e = append(w, block, size, words, &at, &turned);
    if (!e && gt_compact_head_read(block, size, &head) == 0 && head.flags & GT_COMPACT_SEGMENT)
        put_mark(w, at);
    leave_part(w, turned);
    return e;
}

const struct gt_stream_packing gt_compact_packing = {.open = open_file,
                                                     .put = put,
                                                     .is_full = is_full,
                                                     .end = end_block,
                                                     .forget = forget,
                                                     .close = close_file,
                                                     .path = path_of};

uint64_t gt_compact_writer_unsplit(const struct gt_compact_writer *w, int *error)
{
    *error = w->split.error;
    return w->split.failed;
}

bool gt_compact_writer_is_removed(const struct gt_compact_writer *w)
{
    return w->removed;
}

/* ---- earlier records ----------------------------------------------------------------------- */

uint64_t gt_compact_writer_last_time(struct gt_compact_writer *w, uint32_t number, uint32_t task)
{
    struct gt_compact_tail tail;
    struct gt_compact_tail_time last = {.task = task};
    uint64_t records;
    if (open_file(w, number, false, &records) == 0 && records > 0 && find_tail(w, &tail) == 0) {
        gt_compact_tail_tasks(&tail, gt_compact_tail_note_time, &last, NULL);
        gt_compact_tail_clear(&tail);
    }
    close_file(w, true);
    return last.time;
}
