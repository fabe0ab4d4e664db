/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recovery after a kill: copies the records in pool files to where they belong. See internal.h for
 * the layout. A pool file may be damaged: it is read, never mapped; all of it is checked before the
 * first byte is written; records are added without holes.
 */
#include "base/stream/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int gt_ring_lies(const struct gt_ring *r, uint64_t at, const char *what, uint64_t value)
{
    return gt_error_set(r->err, GT_E_FORMAT, "%s/%s: offset %llu: %s: %llu", r->dir, r->name,
                        (unsigned long long)at, what, (unsigned long long)value);
}

int gt_ring_io_error(const struct gt_ring *r, int errnum)
{
    return gt_error_errno(r->err, errnum, "%s/%s", r->dir, r->name);
}

/* n bytes at `at`. 0, or GT_E_IO, GT_E_FORMAT (the file has become shorter). */
static int read_at(const struct gt_ring *r, void *data, size_t n, uint64_t at)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(r->fd, (char *)data + have, n - have, (off_t)(at + have));
        if (got < 0 && errno != EINTR)
            return gt_ring_io_error(r, errno);
        if (got == 0)
            return gt_ring_lies(r, at, "the file ends before", at + n);
        if (got > 0)
            have += (size_t)got;
    }
    return 0;
}

static int add_rest(struct gt_ring *r, const struct gt_rest *rest)
{
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct gt_rest *rests = realloc(r->rests, room * sizeof *rests);
        if (!rests)
            return gt_error_set(r->err, GT_E_NOMEM, "%s/%s: out of memory", r->dir, r->name);
        r->rests = rests;
        r->room = room;
    }
    r->rests[r->n++] = *rest;
    return 0;
}

static int read_chunk(struct gt_ring *r, uint64_t at)
{
    struct gt_ring_chunk h;
    int status = read_at(r, &h, sizeof h, at);
    if (status < 0)
        return status;
    if (h.state.fill > GT_STREAM_LINE || h.state.fill % GT_STREAM_RECORD)
        return gt_ring_lies(r, at, "a fill that no line has", h.state.fill);
    if (h.state.full > GT_BODY || h.state.full % GT_STREAM_LINE)
        return gt_ring_lies(r, at, "a body that no chunk has", h.state.full);
    if (h.state.base > h.state.full || h.state.base % GT_STREAM_LINE)
        return gt_ring_lies(r, at, "a line outside the chunk", h.state.base);
    uint32_t written = r->by_packed ? h.packed : h.state.written;
    if (written > GT_CHUNK_ROOM || (r->backend && written % GT_STREAM_RECORD))
        return gt_ring_lies(r, at, "more written than a chunk holds", written);
    uint32_t end = h.state.fill && h.state.base + h.state.fill > h.state.full
                       ? h.state.base + h.state.fill
                       : h.state.full;
    if (end <= written)
        return 0;
    if (h.magic != GT_CHUNK_MAGIC)
        return gt_ring_lies(r, at, "not a chunk's magic number", h.magic);
    if (h.offset % GT_STREAM_RECORD || h.offset > (uint64_t)INT64_MAX - GT_CHUNK_SIZE)
        return gt_ring_lies(r, at, "a file offset that no record has", h.offset);
    return add_rest(r, &(struct gt_rest){.offset = h.offset,
                                         .at = at,
                                         .id = h.id,
                                         .written = written,
                                         .base = h.state.base,
                                         .full = h.state.full,
                                         .end = end});
}

int gt_ring_read_run(const struct gt_ring *r, const struct gt_rest *rest, uint32_t from,
                     uint32_t to, void *data)
{
    int status = 0;
    uint32_t split = from > rest->full ? from : rest->full; /* what follows is in the line only */
    if (split > to)
        split = to;
    if (from < split)
        status = read_at(r, data, split - from, rest->at + GT_BODY_AT + from);
    if (status >= 0 && split < to)
        status = read_at(r, (char *)data + (split - from), to - split,
                         rest->at + GT_CHUNK_HEAD + (split - rest->base));
    return status;
}

int gt_rest_compare(const void *a, const void *b)
{
    const struct gt_rest *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The chunks of a pool file of `size` bytes. The number of records copied, or an error. */
static int64_t read_ring(struct gt_ring *r, uint64_t size)
{
    struct gt_ring_head head;
    if (size < sizeof head)
        return size == 0 ? 0 : gt_ring_lies(r, 0, "a size that no pool file has", size);
    int status = read_at(r, &head, sizeof head, 0);
    if (status < 0)
        return status;
    if (head.magic == 0) /* killed before there was a chunk */
        return 0;
    if (head.magic != GT_RING_MAGIC)
        return gt_ring_lies(r, 0, "not a pool file's magic number", head.magic);
    if (head.chunk_size != GT_CHUNK_SIZE)
        return gt_ring_lies(r, offsetof(struct gt_ring_head, chunk_size), "an unknown chunk size",
                            head.chunk_size);
    if (!head.number != !r->backend)
        return gt_ring_lies(r, offsetof(struct gt_ring_head, number),
                            "not the pool of such a recording", head.number);
    if (head.failed)
        return 0;
    r->partly = head.partly;
    uint64_t slots = size / GT_CHUNK_SIZE;
    if (slots > GT_RING_MAX_SLOTS)
        return gt_ring_lies(r, 0, "a size that no pool file has", size);
    if (r->backend)
        status = gt_ring_open_backend(r, &head);
    for (uint64_t i = 1; i < slots && status >= 0; i++)
        status = read_chunk(r, i * GT_CHUNK_SIZE);
    if (status < 0)
        return status;
    if (r->n)
        qsort(r->rests, r->n, sizeof *r->rests, gt_rest_compare);
    return r->backend ? gt_ring_to_blocks(r) : gt_ring_to_files(r);
}

/* One pool file: 0 where a living process has it or another recovery was first. */
static int64_t recover_one(struct gt_ring *r)
{
    struct stat st;
    int64_t n = 0;
    r->fd = openat(r->dirfd, r->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0)
        return errno == ENOENT ? 0 : gt_ring_io_error(r, errno);
    if (flock(r->fd, LOCK_EX | LOCK_NB) != 0) {
        n = errno == EWOULDBLOCK ? 0 : gt_ring_io_error(r, errno);
    } else if (fstat(r->fd, &st) != 0) {
        n = gt_ring_io_error(r, errno);
    } else if (!S_ISREG(st.st_mode)) {
        n = gt_ring_lies(r, 0, "not a regular file, mode", st.st_mode);
    } else if (st.st_nlink > 0) {
        n = read_ring(r, (uint64_t)st.st_size);
        if (r->backend)
            r->backend->close(r->self, true);
        if (n >= 0 && unlinkat(r->dirfd, r->name, 0) != 0 && errno != ENOENT)
            n = gt_ring_io_error(r, errno);
    }
    close(r->fd);
    free(r->rests);
    return n;
}

/* ".guesttrace-PID.ring" or ".guesttrace-PID-N.ring" */
static bool is_ring_name(const char *name)
{
    static const char prefix[] = ".guesttrace-", digits[] = "0123456789";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    name += sizeof prefix - 1;
    size_t n = strspn(name, digits);
    name += n;
    if (n && *name == '-') {
        n = strspn(++name, digits);
        name += n;
    }
    return n && strcmp(name, ".ring") == 0;
}

int64_t gt_streams_recover_at(int dirfd, const char *dir, const struct gt_stream_packing *backend,
                              void *self, struct gt_error *err)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        return gt_error_errno(err, e, "%s", dir);
    }
    int64_t records = 0, failed = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (!is_ring_name(e->d_name))
            continue;
        struct gt_ring r = {.dirfd = dirfd,
                            .dir = dir,
                            .name = e->d_name,
                            .backend = backend,
                            .self = self,
                            .err = failed ? NULL : err};
        int64_t n = recover_one(&r);
        if (n >= 0)
            records += n;
        else if (!failed)
            failed = n;
    }
    closedir(d);
    return failed ? failed : records;
}

int64_t gt_streams_recover_packed(const char *dir, const struct gt_stream_packing *backend,
                                  void *self, struct gt_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", dir);
    int64_t n = gt_streams_recover_at(fd, dir, backend, self, err);
    close(fd);
    return n;
}

int64_t gt_streams_recover(const char *dir, struct gt_error *err)
{
    return gt_streams_recover_packed(dir, NULL, NULL, err);
}
