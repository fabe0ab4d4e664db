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
static int64_t read_ring(struct gt_ring *r, uint64_t size)
{
    struct gt_ring_head head;
    if (size < sizeof head)
        return size == 0 ? 0 : gt_ring_lies(r, 0, "a size that no pool file has", size);
    int status = gt_ring_read_at(r, &head, sizeof head, 0);
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
        status = gt_ring_read_chunk(r, i * GT_CHUNK_SIZE);
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
        struct gt_ring r = {.dirfd = dirfd,
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
