/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections that have arrived, before their request is there: the server has a thread for each
 * connection, which those that say nothing, or say it slowly, do not get. One thread waits for all
 * of them: a thousand do not delay those that show the token.
 */
#ifndef GT_CLI_VIEW_ARRIVALS_H
#define GT_CLI_VIEW_ARRIVALS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/socket.h>

enum {
    GT_ARRIVALS_MOST = 256,    /* that wait: the oldest one goes */
    GT_ARRIVALS_SECONDS = 10,  /* to show the token, or all headers */
    GT_ARRIVALS_BYTES = 4096,  /* of a request that are looked at */
    GT_ARRIVALS_PENDING = 1024 /* connections that the kernel has, which were not taken yet */
};

struct gt_cli_view_arrivals;

struct gt_cli_view_door {
    int listening; /* a socket that listens; not blocking. It stays the caller's */
    /* Whether the path of a request, as far as it is there, has the token. */
    bool (*knows)(void *self, const char *path);
    /* Takes a connection whose request has begun. On the thread. */
    void (*take)(void *self, int fd, const struct sockaddr *from, socklen_t size);
    void *self;
};

/* GT_E_IO, GT_E_NOMEM: no thread. */
int gt_cli_view_arrivals_open(const struct gt_cli_view_door *door,
                              struct gt_cli_view_arrivals **out, struct gt_error *err);
/* Closes the connections that wait. NULL is fine. */
void gt_cli_view_arrivals_close(struct gt_cli_view_arrivals *a);

#endif
