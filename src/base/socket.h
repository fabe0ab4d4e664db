/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unix sockets by path. Descriptors are non-blocking and close-on-exec.
 *
 * A listener's file has mode 0600 from the moment that it is there. A socket of this user's at
 * which nobody listens is what an earlier run left, and is replaced; all else that is at the path
 * stays. SIGHUP, SIGINT and SIGTERM, where they kill the process, remove the file first: a handler
 * is installed where the default action stands. Whoever installs another one takes its place.
 */
#ifndef GT_BASE_SOCKET_H
#define GT_BASE_SOCKET_H

#include "base/error.h"

struct gt_socket_file;

struct gt_listener {
    int fd; /* -1: none */
    struct gt_socket_file *file;
};

/* GT_E_RANGE: the path is longer than a socket's address can hold; GT_E_USAGE: it is empty. */
int gt_socket_check_path(const char *path, struct gt_error *err);

/* A descriptor, or a negative errno value. The path has been checked. */
int gt_socket_connect(const char *path);

/* The path has been checked. GT_E_EXISTS: somebody listens there, or there is something else;
 * GT_E_RANGE: the process has too many listeners; GT_E_IO and what else gt_error_errno gives. On
 * error l->fd is -1. */
int gt_listener_open(struct gt_listener *l, const char *path, struct gt_error *err);

/* Connects to who listens at the path, *fd, or listens there (*fd is -1), whoever comes first. The
 * same errors; GT_E_IO: there is a socket, and it cannot be connected to. */
int gt_listener_connect_or_open(struct gt_listener *l, int *fd, const char *path,
                                struct gt_error *err);

/* Somebody who has connected, or -1. */
int gt_listener_accept(const struct gt_listener *l);

/* Removes the socket's file, if it is still ours. Where fd is -1, nothing. */
void gt_listener_close(struct gt_listener *l);

/* The process is about to die: removes the files of all its listeners. For signal handlers, too. */
void gt_listeners_remove(void);

#endif
