/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An outlet's file or socket: see outlet_internal.h. */
#include "base/outlet_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_file(struct gt_channel *c, struct gt_error *err)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY;
    c->fd = open(c->path, flags | O_NONBLOCK, 0666); /* a pipe without a reader: an error */
    if (c->fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", c->path);
    fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) & ~O_NONBLOCK);
    return 0;
}

static struct sockaddr_un address_of(const struct gt_channel *c)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, c->path, strlen(c->path) + 1); /* its length was seen to fit */
    return a;
}

/* 0, or an errno value. */
static int connect_to(struct gt_channel *c)
{
    struct sockaddr_un a = address_of(c);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) {
        c->fd = fd;
        return 0;
    }
    int e = errno;
    close(fd);
    return e;
}

/* Nobody listens at the path: what an earlier run left there goes, if it is a socket. */
static int clear_path(const struct gt_channel *c, struct gt_error *err)
{
    struct stat st;
    if (lstat(c->path, &st) != 0)
        return errno == ENOENT ? 0 : gt_error_errno(err, errno, "%s", c->path);
    if (!S_ISSOCK(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s: is there already, and no socket", c->path);
    if (unlink(c->path) != 0)
        return gt_error_errno(err, errno, "%s: nobody listens there, and it cannot be removed",
                              c->path);
    return 0;
}

static int listen_at(struct gt_channel *c, struct gt_error *err)
{
    int status = clear_path(c, err);
    if (status < 0)
        return status;
    struct sockaddr_un a = address_of(c);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 1) != 0) {
        status = gt_error_errno(err, errno, "%s: cannot be listened at", c->path);
        if (fd >= 0)
            close(fd);
        return status;
    }
    c->listener = fd;
    if (lstat(c->path, &c->bound) != 0)
        c->bound = (struct stat){0};
    return 0;
}

int gt_channel_open(struct gt_channel *c, struct gt_error *err)
{
    if (!c->socket)
        return open_file(c, err);
    struct stat st;
    if (stat(c->path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s: is there already, and no socket", c->path);
    int e = connect_to(c);
    c->connects |= e == 0;
    if (e == 0)
        return 0;
    if ((e == ECONNREFUSED || e == ENOENT) && !c->connects)
        return listen_at(c, err);
    return gt_error_errno(err, e, "%s: cannot be connected to", c->path);
}

bool gt_channel_accept(struct gt_channel *c, int ms)
{
    if (c->listener < 0)
        gt_channel_open(c, NULL);
    if (c->listener < 0) {
        if (c->fd < 0)
            poll(NULL, 0, ms);
        return c->fd >= 0;
    }
    struct pollfd p = {.fd = c->listener, .events = POLLIN};
    if (poll(&p, 1, ms) == 1)
        c->fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return c->fd >= 0;
}

void gt_channel_refuse(struct gt_channel *c)
{
    int fd = c->listener < 0 ? -1 : accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

void gt_channel_stop_listening(struct gt_channel *c)
{
    struct stat now;
    if (c->listener < 0)
        return;
    if (lstat(c->path, &now) == 0 && S_ISSOCK(now.st_mode) && now.st_dev == c->bound.st_dev &&
        now.st_ino == c->bound.st_ino)
        unlink(c->path);
    close(c->listener);
    c->listener = -1;
}

static ssize_t write_some(const struct gt_channel *c, const void *data, size_t n)
{
    ssize_t got = c->socket ? send(c->fd, data, n, MSG_NOSIGNAL) : write(c->fd, data, n);
    if (got < 0 && errno == EAGAIN) {
        struct pollfd p = {.fd = c->fd, .events = POLLOUT};
        poll(&p, 1, -1);
        return 0;
    }
    return got < 0 && errno == EINTR ? 0 : got;
}

int gt_channel_write(struct gt_channel *c, const void *data, size_t n, uint64_t *done)
{
    while (n) {
        ssize_t got = write_some(c, data, n);
        if (got < 0)
            return errno;
        data = (const char *)data + got;
        n -= (size_t)got;
        *done += (uint64_t)got;
    }
    return 0;
}

void gt_channel_disconnect(struct gt_channel *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void gt_channel_close(struct gt_channel *c)
{
    gt_channel_disconnect(c);
    gt_channel_stop_listening(c);
}
