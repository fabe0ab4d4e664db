/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer's files: a bounded number is open, the least recently used is closed first; writes go
 * to absolute offsets; the first error is latched, the file cut to whole records, and later records
 * counted. If there are no descriptors left (a guest may use all), only the stream that cannot be
 * opened loses records. See internal.h.
 */
#include "base/array.h"

#include "base/stream/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_OPEN = 256 };

static int sys_open(int dirfd, const char *name, int flags, mode_t mode)
{
    return openat(dirfd, name, flags, mode);
}

struct gt_stream_sys gt_stream_sys = {
    .open = sys_open,
    .pwritev = pwritev,
    .ftruncate = ftruncate,
    .fallocate = fallocate,
    .mmap = mmap,
    .fstatfs = fstatfs,
};

/* Keeps the first error. (L) */
static void note_error(struct gt_streams *set, int errnum, const char *path)
{
    if (set->error)
        return;
    set->error = errnum;
    snprintf(set->error_path, sizeof set->error_path, "%s", path);
}

void gt_streams_latch_path(struct gt_streams *set, int errnum, const char *path)
{
    pthread_mutex_lock(&set->lock);
    note_error(set, errnum, path);
    set->failed = true;
    if (set->ring_head)
        atomic_store_explicit(&set->ring_head->failed, 1, memory_order_release);
    pthread_mutex_unlock(&set->lock);
}

static void path_of(const struct gt_streams *set, const char *name,
                    char out[sizeof set->error_path])
{
    snprintf(out, sizeof set->error_path, "%s%s%s", set->dir, name ? "/" : "", name ? name : "");
}

void gt_streams_latch(struct gt_streams *set, int errnum, const char *name)
{
    char path[sizeof set->error_path];
    path_of(set, name, path);
    gt_streams_latch_path(set, errnum, path);
}

void gt_stream_name(uint32_t id, char name[GT_STREAM_NAME])
{
    snprintf(name, GT_STREAM_NAME, "%u.dat", id);
}

static void latch(struct gt_streams *set, const struct gt_stream_file *f, int errnum)
{
    char name[GT_STREAM_NAME];
    gt_stream_name(f->s.id, name);
    gt_streams_latch(set, errnum, name);
}

static bool is_want_of_descriptors(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE;
}

/* The file cannot be opened: nothing more is written to it, or it would have a hole. */
static void refuse(struct gt_streams *set, struct gt_stream_file *f, int errnum)
{
    if (!is_want_of_descriptors(errnum)) {
        latch(set, f, errnum);
        return;
    }
    char name[GT_STREAM_NAME], path[sizeof set->error_path];
    gt_stream_name(f->s.id, name);
    path_of(set, name, path);
    f->refused = true;
    pthread_mutex_lock(&set->lock);
    note_error(set, errnum, path);
    pthread_mutex_unlock(&set->lock);
    if (set->ring_head)
        atomic_store_explicit(&set->ring_head->partly, 1, memory_order_release);
}

static void unlink_file(struct gt_streams *set, struct gt_stream_file *f)
{
    *(f->newer ? &f->newer->older : &set->newest) = f->older;
    *(f->older ? &f->older->newer : &set->oldest) = f->newer;
    f->newer = f->older = NULL;
}

static void link_newest(struct gt_streams *set, struct gt_stream_file *f)
{
    f->older = set->newest;
    *(set->newest ? &set->newest->newer : &set->oldest) = f;
    set->newest = f;
}

void gt_stream_file_close(struct gt_streams *set, struct gt_stream_file *f)
{
    if (f->fd < 0)
        return;
    unlink_file(set, f);
    set->n_open--;
    close(f->fd);
    f->fd = -1;
}

/* The file to close so that another can be opened; NULL: that would not help. */
static struct gt_stream_file *in_the_way(const struct gt_streams *set, int errnum)
{
    struct rlimit limit;
    struct gt_stream_file *f = set->oldest;
    if (!is_want_of_descriptors(errnum))
        return NULL;
    if (errnum == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        while (f && (rlim_t)f->fd >= limit.rlim_cur)
            f = f->newer;
    return f;
}

/* Makes f->fd usable, with `create` for the first time. 0 or an errno value. */
static int need_fd(struct gt_streams *set, struct gt_stream_file *f, bool create)
{
    if (f->fd >= 0) {
        unlink_file(set, f);
        link_newest(set, f);
        return 0;
    }
    if (set->n_open >= MAX_OPEN)
        gt_stream_file_close(set, set->oldest);
    char name[GT_STREAM_NAME];
    gt_stream_name(f->s.id, name);
    int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (create ? O_CREAT : 0);
    for (;;) {
        f->fd = gt_stream_sys.open(set->dirfd, name, flags, 0666);
        if (f->fd >= 0)
            break;
        int e = errno;
        struct gt_stream_file *other = in_the_way(set, e);
        if (other)
            gt_stream_file_close(set, other);
        else if (e != EINTR)
            return e;
    }
    link_newest(set, f);
    set->n_open++;
    return 0;
}

static void unhash(struct gt_streams *set, struct gt_stream_file *f)
{
    struct gt_stream_file **p = &set->hash[f->s.id % GT_HASH];
    while (*p != f)
        p = &(*p)->hash_next;
    *p = f->hash_next;
}

void gt_stream_file_release(struct gt_streams *set, struct gt_stream_file *f)
{
    if (f->open || f->opening || f->dirty || f->in_batch || f->in_block)
        return;
    unhash(set, f);
    gt_stream_file_close(set, f);
    if (set->backend && set->backend->forget && !set->failed)
        set->backend->forget(set->backend_self, f->s.id);
    free(f);
}

void gt_stream_file_open(struct gt_streams *set, struct gt_stream_file *f)
{
    struct stat st;
    unsigned unit = set->has_more ? sizeof(uint64_t) : GT_STREAM_RECORD;
    int e = set->dirfd == -1 ? 0 : need_fd(set, f, true);
    if (!e && f->fd >= 0) {
        if (fstat(f->fd, &st) != 0)
            e = errno;
        else if (!S_ISREG(st.st_mode))
            e = EINVAL;
        else if (f->is_new) /* its producer goes on meanwhile */
            e = st.st_size ? EEXIST : 0;
        else if (st.st_size % unit &&
                 gt_stream_sys.ftruncate(f->fd, st.st_size - st.st_size % unit) != 0)
            e = errno;
        else
            f->end = (uint64_t)(st.st_size - st.st_size % unit);
    }
    if (e)
        refuse(set, f, e);
}

static void set_done(struct gt_stream_chunk *c, uint32_t done)
{
    c->done = done;
    atomic_store_explicit(&c->head->state.written, done, memory_order_release);
}

void gt_stream_file_lose(struct gt_streams *set, struct gt_stream_file *f, uint64_t records)
{
    set->lost += records;
    if (!f->loss && records) {
        if (!GT_ARRAY_GROW(&set->losses, &set->losses_room, set->n_losses + 1))
            return;
        set->losses[set->n_losses++] = (struct gt_stream_loss){.id = f->s.id};
        f->loss = (uint32_t)set->n_losses;
    }
    if (f->loss)
        set->losses[f->loss - 1].records += records;
}

void gt_stream_chunks_drop(struct gt_streams *set, struct gt_stream_chunk **chunks, unsigned n)
{
    uint64_t lost = 0, torn = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct gt_stream_bounds marks = gt_stream_chunk_bounds(chunks[i]);
        uint32_t end = chunks[i]->end;
        uint32_t whole = gt_stream_bounds_whole(&marks, chunks[i]->done);
        torn += chunks[i]->done - whole;
        lost += gt_stream_bounds_records(&marks, whole, end);
        set_done(chunks[i], end);
    }
    atomic_fetch_sub_explicit(&set->written, torn, memory_order_relaxed);
    atomic_fetch_sub_explicit(&set->bytes, torn, memory_order_relaxed);
    pthread_mutex_lock(&set->lock);
    gt_stream_file_lose(set, chunks[0]->file, lost);
    pthread_mutex_unlock(&set->lock);
}

/* Notes that so many more bytes of the chunks are written. */
static void advance(struct gt_stream_chunk **chunks, unsigned n, size_t bytes)
{
    for (unsigned i = 0; i < n && bytes; i++) {
        size_t left = chunks[i]->end - chunks[i]->done;
        size_t part = bytes < left ? bytes : left;
        set_done(chunks[i], chunks[i]->done + (uint32_t)part);
        bytes -= part;
    }
}

/* One write of what the chunks hold and the file does not. Consecutive chunks of a stream are
 * consecutive in its file. The number of bytes left after it, or a negative errno value. */
static ssize_t write_once(struct gt_streams *set, struct gt_stream_chunk **chunks, unsigned n)
{
    struct iovec iov[2 * GT_IOV];
    int pieces = 0;
    size_t all = 0;
    uint64_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct gt_stream_chunk *c = chunks[i];
        if (c->done == c->end)
            continue;
        if (!pieces)
            at = c->offset + c->done;
        pieces += gt_stream_chunk_pieces(c, iov + pieces);
        all += c->end - c->done;
    }
    if (!pieces)
        return 0;
    ssize_t r = gt_stream_sys.pwritev(chunks[0]->file->fd, iov, pieces, (off_t)at);
    if (r < 0)
        return errno == EINTR ? (ssize_t)all : -errno;
    if (r == 0)
        return -EIO;
    atomic_fetch_add_explicit(&set->written, (uint64_t)r, memory_order_relaxed);
    atomic_fetch_add_explicit(&set->bytes, (uint64_t)r, memory_order_relaxed);
    advance(chunks, n, (size_t)r);
    return (ssize_t)(all - (size_t)r);
}

static void cut(struct gt_stream_chunk **chunks, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct gt_stream_chunk *c = chunks[i];
        if (c->done == c->end)
            continue;
        /* Where this fails too the file keeps part of a record: readers bear a torn tail. */
        const struct gt_stream_bounds marks = gt_stream_chunk_bounds(c);
        off_t whole = (off_t)(c->offset + gt_stream_bounds_whole(&marks, c->done));
        (void)!gt_stream_sys.ftruncate(c->file->fd, whole);
        return;
    }
}

void gt_stream_file_write(struct gt_streams *set, struct gt_stream_chunk **chunks, unsigned n)
{
    struct gt_stream_file *f = chunks[0]->file;
    int e = set->failed || f->refused ? 0 : need_fd(set, f, false);
    if (e)
        refuse(set, f, e);
    while (!set->failed && !f->refused) {
        ssize_t left = write_once(set, chunks, n);
        if (left == 0)
            return;
        if (left < 0) {
            latch(set, f, (int)-left);
            cut(chunks, n);
        }
    }
    gt_stream_chunks_drop(set, chunks, n);
}

static uint32_t at_of(const struct gt_stream_bounds *m, uint32_t i)
{
    return (uint32_t)m->end[-1 - (int64_t)i];
}

static uint32_t more_of(const struct gt_stream_bounds *m, uint32_t i)
{
    return (uint32_t)(m->end[-1 - (int64_t)i] >> 32);
}

/* How many marks are of records that begin before `at`. */
static uint32_t marks_before(const struct gt_stream_bounds *m, uint32_t at)
{
    uint32_t low = 0, high = m->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at_of(m, middle) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t gt_stream_bounds_records(const struct gt_stream_bounds *m, uint32_t from, uint32_t to)
{
    uint32_t bytes = to - from;
    for (uint32_t i = marks_before(m, from); i < m->n && at_of(m, i) < to; i++)
        bytes -= more_of(m, i);
    return bytes / GT_STREAM_RECORD;
}

uint32_t gt_stream_bounds_whole(const struct gt_stream_bounds *m, uint32_t at)
{
    uint32_t i = marks_before(m, at);
    if (!i)
        return at - at % GT_STREAM_RECORD;
    uint32_t begin = at_of(m, i - 1), end = begin + GT_STREAM_RECORD + more_of(m, i - 1);
    return at < end ? begin : at - (at - end) % GT_STREAM_RECORD;
}

uint32_t gt_stream_bounds_skip(const struct gt_stream_bounds *m, uint32_t from, uint32_t n)
{
    uint32_t i = marks_before(m, from);
    for (; n; n--) {
        bool marked = i < m->n && at_of(m, i) == from;
        from += GT_STREAM_RECORD + (marked ? more_of(m, i) : 0);
        i += marked;
    }
    return from;
}

bool gt_stream_bounds_check(struct gt_stream_bounds *m, uint32_t end)
{
    uint32_t at = 0, i = 0;
    for (; i < m->n && at_of(m, i) < end; i++) {
        uint32_t begin = at_of(m, i), more = more_of(m, i);
        if (begin < at || (begin - at) % GT_STREAM_RECORD || !more || more % sizeof(uint64_t) ||
            more > GT_STREAM_MORE_MOST)
            return false;
        at = begin + GT_STREAM_RECORD + more;
    }
    m->n = i;
    return at <= end && (end - at) % GT_STREAM_RECORD == 0;
}
