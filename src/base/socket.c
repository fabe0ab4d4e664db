/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unix sockets by path: see socket.h. */
#include "base/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int gt_socket_check_path(const char *path, struct gt_error *err)
{
    size_t most = sizeof((struct sockaddr_un *)NULL)->sun_path - 1, n = strlen(path);
    if (n == 0)
        return gt_error_set(err, GT_E_USAGE, "expected a socket's path");
    if (n > most)
        return gt_error_set(err, GT_E_RANGE,
                            "%.300s: a socket's path has at most %zu bytes, this one has %zu", path,
                            most, n);
    return 0;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, strlen(path) + 1); /* its length was seen to fit */
    return a;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int gt_socket_connect(const char *path)
{
    struct sockaddr_un a = address_of(path);
    int fd = new_socket();
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    int e = errno;
    if (fd >= 0)
        close(fd);
    return -e;
}

static int clear_path(const char *path, struct gt_error *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : gt_error_errno(err, errno, "%s", path);
    if (!S_ISSOCK(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s: is there already, and no socket", path);
    if (unlink(path) != 0)
        return gt_error_errno(err, errno, "%s: nobody listens there, and it cannot be removed",
                              path);
    return 0;
}

int gt_listener_open(struct gt_listener *l, const char *path, struct gt_error *err)
{
    *l = (struct gt_listener){.fd = -1, .path = path};
    int status = clear_path(path, err);
    if (status < 0)
        return status;
    struct sockaddr_un a = address_of(path);
    int fd = new_socket();
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 8) != 0) {
        status = gt_error_errno(err, errno, "%s: cannot be listened at", path);
        if (fd >= 0)
            close(fd);
        return status;
    }
    l->fd = fd;
    if (lstat(path, &l->bound) != 0)
        l->bound = (struct stat){0};
    return 0;
}

int gt_listener_accept(const struct gt_listener *l)
{
    return l->fd < 0 ? -1 : accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

void gt_listener_close(struct gt_listener *l)
{
    struct stat now;
    if (l->fd < 0)
        return;
    if (lstat(l->path, &now) == 0 && S_ISSOCK(now.st_mode) && now.st_dev == l->bound.st_dev &&
        now.st_ino == l->bound.st_ino)
        unlink(l->path);
    close(l->fd);
    l->fd = -1;
}
