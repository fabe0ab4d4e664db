/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet sink's file or socket: see internal.h. */
#include "base/sink/internal.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* It is ours alone, which others see by the lock. */
static int empty_file(struct gt_packet_channel *c, struct gt_error *err)
{
    int status = gt_file_take(c->fd, c->path, err);
    if (status == 0 && ftruncate(c->fd, 0) != 0)
        status = gt_error_errno(err, errno, "%s: cannot be written", c->path);
    if (status < 0) {
        close(c->fd);
        c->fd = -1;
    }
    return status;
}

static int open_file(struct gt_packet_channel *c, struct gt_error *err)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
    c->fd = open(c->path, flags | O_NONBLOCK, 0666); /* a pipe without a reader: an error */
    if (c->fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", c->path);
    struct stat st;
    c->regular = fstat(c->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (c->regular)
        fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) & ~O_NONBLOCK);
    return c->regular ? empty_file(c, err) : 0;
}

int gt_packet_channel_open(struct gt_packet_channel *c, struct gt_error *err)
{
    if (!c->socket)
        return open_file(c, err);
    int status = 0;
    if (c->connects) /* it is the reader who listens */
        c->fd = gt_socket_connect(c->path);
    else
        status = gt_socket_listener_connect_or_open(&c->listener, &c->fd, c->path, err);
    c->connects = c->connects || c->fd >= 0;
    if (c->fd >= 0 || c->listener.fd >= 0)
        return 0;
    if (status == 0)
        status = gt_error_errno(err, -c->fd, "%s: cannot be connected to", c->path);
    c->fd = -1;
    return status;
}

bool gt_packet_channel_accept(struct gt_packet_channel *c, int ms)
{
    if (c->listener.fd < 0)
        gt_packet_channel_open(c, NULL);
    if (c->listener.fd < 0) {
        if (c->fd < 0)
            poll(NULL, 0, ms);
        return c->fd >= 0;
    }
    struct pollfd p = {.fd = c->listener.fd, .events = POLLIN};
    if (poll(&p, 1, ms) == 1)
        c->fd = gt_socket_listener_accept(&c->listener);
    return c->fd >= 0;
}

void gt_packet_channel_refuse(struct gt_packet_channel *c)
{
    int fd = gt_socket_listener_accept(&c->listener);
    if (fd >= 0)
        close(fd);
}

enum {
    AT_ONCE = 16 << 10, /* bytes: a reader that has read so many is seen to read */
    LOOK_MS = 50,       /* between two looks whether its time is bounded by now */
};

static ssize_t write_some(const struct gt_packet_channel *c, const void *data, size_t n)
{
    if (!c->regular && n > AT_ONCE)
        n = AT_ONCE;
    ssize_t got = c->socket ? send(c->fd, data, n, MSG_NOSIGNAL) : write(c->fd, data, n);
    if (got < 0 && errno == EAGAIN) {
        struct pollfd p = {.fd = c->fd, .events = POLLOUT};
        poll(&p, 1, LOOK_MS);
        return 0;
    }
    return got < 0 && errno == EINTR ? 0 : got;
}

/* The reader has taken nothing since `last`. */
static bool is_too_late(struct gt_packet_channel *c, uint64_t last)
{
    uint64_t from = atomic_load_explicit(&c->bounded_from, memory_order_acquire);
    if (!from && atomic_load_explicit(&c->executing, memory_order_acquire))
        from = atomic_load_explicit(&c->executing_from, memory_order_relaxed);
    return from && gt_base_clock_monotonic() >= (from > last ? from : last) + c->patience;
}

int gt_packet_channel_write(struct gt_packet_channel *c, const void *data, size_t n, uint64_t *done)
{
    uint64_t last = 0;
    while (n) {
        ssize_t got = write_some(c, data, n);
        if (got < 0)
            return errno;
        if (got == 0 && !last)
            last = gt_base_clock_monotonic();
        if (got == 0 && is_too_late(c, last))
            return ETIMEDOUT;
        last = got ? 0 : last;
        data = (const char *)data + got;
        n -= (size_t)got;
        *done += (uint64_t)got;
    }
    return 0;
}

void gt_packet_channel_disconnect(struct gt_packet_channel *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void gt_packet_channel_close(struct gt_packet_channel *c)
{
    gt_packet_channel_disconnect(c);
    gt_socket_listener_close(&c->listener);
}
