/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open connections of a server, so that none can keep others from being answered: a request has
 * to be there in time, and of those that have not shown the token few are kept: the oldest one
 * goes. Thread-safe.
 */
#ifndef GT_CLI_VIEW_CONNECTIONS_H
#define GT_CLI_VIEW_CONNECTIONS_H

#include <stdbool.h>

enum {
    GT_CONNECTIONS_UNKNOWN = 32, /* that have not shown the token */
    GT_CONNECTIONS_MOST = 96,
    GT_CONNECTIONS_REQUEST_SECONDS = 10, /* for the first request, all of it */
    GT_CONNECTIONS_NEXT_SECONDS = 60,    /* until the next one is there, after the token */
};

struct gt_cli_view_connections;
struct gt_cli_view_connection;

/* NULL: no thread. */
struct gt_cli_view_connections *gt_cli_view_connections_create(void);
/* When no connection is left. NULL is fine. */
void gt_cli_view_connections_destroy(struct gt_cli_view_connections *all);

/* A new one on this socket, which stays the caller's and open until
 * gt_cli_view_connection_close. */
struct gt_cli_view_connection *gt_cli_view_connection_open(struct gt_cli_view_connections *all,
                                                           int socket);
void gt_cli_view_connection_close(struct gt_cli_view_connections *all,
                                  struct gt_cli_view_connection *c);
/* It has shown the token. */
void gt_cli_view_connection_know(struct gt_cli_view_connections *all,
                                 struct gt_cli_view_connection *c);
/* A request is there (true), and may take as long as it takes to answer; it is answered (false). */
void gt_cli_view_connection_busy(struct gt_cli_view_connections *all,
                                 struct gt_cli_view_connection *c, bool busy);

#endif
