/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The monitor's listening socket: see monitor.h.
 *
 * An existing path is taken over only from a socket of this user that refuses connections. It is
 * renamed first and checked again under the new name: so of two processes that start at the same
 * time, neither removes the socket that the other has just made.
 */
#include "events/library/message.h"
#include "events/library/monitor/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16 };

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int make_address(struct sockaddr_un *to, const char *path, struct gt_trace_error *err)
{
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof to->sun_path)
        return gt_events_fail(err, GT_TRACE_E_RANGE,
                              "%s: the name of a socket has 1 to %zu bytes, not %zu", path,
                              sizeof to->sun_path - 1, n);
    memcpy(to->sun_path, path, n + 1);
    return 0;
}

/* 0: this socket has no listener. */
static int check_silent(const struct sockaddr_un *address, struct gt_trace_error *err)
{
    const char *path = address->sun_path;
    int fd = open_socket();
    if (fd < 0)
        return gt_events_fail_errno(err, errno, "%s: no socket to try it with", path);
    bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                   errno == ECONNREFUSED;
    close(fd);
    return refused ? 0
                   : gt_events_fail(err, GT_TRACE_E_EXISTS, "%s: a process listens there already",
                                    path);
}

/* Removes the dead socket that `seen` is. */
static int remove_dead(const char *path, const struct stat *seen, struct gt_trace_error *err)
{
    char aside[sizeof(struct sockaddr_un) + 32];
    struct stat st;
    snprintf(aside, sizeof aside, "%s.%ld.dead", path, (long)getpid());
    if (renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) != 0)
        return errno == ENOENT ? 0
                               : gt_events_fail_errno(err, errno, "%s: cannot be replaced", path);
    if (lstat(aside, &st) == 0 && st.st_dev == seen->st_dev && st.st_ino == seen->st_ino) {
        unlink(aside);
        return 0;
    }
    renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_NOREPLACE);
    return gt_events_fail(err, GT_TRACE_E_EXISTS, "%s: another process took it just now", path);
}

/* Removes the socket at the path, or reports why it cannot. */
static int make_way(const struct sockaddr_un *address, struct gt_trace_error *err)
{
    const char *path = address->sun_path;
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : gt_events_fail_errno(err, errno, "%s", path);
    if (!S_ISSOCK(st.st_mode))
        return gt_events_fail(err, GT_TRACE_E_EXISTS, "%s: exists, and is not a socket", path);
    if (st.st_uid != geteuid())
        return gt_events_fail(err, GT_TRACE_E_EXISTS, "%s: a socket of another user", path);
    int status = check_silent(address, err);
    return status < 0 ? status : remove_dead(path, &st, err);
}

static int bind_address(int fd, const struct sockaddr_un *address, struct gt_trace_error *err)
{
    const struct sockaddr *to = (const struct sockaddr *)address;
    if (bind(fd, to, sizeof *address) == 0)
        return 0;
    if (errno != EADDRINUSE)
        return gt_events_fail_errno(err, errno, "%s: cannot be listened at", address->sun_path);
    int status = make_way(address, err);
    if (status < 0)
        return status;
    if (bind(fd, to, sizeof *address) == 0)
        return 0;
    if (errno == EADDRINUSE)
        return gt_events_fail(err, GT_TRACE_E_EXISTS, "%s: another process took it just now",
                              address->sun_path);
    return gt_events_fail_errno(err, errno, "%s: cannot be listened at", address->sun_path);
}

/* The program may change its directory before the name is removed. */
static char *absolute(const char *path)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;
    if (!here)
        return strdup(path);
    if (asprintf(&whole, "%s/%s", here, path) < 0)
        whole = NULL;
    free(here);
    return whole;
}

static int start_listening(struct gt_events_monitor_socket *s, const char *path,
                           struct gt_trace_error *err)
{
    struct stat st;
    if (lstat(path, &st) == 0) {
        s->device = st.st_dev;
        s->inode = st.st_ino;
        if (listen(s->fd, BACKLOG) == 0)
            return 0;
    }
    return gt_events_fail_errno(err, errno, "%s: cannot be listened at", path);
}

int gt_events_monitor_listen(struct gt_events_monitor_socket *s, const char *path,
                             struct gt_trace_error *err)
{
    struct sockaddr_un address;
    *s = (struct gt_events_monitor_socket){.fd = -1};
    int status = make_address(&address, path, err);
    if (status < 0)
        return status;
    s->path = absolute(path);
    s->fd = open_socket();
    if (!s->path)
        status = gt_events_fail(err, GT_TRACE_E_NOMEM, "%s: out of memory", path);
    else if (s->fd < 0 || fchmod(s->fd, 0600) != 0) /* the name gets the socket's mode, at once */
        status = gt_events_fail_errno(err, errno, "%s: no socket", path);
    if (status == 0)
        status = bind_address(s->fd, &address, err);
    if (status == 0)
        status = start_listening(s, path, err);
    if (status < 0)
        gt_events_monitor_unlisten(s, true);
    return status;
}

void gt_events_monitor_unlisten(struct gt_events_monitor_socket *s, bool remove)
{
    struct stat st;
    if (s->fd >= 0)
        close(s->fd);
    if (remove && s->inode && lstat(s->path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        st.st_dev == s->device && st.st_ino == s->inode)
        unlink(s->path);
    free(s->path);
    *s = (struct gt_events_monitor_socket){.fd = -1};
}
