/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recovery to TID.dat files. A file that is missing is made where its first records are there: the
 * writer may have been killed before it made it. See recover.h. */
#include "base/stream/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Nothing of the stream is in its file. */
static bool begins_file(const struct gt_rest *rest)
{
    return rest->offset == 0 && rest->written == 0;
}

/* Opens a stream's file, for the first of its rests; *size is its size. The descriptor, or GT_E_IO,
 * GT_E_FORMAT. */
static int open_stream(const struct gt_ring *r, const struct gt_rest *rest, uint64_t *size)
{
    char name[GT_STREAM_NAME];
    gt_stream_name(rest->id, name);
    struct stat st;
    const int make = begins_file(rest) ? O_CREAT : 0;
    int fd = openat(r->dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | make, 0666);
    if (fd < 0 && errno == ENOENT)
        return gt_ring_lies(r, rest->at, "records of a stream that has no file", rest->id);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return fd;
    }
    int e = fd < 0 ? errno : EINVAL;
    if (fd >= 0)
        close(fd);
    return gt_error_errno(r->err, e, "%s/%s", r->dir, name);
}

static bool has_file(const struct gt_ring *r, const struct gt_rest *rest)
{
    char name[GT_STREAM_NAME];
    struct stat st;
    gt_stream_name(rest->id, name);
    return fstatat(r->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Where the rest's file ends; 1: there is none, as may be. GT_E_IO, GT_E_FORMAT. */
static int find_end(const struct gt_ring *r, const struct gt_rest *rest, uint64_t *end)
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

/* The rests in their files' order must follow what is in the files, without holes; where chunks may
 * be missing, those before the first hole are copied, and none of a stream without a file. */
static int check_order(struct gt_ring *r)
{
    uint64_t end = 0;
    int missing = 0;
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_bounds marks;
    for (size_t i = 0; i < r->n; i++) {
        struct gt_rest *rest = &r->rests[i];
        if (i == 0 || rest->id != rest[-1].id)
            missing = find_end(r, rest, &end);
        if (missing < 0)
            return missing;
        bool hole = missing || rest->offset + rest->written > end;
        if (hole && r->partly) {
            int status = gt_ring_read_bounds(r, rest, words, &marks);
            if (status < 0)
                return status;
            r->left += gt_bounds_records(&marks, gt_bounds_whole(&marks, rest->written), rest->end);
            rest->written = rest->end = 0;
        } else if (hole)
            return gt_ring_lies(r, rest->at, "a file offset beyond the stream's end", rest->offset);
        else if (end < rest->offset + rest->end)
            end = rest->offset + rest->end;
    }
    return 0;
}

/* Writes the run from `from` on; where that fails, the file ends with a whole record. */
static int write_run(const struct gt_ring *r, int fd, const struct gt_rest *rest,
                     const struct gt_bounds *marks, uint32_t from, const char *data)
{
    for (uint32_t at = from; at < rest->end;) {
        ssize_t put = pwrite(fd, data, rest->end - at, (off_t)(rest->offset + at));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int e = put < 0 ? errno : EIO;
            (void)!ftruncate(fd, (off_t)(rest->offset + gt_bounds_whole(marks, at)));
            return gt_ring_io_error(r, e);
        }
        data += put;
        at += (uint32_t)put;
    }
    return 0;
}

/* Copies a rest. The number of records, or an error. */
static int64_t copy_rest(const struct gt_ring *r, int fd, const struct gt_rest *rest)
{
    char data[GT_CHUNK_ROOM];
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_bounds marks;
    int status = gt_ring_read_bounds(r, rest, words, &marks);
    if (status < 0)
        return status;
    uint32_t from = gt_bounds_whole(&marks, rest->written);
    status = gt_ring_read_run(r, rest, from, rest->end, data);
    if (status >= 0)
        status = write_run(r, fd, rest, &marks, from, data);
    return status < 0 ? status : (int64_t)gt_bounds_records(&marks, from, rest->end);
}

/* Copies every rest. The number of records, or an error. */
static int64_t copy_rests(const struct gt_ring *r)
{
    int64_t records = 0, status = 0;
    int fd = -1;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        const struct gt_rest *rest = &r->rests[i];
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

int64_t gt_ring_to_files(struct gt_ring *r)
{
    int status = check_order(r);
    return status < 0 ? status : copy_rests(r);
}
