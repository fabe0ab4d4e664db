/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files that reach the disk complete: see file.h. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 or an errno. */
static int write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Creates ".NAME.PID.N.tmp" beside path; a descriptor, or -errno. */
static int open_beside(const char *path, char *tmp, size_t size)
{
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash + 1 - path) : 0;
    for (unsigned n = 0; n < 1000; n++) {
        int len =
            snprintf(tmp, size, "%.*s.%s.%ld.%u.tmp", dir, path, path + dir, (long)getpid(), n);
        if (len < 0 || (size_t)len >= size)
            return -ENAMETOOLONG;
        int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

int gt_file_replace(const char *path, const void *data, size_t size, struct gt_error *err)
{
    char tmp[PATH_MAX];
    int fd = open_beside(path, tmp, sizeof tmp);
    if (fd == -ENAMETOOLONG)
        return gt_error_set(err, GT_E_RANGE, "%.200s...: path too long", path);
    if (fd < 0)
        return gt_error_errno(err, -fd, "%s: cannot be created", path);
    int bad = write_all(fd, data, size);
    if (close(fd) && !bad)
        bad = errno;
    if (!bad && rename(tmp, path))
        bad = errno;
    if (!bad)
        return 0;
    unlink(tmp);
    return gt_error_errno(err, bad, "%s: cannot be written", path);
}

int gt_file_replace_text(const char *path, const struct gt_text *t, struct gt_error *err)
{
    if (t->failed)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    return gt_file_replace(path, t->data ? t->data : "", t->len, err);
}

int gt_file_append(const char *path, const void *data, size_t size, struct gt_error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", path);
    /* With the lock no other process's line can follow a part of ours before it is cut off. */
    while (flock(fd, LOCK_EX) && errno == EINTR)
        ;
    int bad = 0;
    off_t before = lseek(fd, 0, SEEK_END);
    ssize_t n;
    do
        n = write(fd, data, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        bad = errno;
    else if ((size_t)n < size)
        bad = before >= 0 && ftruncate(fd, before) ? errno : ENOSPC;
    flock(fd, LOCK_UN);
    if (close(fd) && !bad)
        bad = errno;
    return bad ? gt_error_errno(err, bad, "%s: cannot be written", path) : 0;
}

static int read_fd(int fd, const char *path, size_t limit, struct gt_text *t, struct gt_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return gt_error_errno(err, errno, "%s: cannot be read", path);
    if (!S_ISREG(st.st_mode))
        return gt_error_set(err, GT_E_IO, "%s: not a regular file", path);
    for (;;) {
        size_t more = t->len <= limit ? limit - t->len + 1 : 1;
        if (more > 65536)
            more = 65536;
        if (!gt_text_reserve(t, more))
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
        ssize_t n = read(fd, t->data + t->len, more);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gt_error_errno(err, errno, "%s: cannot be read", path);
        t->len += (size_t)n;
        if (t->len > limit)
            return gt_error_set(err, GT_E_RANGE, "%s: longer than %zu bytes", path, limit);
        if (n == 0)
            break;
    }
    t->data[t->len] = 0;
    return 0;
}

int gt_file_read(const char *path, size_t limit, char **data, size_t *size, struct gt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", path);
    struct gt_text t = {0};
    int status = read_fd(fd, path, limit, &t, err);
    close(fd);
    if (status) {
        gt_text_free(&t);
        return status;
    }
    *data = t.data;
    *size = t.len;
    return 0;
}

/* ---- directories --------------------------------------------------------------------------- */

/* The process that makes ".NAME.PID.N.tmp"; 0: no such name. */
static long maker_of(const char *name)
{
    static const char digits[] = "0123456789", end[] = ".tmp";
    size_t n = strlen(name), least = sizeof end - 1;
    if (*name != '.' || n < least || strcmp(name + n - least, end) != 0)
        return 0;
    for (int part = 0; part < 2; part++) { /* N, then PID */
        size_t to = n - least;
        for (n = to; n > 0 && strchr(digits, name[n - 1]);)
            n--;
        if (n == to || n < 3 || name[n - 1] != '.')
            return 0;
        least = 1;
    }
    return strtol(name + n, NULL, 10);
}

/* Also one whose parent has not waited for it. */
static bool has_ended(long pid)
{
    struct gt_file_process_stat stat;
    if (pid <= 0 || pid > INT_MAX)
        return false;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return true;
    return gt_file_process_stat((unsigned)pid, &stat) && (stat.state == 'Z' || stat.state == 'X');
}

static bool is_left(int dir, const char *name)
{
    struct stat st;
    return has_ended(maker_of(name)) && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode);
}

static DIR *open_dir(const char *path, struct gt_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        gt_error_errno(err, errno, "%s: cannot be opened", path);
        return NULL;
    }
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    return dir;
}

int gt_file_remove_left(const char *path, struct gt_error *err)
{
    struct gt_error why;
    int status = 0;
    DIR *dir = open_dir(path, &why);
    if (!dir)
        return gt_error_set(err, why.status, "%s", why.text);
    for (const struct dirent *e; (e = readdir(dir));)
        if (is_left(dirfd(dir), e->d_name) && unlinkat(dirfd(dir), e->d_name, 0) != 0 &&
            errno != ENOENT && status == 0)
            status = gt_error_errno(err, errno, "%s/%s: cannot be removed", path, e->d_name);
    closedir(dir);
    return status;
}

/* ".NAME.PID.tmp" or ".NAME.PID.gone", of a process that has ended. */
static bool is_left_of(const char *entry, const char *name)
{
    size_t n = strlen(name);
    char *end;
    if (entry[0] != '.' || strncmp(entry + 1, name, n) != 0 || entry[n + 1] != '.' ||
        entry[n + 2] < '1' || entry[n + 2] > '9')
        return false;
    long pid = strtol(entry + n + 2, &end, 10);
    return (strcmp(end, ".tmp") == 0 || strcmp(end, ".gone") == 0) && has_ended(pid);
}

void gt_file_remove_left_beside(const char *path)
{
    char folder[PATH_MAX], left[PATH_MAX + 256];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(name - path) : 2,
                     slash ? path : "./");
    DIR *dir = *name && n < (int)sizeof folder ? opendir(folder) : NULL;
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (!is_left_of(e->d_name, name))
            continue;
        snprintf(left, sizeof left, "%s%s", folder, e->d_name);
        if (unlink(left) != 0 && (errno == EISDIR || errno == EPERM))
            gt_file_remove_dir(left, NULL);
    }
    if (dir)
        closedir(dir);
}

int gt_file_make_dir(const char *path, struct gt_error *err)
{
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno == EEXIST)
        return gt_error_set(err, GT_E_EXISTS, "%s: already exists", path);
    return gt_error_errno(err, errno, "%s: cannot be created", path);
}

/* Calls unlinkat for each entry, or with `look` only checks that none is a directory. */
static int walk_dir(DIR *dir, const char *path, bool look, struct gt_error *err)
{
    const struct dirent *e;
    rewinddir(dir);
    while (errno = 0, (e = readdir(dir))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        struct stat st;
        if (look && fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode))
            return gt_error_set(err, GT_E_EXISTS, "%s: not removed, it holds the directory %s",
                                path, e->d_name);
        if (!look && unlinkat(dirfd(dir), e->d_name, 0) && errno != ENOENT)
            return gt_error_errno(err, errno, "%s/%s: cannot be removed", path, e->d_name);
    }
    return errno ? gt_error_errno(err, errno, "%s: cannot be read", path) : 0;
}

int gt_file_remove_dir(const char *path, struct gt_error *err)
{
    struct gt_error why;
    DIR *dir = open_dir(path, &why);
    if (!dir)
        return gt_error_set(err, why.status, "%s", why.text);
    int status = walk_dir(dir, path, true, err);
    if (!status)
        status = walk_dir(dir, path, false, err);
    closedir(dir);
    if (!status && rmdir(path))
        status = gt_error_errno(err, errno, "%s: cannot be removed", path);
    return status;
}

int gt_file_take(int fd, const char *path, struct gt_error *err)
{
    int failed;
    do
        failed = flock(fd, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    if (!failed || errno != EWOULDBLOCK)
        return 0;
    return gt_error_set(err, GT_E_BUSY,
                        "%s: another process writes it; wait until that has ended, or name another",
                        path);
}

int gt_file_move_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (link(from, to) != 0)
        return errno;
    unlink(from);
    return 0;
}

int gt_file_move_dir(const char *from, const char *to, struct gt_error *err)
{
    if (rename(from, to) == 0)
        return 0;
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
        return gt_error_set(err, GT_E_EXISTS, "%s: cannot be moved to %s, which is in the way",
                            from, to);
    return gt_error_errno(err, errno, "%s: cannot be moved to %s", from, to);
}

bool gt_file_process_stat(unsigned pid, struct gt_file_process_stat *out)
{
    char path[32], text[1024];
    *out = (struct gt_file_process_stat){0};
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *after = strrchr(text, ')'); /* the name before it may have any */
    struct gt_file_process_stat got;
    if (!after || sscanf(after,
                         ") %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                         "%*d %llu",
                         &got.state, &got.parent, &got.began) != 3)
        return false;
    *out = got;
    return true;
}
