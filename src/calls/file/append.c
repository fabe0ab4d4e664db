/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding to a recording in one file: see file.h. */
#include "calls/file/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of it, at the file's end. 0 or an errno value. */
static int write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return EIO;
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int gt_compact_file_create(const char *path, struct gt_error *err)
{
    uint8_t head[GT_COMPACT_FILE_HEAD];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? gt_error_set(err, GT_E_EXISTS, "%s exists", path)
                               : gt_error_errno(err, errno, "%s", path);
    gt_compact_file_head(head);
    int e = write_all(fd, head, sizeof head);
    close(fd);
    if (!e)
        return 0;
    unlink(path);
    return gt_error_errno(err, e, "%s", path);
}

int gt_compact_lock(const char *path, struct gt_error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), locked;
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", path);
    do
        locked = flock(fd, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    if (locked == 0)
        return fd;
    int e = errno;
    close(fd);
    return gt_error_errno(err, e, "%s", path);
}

int gt_compact_append_fd(int fd, const void *block, size_t size)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    int e = write_all(fd, block, size);
    if (e) /* where this fails too, readers skip these bytes */
        (void)!ftruncate(fd, st.st_size);
    return e;
}

int gt_compact_append_to(int fd, const char *path, const void *block, size_t size,
                         struct gt_error *err)
{
    int e = gt_compact_append_fd(fd, block, size);
    return e ? gt_error_errno(err, e, "%s", path) : 0;
}

int gt_compact_file_append(const char *path, const void *block, size_t size, struct gt_error *err)
{
    int fd = gt_compact_lock(path, err);
    if (fd < 0)
        return fd;
    int status = gt_compact_append_to(fd, path, block, size, err);
    close(fd);
    return status;
}
