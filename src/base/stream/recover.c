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

/* The chunks of a pool file of `size` bytes. The number of records copied, or an error. */
static int64_t read_ring(struct gt_stream_ring *r, uint64_t size)
{
    struct gt_stream_ring_head head;
    if (size < sizeof head)
        return size == 0 ? 0 : gt_stream_ring_lies(r, 0, "a size that no pool file has", size);
    int status = gt_stream_ring_read_at(r, &head, sizeof head, 0);
    if (status < 0)
        return status;
    if (head.magic == 0) /* killed before there was a chunk */
        return 0;
    if (head.magic != GT_RING_MAGIC)
        return gt_stream_ring_lies(r, 0, "not a pool file's magic number", head.magic);
    if (head.chunk_size != GT_CHUNK_SIZE)
        return gt_stream_ring_lies(r, offsetof(struct gt_stream_ring_head, chunk_size),
                                   "an unknown chunk size", head.chunk_size);
    if (!head.number != !r->backend)
        return gt_stream_ring_lies(r, offsetof(struct gt_stream_ring_head, number),
                                   "not the pool of such a recording", head.number);
    if (head.failed)
        return 0;
    r->partly = head.partly;
    uint64_t slots = size / GT_CHUNK_SIZE;
    if (slots > GT_RING_MAX_SLOTS)
        return gt_stream_ring_lies(r, 0, "a size that no pool file has", size);
    if (r->backend)
        status = gt_stream_ring_open_backend(r, &head);
    for (uint64_t i = 1; i < slots && status >= 0; i++)
        status = gt_stream_ring_read_chunk(r, i * GT_CHUNK_SIZE);
    if (status < 0)
        return status;
    if (r->n)
        qsort(r->rests, r->n, sizeof *r->rests, gt_stream_rest_compare);
    return r->backend ? gt_stream_ring_to_blocks(r) : gt_stream_ring_to_files(r);
}

/* One pool file: 0 where a living process has it or another recovery was first. */
static int64_t recover_one(struct gt_stream_ring *r)
{
    struct stat st;
    int64_t n = 0;
    r->fd = openat(r->dirfd, r->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0)
        return errno == ENOENT ? 0 : gt_stream_ring_io_error(r, errno);
    if (flock(r->fd, LOCK_EX | LOCK_NB) != 0) {
        n = errno == EWOULDBLOCK ? 0 : gt_stream_ring_io_error(r, errno);
    } else if (fstat(r->fd, &st) != 0) {
        n = gt_stream_ring_io_error(r, errno);
    } else if (!S_ISREG(st.st_mode)) {
        n = gt_stream_ring_lies(r, 0, "not a regular file, mode", st.st_mode);
    } else if (st.st_nlink > 0) {
        n = read_ring(r, (uint64_t)st.st_size);
        if (r->backend)
            r->backend->close(r->self, true);
        if (n >= 0 && unlinkat(r->dirfd, r->name, 0) != 0 && errno != ENOENT)
            n = gt_stream_ring_io_error(r, errno);
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
                              void *self, struct gt_streams_missing *missing, struct gt_error *err)
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
        struct gt_stream_ring r = {.dirfd = dirfd,
                                   .dir = dir,
                                   .name = e->d_name,
                                   .backend = backend,
                                   .self = self,
                                   .err = failed ? NULL : err};
        int64_t n = recover_one(&r);
        if (n >= 0 && missing) {
            missing->pools += r.partly;
            missing->records += r.left;
        }
        if (n >= 0)
            records += n;
        else if (!failed)
            failed = n;
    }
    closedir(d);
    return failed ? failed : records;
}

int64_t gt_streams_recover_packed(const char *dir, const struct gt_stream_packing *backend,
                                  void *self, struct gt_streams_missing *missing,
                                  struct gt_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", dir);
    int64_t n = gt_streams_recover_at(fd, dir, backend, self, missing, err);
    close(fd);
    return n;
}

int64_t gt_streams_recover(const char *dir, struct gt_error *err)
{
    return gt_streams_recover_packed(dir, NULL, NULL, NULL, err);
}

/*
 * Recovery to a backend's file: see recover.h, and internal.h for the two counts. The copied
 * records are the same, in the same order, each time: so a recovery that was itself killed is taken
 * up again where the file says that it ended.
 */

enum { BLOCK_MOST = 1 << 20 }; /* records */

static int backend_error(const struct gt_stream_ring *r, int errnum)
{
    return gt_error_errno(r->err, errnum, "%s", r->backend->path(r->self));
}

/* The block that was being added is not there. What follows it in the file from now on is copied
 * from the pool, and not the block. */
static int give_up_block(const struct gt_stream_ring *r, uint64_t filed)
{
    ssize_t n = pwrite(r->fd, &filed, sizeof filed, offsetof(struct gt_stream_ring_head, filing));
    return n == sizeof filed ? 0 : gt_stream_ring_io_error(r, n < 0 ? errno : EIO);
}

int gt_stream_ring_open_backend(struct gt_stream_ring *r, const struct gt_stream_ring_head *head)
{
    uint64_t filed = head->filed, filing = head->filing, there;
    int e = r->backend->open(r->self, head->number, true, &there);
    if (e)
        return backend_error(r, e);
    if (filing < filed || there < filed)
        return gt_stream_ring_lies(r, offsetof(struct gt_stream_ring_head, filed),
                                   "more records in the file than it has", filed);
    /* With equal counts `packed` may already be of a block that was not begun to be added. */
    r->by_packed = filing > filed && there >= filing;
    r->skip = there - (r->by_packed ? filing : filed);
    return r->by_packed || filing == filed ? 0 : give_up_block(r, filed);
}

/* ---- order --------------------------------------------------------------------------------- */

/* Whether all records of the stream before the rest are in the file or in `before`, the rest before
 * it. If chunks may be missing, one that has none in the file is not trusted. */
static bool follows(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                    const struct gt_stream_rest *before)
{
    if (before)
        return rest->written == 0 && rest->offset == before->offset + before->end;
    return !r->partly || rest->written > 0 || rest->offset == 0;
}

/* Nothing comes after a hole: those rests are made empty. */
static int check_streams(struct gt_stream_ring *r)
{
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_stream_bounds marks;
    bool hole = false;
    for (size_t i = 0; i < r->n; i++) {
        struct gt_stream_rest *rest = &r->rests[i];
        bool first = i == 0 || rest->id != rest[-1].id;
        hole = (!first && hole) || !follows(r, rest, first ? NULL : &rest[-1]);
        if (hole && !r->partly)
            return gt_stream_ring_lies(r, rest->at, "a stream with a hole before record",
                                       rest->offset / GT_STREAM_RECORD);
        if (hole) {
            int status = gt_stream_ring_read_bounds(r, rest, words, &marks);
            if (status < 0)
                return status;
            r->left += gt_stream_bounds_records(&marks, rest->written, rest->end);
            rest->written = rest->end;
        }
    }
    return 0;
}

/* The records of one stream stay in order, whatever times they have. */
static int read_times(struct gt_stream_ring *r)
{
    int status = 0;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        struct gt_stream_rest *rest = &r->rests[i];
        uint64_t record[2] = {0};
        if (rest->written < rest->end)
            status = gt_stream_ring_read_run(r, rest, rest->written,
                                             rest->written + GT_STREAM_RECORD, record);
        rest->time = record[0];
        if (i > 0 && rest->id == rest[-1].id && rest->time < rest[-1].time)
            rest->time = rest[-1].time;
    }
    return status;
}

static int compare_times(const void *a, const void *b)
{
    const struct gt_stream_rest *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return gt_stream_rest_compare(a, b);
}

/* ---- copying ------------------------------------------------------------------------------- */

static int end_block(const struct gt_stream_ring *r)
{
    uint64_t bytes;
    int e = r->backend->end(r->self, &bytes);
    return e ? backend_error(r, e) : 0;
}

static int put_rest(struct gt_stream_ring *r, const struct gt_stream_rest *rest, uint64_t *put)
{
    uint64_t words[GT_CHUNK_ROOM / sizeof(uint64_t)], marked[GT_BOUNDS_MOST];
    struct gt_stream_bounds marks;
    int status = gt_stream_ring_read_bounds(r, rest, marked, &marks);
    if (status < 0)
        return status;
    uint32_t n = gt_stream_bounds_records(&marks, rest->written, rest->end);
    uint32_t skip = n < r->skip ? n : (uint32_t)r->skip;
    uint32_t from = gt_stream_bounds_skip(&marks, rest->written, skip);
    r->skip -= skip;
    n -= skip;
    if (!n)
        return 0;
    status = gt_stream_ring_read_run(r, rest, from, rest->end, words);
    size_t n_words = (rest->end - from) / sizeof *words;
    int e = status < 0 ? 0 : r->backend->put(r->self, rest->id, words, n_words);
    if (e == EAGAIN && (status = end_block(r)) >= 0)
        e = r->backend->put(r->self, rest->id, words, n_words);
    *put += n;
    return status < 0 ? status : e ? backend_error(r, e) : 0;
}

static int64_t put_rests(struct gt_stream_ring *r)
{
    uint64_t records = 0, ended = 0;
    int status = 0;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        status = put_rest(r, &r->rests[i], &records);
        uint64_t n = records - ended;
        if (status >= 0 && n > 0 && (n >= BLOCK_MOST || r->backend->is_full(r->self))) {
            status = end_block(r);
            ended = records;
        }
    }
    if (status >= 0 && records > ended)
        status = end_block(r);
    return status < 0 ? status : (int64_t)records;
}

int64_t gt_stream_ring_to_blocks(struct gt_stream_ring *r)
{
    int status = check_streams(r);
    if (status >= 0)
        status = read_times(r);
    if (status < 0)
        return status;
    if (r->n)
        qsort(r->rests, r->n, sizeof *r->rests, compare_times);
    return put_rests(r);
}

/* Recovery to TID.dat files. A file that is missing is made where its first records are there: the
 * writer may have been killed before it made it. See recover.h. */

/* Nothing of the stream is in its file. */
static bool begins_file(const struct gt_stream_rest *rest)
{
    return rest->offset == 0 && rest->written == 0;
}

/* Opens a stream's file, for the first of its rests; *size is its size. The descriptor, or GT_E_IO,
 * GT_E_FORMAT. */
static int open_stream(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                       uint64_t *size)
{
    char name[GT_STREAM_NAME];
    gt_stream_name(rest->id, name);
    struct stat st;
    const int make = begins_file(rest) ? O_CREAT : 0;
    int fd = openat(r->dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | make, 0666);
    if (fd < 0 && errno == ENOENT)
        return gt_stream_ring_lies(r, rest->at, "records of a stream that has no file", rest->id);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return fd;
    }
    int e = fd < 0 ? errno : EINVAL;
    if (fd >= 0)
        close(fd);
    return gt_error_errno(r->err, e, "%s/%s", r->dir, name);
}

static bool has_file(const struct gt_stream_ring *r, const struct gt_stream_rest *rest)
{
    char name[GT_STREAM_NAME];
    struct stat st;
    gt_stream_name(rest->id, name);
    return fstatat(r->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Where the rest's file ends; 1: there is none, as may be. GT_E_IO, GT_E_FORMAT. */
static int find_end(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                    uint64_t *end)
{
    if (!has_file(r, rest)) {
        *end = 0;
        if (begins_file(rest))
            return 0;
        if (r->partly)
            return 1;
    }
    int fd = open_stream(r, rest, end);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* The rests in their files' order must follow the records in the files, without holes; where chunks
 * may be missing, those before the first hole are copied, and none of a stream without a file. */
static int check_order(struct gt_stream_ring *r)
{
    uint64_t end = 0;
    int missing = 0;
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_stream_bounds marks;
    for (size_t i = 0; i < r->n; i++) {
        struct gt_stream_rest *rest = &r->rests[i];
        if (i == 0 || rest->id != rest[-1].id)
            missing = find_end(r, rest, &end);
        if (missing < 0)
            return missing;
        bool hole = missing || rest->offset + rest->written > end;
        if (hole && r->partly) {
            int status = gt_stream_ring_read_bounds(r, rest, words, &marks);
            if (status < 0)
                return status;
            r->left += gt_stream_bounds_records(
                &marks, gt_stream_bounds_whole(&marks, rest->written), rest->end);
            rest->written = rest->end = 0;
        } else if (hole)
            return gt_stream_ring_lies(r, rest->at, "a file offset beyond the stream's end",
                                       rest->offset);
        else if (end < rest->offset + rest->end)
            end = rest->offset + rest->end;
    }
    return 0;
}

/* Writes the run from `from` on; where that fails, the file ends with a whole record. */
static int write_run(const struct gt_stream_ring *r, int fd, const struct gt_stream_rest *rest,
                     const struct gt_stream_bounds *marks, uint32_t from, const char *data)
{
    for (uint32_t at = from; at < rest->end;) {
        ssize_t put = pwrite(fd, data, rest->end - at, (off_t)(rest->offset + at));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int e = put < 0 ? errno : EIO;
            (void)!ftruncate(fd, (off_t)(rest->offset + gt_stream_bounds_whole(marks, at)));
            return gt_stream_ring_io_error(r, e);
        }
        data += put;
        at += (uint32_t)put;
    }
    return 0;
}

/* Copies a rest. The number of records, or an error. */
static int64_t copy_rest(const struct gt_stream_ring *r, int fd, const struct gt_stream_rest *rest)
{
    char data[GT_CHUNK_ROOM];
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_stream_bounds marks;
    int status = gt_stream_ring_read_bounds(r, rest, words, &marks);
    if (status < 0)
        return status;
    uint32_t from = gt_stream_bounds_whole(&marks, rest->written);
    status = gt_stream_ring_read_run(r, rest, from, rest->end, data);
    if (status >= 0)
        status = write_run(r, fd, rest, &marks, from, data);
    return status < 0 ? status : (int64_t)gt_stream_bounds_records(&marks, from, rest->end);
}

/* Copies every rest. The number of records, or an error. */
static int64_t copy_rests(const struct gt_stream_ring *r)
{
    int64_t records = 0, status = 0;
    int fd = -1;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        const struct gt_stream_rest *rest = &r->rests[i];
        uint64_t size;
        if (!rest->end)
            continue;
        if (i == 0 || rest->id != rest[-1].id) {
            if (fd >= 0)
                close(fd);
            status = fd = open_stream(r, rest, &size);
        }
        if (status >= 0)
            status = copy_rest(r, fd, rest);
        if (status >= 0)
            records += status;
    }
    if (fd >= 0)
        close(fd);
    return status < 0 ? status : records;
}

int64_t gt_stream_ring_to_files(struct gt_stream_ring *r)
{
    int status = check_order(r);
    return status < 0 ? status : copy_rests(r);
}
