/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unix sockets by path. Descriptors are non-blocking and close-on-exec. What is at a path and is no
 * socket stays there; a socket that nobody listens at is what an earlier run left, and goes.
 */
#ifndef GT_BASE_SOCKET_H
#define GT_BASE_SOCKET_H

#include "base/error.h"

#include <sys/stat.h>

struct gt_listener {
    int fd;            /* -1: none */
    const char *path;  /* the caller's */
    struct stat bound; /* the socket's file */
};

/* GT_E_RANGE: the path is longer than a socket's address can hold; GT_E_USAGE: it is empty. */
int gt_socket_check_path(const char *path, struct gt_error *err);

/* A descriptor, or a negative errno value. The path has been checked. */
int gt_socket_connect(const char *path);

/* The path has been checked and, by connecting, that nobody listens there. GT_E_EXISTS: there is
 * something, and no socket; GT_E_IO and what else gt_error_errno gives. On error l->fd is -1. */
int gt_listener_open(struct gt_listener *l, const char *path, struct gt_error *err);

/* Somebody who has connected, or -1. */
int gt_listener_accept(const struct gt_listener *l);

/* Removes the socket's file, if it is still ours. Where fd is -1, nothing. */
void gt_listener_close(struct gt_listener *l);

#endif
