/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control=PATH: a socket that takes commands while the guest runs, on a thread of ours that neither
 * QEMU nor the guest sees. A command is a line, its answer is a line: "ok ..." or "error: ...". A
 * client that sends slowly, or nothing, delays nobody; one too many gets an error.
 *
 *   counts   flags=coverage: puts how often each block ran until now
 *   flush    writes what is handed over until now
 *   status   how much was written
 */
#ifndef GT_PLUGIN_ETRACE_CONTROL_H
#define GT_PLUGIN_ETRACE_CONTROL_H

#include "base/error.h"
#include "base/socket.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct gt_etrace;

enum {
    GT_ETRACE_CLIENTS = 32,
    GT_ETRACE_COMMAND = 80, /* bytes of a line, with its end */
};

struct gt_etrace_client {
    int fd; /* -1: none */
    char line[GT_ETRACE_COMMAND];
    size_t n;      /* bytes of the line so far */
    bool skipping; /* the line is too long: ignored up to its end */
};

struct gt_etrace_control {
    const char *path;
    pthread_t thread;
    bool started, stop; /* stop: atomic */

    /* the thread's alone */
    unsigned snapshots; /* counts commands so far */
    struct gt_listener listener;
    struct gt_etrace_client clients[GT_ETRACE_CLIENTS];

    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t opened;
    bool open;
    struct gt_error error; /* of opening */
};

/* Returns when the socket accepts clients. The path lives as long as the recorder. GT_E_USAGE,
 * GT_E_RANGE, GT_E_EXISTS, GT_E_IO. */
int gt_etrace_control_start(struct gt_etrace *e, const char *path, struct gt_error *err);
/* Returns when no command is under way; not started is fine. */
void gt_etrace_control_stop(struct gt_etrace *e);

#endif
