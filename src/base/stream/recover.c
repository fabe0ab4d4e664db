/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recovery after a kill: copies the records in pool files to the streams' files. See internal.h for
 * the layout. A pool file may be damaged: it is read, never mapped; all of it is checked before the
 * first byte is written; records are added only to existing files, and without holes.
 */
#include "base/stream/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A chunk with something to copy. */
struct rest {
    uint64_t offset;                       /* in the stream's file, of the first record */
    uint64_t at;                           /* of the chunk in the pool file */
    uint32_t id, written, base, full, end; /* of the run: see internal.h */
};

struct ring {
    int dirfd, fd;
    const char *dir, *name;
    struct gt_error *err;
    struct rest *rests;
    size_t n, room;
    bool partly; /* chunks may be missing */
};

static int lies(const struct ring *r, uint64_t at, const char *what, uint64_t value)
{
    return gt_error_set(r->err, GT_E_FORMAT, "%s/%s: offset %llu: %s: %llu", r->dir, r->name,
                        (unsigned long long)at, what, (unsigned long long)value);
}

static int io_error(const struct ring *r, int errnum)
{
    return gt_error_errno(r->err, errnum, "%s/%s", r->dir, r->name);
}

/* n bytes at `at`. 0, or GT_E_IO, GT_E_FORMAT (the file has become shorter). */
static int read_at(const struct ring *r, void *data, size_t n, uint64_t at)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(r->fd, (char *)data + have, n - have, (off_t)(at + have));
        if (got < 0 && errno != EINTR)
            return io_error(r, errno);
        if (got == 0)
            return lies(r, at, "the file ends before", at + n);
        if (got > 0)
            have += (size_t)got;
    }
    return 0;
}

static int add_rest(struct ring *r, const struct rest *rest)
{
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct rest *rests = realloc(r->rests, room * sizeof *rests);
        if (!rests)
            return gt_error_set(r->err, GT_E_NOMEM, "%s/%s: out of memory", r->dir, r->name);
        r->rests = rests;
        r->room = room;
    }
    r->rests[r->n++] = *rest;
    return 0;
}

static int read_chunk(struct ring *r, uint64_t at)
{
    struct gt_ring_chunk h;
    int status = read_at(r, &h, sizeof h, at);
    if (status < 0)
        return status;
    if (h.state.fill > GT_STREAM_LINE || h.state.fill % GT_STREAM_RECORD)
        return lies(r, at, "a fill that no line has", h.state.fill);
    if (h.state.full > GT_BODY || h.state.full % GT_STREAM_LINE)
        return lies(r, at, "a body that no chunk has", h.state.full);
    if (h.state.base > h.state.full || h.state.base % GT_STREAM_LINE)
        return lies(r, at, "a line outside the chunk", h.state.base);
    if (h.state.written > GT_CHUNK_ROOM)
        return lies(r, at, "more written than a chunk holds", h.state.written);
    uint32_t end = h.state.fill && h.state.base + h.state.fill > h.state.full
                       ? h.state.base + h.state.fill
                       : h.state.full;
    if (end <= h.state.written)
        return 0;
    if (h.magic != GT_CHUNK_MAGIC)
        return lies(r, at, "not a chunk's magic number", h.magic);
    if (h.offset % GT_STREAM_RECORD || h.offset > (uint64_t)INT64_MAX - GT_CHUNK_SIZE)
        return lies(r, at, "a file offset that no record has", h.offset);
    return add_rest(r, &(struct rest){.offset = h.offset,
                                      .at = at,
                                      .id = h.id,
                                      .written = h.state.written,
                                      .base = h.state.base,
                                      .full = h.state.full,
                                      .end = end});
}

static int compare(const void *a, const void *b)
{
    const struct rest *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Opens a stream's file; *size is its size. The descriptor, or GT_E_IO, GT_E_FORMAT. */
static int open_stream(const struct ring *r, const struct rest *rest, uint64_t *size)
{
    char name[GT_STREAM_NAME];
    gt_stream_name(rest->id, name);
    struct stat st;
    int fd = openat(r->dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return lies(r, rest->at, "records of a stream that has no file", rest->id);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return fd;
    }
    int e = fd < 0 ? errno : EINVAL;
    if (fd >= 0)
        close(fd);
    return gt_error_errno(r->err, e, "%s/%s", r->dir, name);
}

static bool has_file(const struct ring *r, const struct rest *rest)
{
    char name[GT_STREAM_NAME];
    struct stat st;
    gt_stream_name(rest->id, name);
    return fstatat(r->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Where the rest's file ends; 1: there is none, as may be. GT_E_IO, GT_E_FORMAT. */
static int find_end(const struct ring *r, const struct rest *rest, uint64_t *end)
{
    if (r->partly && !has_file(r, rest))
        return 1;
    int fd = open_stream(r, rest, end);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* The rests in their files' order must follow what is in the files, without holes; where chunks may
 * be missing, those before the first hole are copied, and none of a stream without a file. */
static int check_order(struct ring *r)
{
    uint64_t end = 0;
    int missing = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct rest *rest = &r->rests[i];
        if (i == 0 || rest->id != rest[-1].id)
            missing = find_end(r, rest, &end);
        if (missing < 0)
            return missing;
        bool hole = missing || rest->offset + rest->written > end;
        if (hole && r->partly)
            rest->written = rest->end = 0;
        else if (hole)
            return lies(r, rest->at, "a file offset beyond the stream's end", rest->offset);
        else if (end < rest->offset + rest->end)
            end = rest->offset + rest->end;
    }
    return 0;
}

static int write_at(const struct ring *r, int fd, const char *data, size_t n, uint64_t at)
{
    while (n) {
        ssize_t put = pwrite(fd, data, n, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int e = put < 0 ? errno : EIO;
            (void)!ftruncate(fd, (off_t)(at - at % GT_STREAM_RECORD));
            return io_error(r, e);
        }
        data += put;
        n -= (size_t)put;
        at += (uint64_t)put;
    }
    return 0;
}

/* Reads the run from `from` on: the body's part, then what only the line has. */
static int read_run(const struct ring *r, const struct rest *rest, uint32_t from, char *data)
{
    int status = 0;
    uint32_t split = from > rest->full ? from : rest->full;
    if (split > rest->end)
        split = rest->end;
    if (from < split)
        status = read_at(r, data, split - from, rest->at + GT_BODY_AT + from);
    if (status >= 0 && split < rest->end)
        status = read_at(r, data + (split - from), rest->end - split,
                         rest->at + GT_CHUNK_HEAD + (split - rest->base));
    return status;
}

/* Copies every rest. The number of records, or an error. */
static int64_t copy_rests(const struct ring *r)
{
    char data[GT_CHUNK_ROOM];
    int64_t records = 0;
    int status = 0, fd = -1;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        const struct rest *rest = &r->rests[i];
        uint32_t from = rest->written - rest->written % GT_STREAM_RECORD;
        uint32_t n = rest->end - from;
        uint64_t size;
        if (!rest->end)
            continue;
        if (i == 0 || rest->id != rest[-1].id) {
            if (fd >= 0)
                close(fd);
            status = fd = open_stream(r, rest, &size);
        }
        if (status >= 0)
            status = read_run(r, rest, from, data);
        if (status >= 0)
            status = write_at(r, fd, data, n, rest->offset + from);
        records += n / GT_STREAM_RECORD;
    }
    if (fd >= 0)
        close(fd);
    return status < 0 ? status : records;
}

/* The chunks of a pool file of `size` bytes. The number of records copied, or an error. */
static int64_t read_ring(struct ring *r, uint64_t size)
{
    struct gt_ring_head head;
    if (size < sizeof head)
        return size == 0 ? 0 : lies(r, 0, "a size that no pool file has", size);
    int status = read_at(r, &head, sizeof head, 0);
    if (status < 0)
        return status;
    if (head.magic == 0) /* killed before there was a chunk */
        return 0;
    if (head.magic != GT_RING_MAGIC)
        return lies(r, 0, "not a pool file's magic number", head.magic);
    if (head.chunk_size != GT_CHUNK_SIZE)
        return lies(r, offsetof(struct gt_ring_head, chunk_size), "an unknown chunk size",
                    head.chunk_size);
    if (head.failed)
        return 0;
    r->partly = head.partly;
    uint64_t slots = size / GT_CHUNK_SIZE;
    if (slots > GT_RING_MAX_SLOTS)
        return lies(r, 0, "a size that no pool file has", size);
    for (uint64_t i = 1; i < slots && status >= 0; i++)
        status = read_chunk(r, i * GT_CHUNK_SIZE);
    if (status < 0)
        return status;
    if (r->n)
        qsort(r->rests, r->n, sizeof *r->rests, compare);
    status = check_order(r);
    return status < 0 ? status : copy_rests(r);
}

/* One pool file: 0 where a living process has it or another recovery was first. */
static int64_t recover_one(struct ring *r)
{
    struct stat st;
    int64_t n = 0;
    r->fd = openat(r->dirfd, r->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0)
        return errno == ENOENT ? 0 : io_error(r, errno);
    if (flock(r->fd, LOCK_EX | LOCK_NB) != 0) {
        n = errno == EWOULDBLOCK ? 0 : io_error(r, errno);
    } else if (fstat(r->fd, &st) != 0) {
        n = io_error(r, errno);
    } else if (!S_ISREG(st.st_mode)) {
        n = lies(r, 0, "not a regular file, mode", st.st_mode);
    } else if (st.st_nlink > 0) {
        n = read_ring(r, (uint64_t)st.st_size);
        if (n >= 0 && unlinkat(r->dirfd, r->name, 0) != 0 && errno != ENOENT)
            n = io_error(r, errno);
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

int64_t gt_streams_recover_at(int dirfd, const char *dir, struct gt_error *err)
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
        struct ring r = {.dirfd = dirfd, .dir = dir, .name = e->d_name, .err = failed ? NULL : err};
        int64_t n = recover_one(&r);
        if (n >= 0)
            records += n;
        else if (!failed)
            failed = n;
    }
    closedir(d);
    return failed ? failed : records;
}

int64_t gt_streams_recover(const char *dir, struct gt_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", dir);
    int64_t n = gt_streams_recover_at(fd, dir, err);
    close(fd);
    return n;
}
