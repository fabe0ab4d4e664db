/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unix sockets by path. Descriptors are non-blocking and close-on-exec.
 *
 * A listener's socket file has mode 0600 from its creation on. A socket of this user without a
 * listener was left by an earlier run and is replaced; any other file at the path stays.
 */
#ifndef GT_BASE_SOCKET_H
#define GT_BASE_SOCKET_H

#include "base/error.h"

struct gt_socket_file;

struct gt_socket_listener {
    int fd; /* -1: none */
    struct gt_socket_file *file;
};

/* GT_E_RANGE: the path is longer than a socket's address can hold; GT_E_USAGE: it is empty. */
int gt_socket_check_path(const char *path, struct gt_error *err);

/* Returns a descriptor or a negative errno value. The path must have been checked. */
int gt_socket_connect(const char *path);

/* Listens at the path, which must have been checked. GT_E_EXISTS: another process listens there, or
 * the path is not a socket; GT_E_RANGE: the process has too many listeners; GT_E_IO and the other
 * codes of gt_error_errno. On error l->fd is -1. */
int gt_socket_listener_open(struct gt_socket_listener *l, const char *path, struct gt_error *err);

/* Connects to the process that listens at the path (*fd is the connection), or listens there (*fd
 * is -1), whichever succeeds first. Errors as gt_socket_listener_open; GT_E_IO: there is a socket,
 * but connecting fails. */
int gt_socket_listener_connect_or_open(struct gt_socket_listener *l, int *fd, const char *path,
                                       struct gt_error *err);

/* Returns the descriptor of a new connection, or -1. */
int gt_socket_listener_accept(const struct gt_socket_listener *l);

/* Closes the listener and removes its socket file if that is still its own. Does nothing if fd is
 * -1. */
void gt_socket_listener_close(struct gt_socket_listener *l);

/* Removes the socket files of all listeners of the process, which is about to end.
 * Async-signal-safe. */
void gt_socket_listeners_remove(void);

/* From now on gt_socket_listener_open has SIGHUP, SIGINT and SIGTERM call
 * gt_socket_listeners_remove before they kill the process. Only signals that have their default
 * action then are caught, and a handler that the process installs later replaces this one. Signals
 * belong to the process: its main program or the plugin calls this once, a library never. */
void gt_socket_listeners_watch_signals(void);

#endif
