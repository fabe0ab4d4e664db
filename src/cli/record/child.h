/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child in the foreground, run as if the shell had started it instead of us: same terminal and
 * process group, signals passed on, stopped and continued together, ended the same way.
 *
 * Signals. The terminal's (^C, ^\, ^Z, a hang-up, a resize) go to the whole process group, so the
 * child has them already; what kill(2) sends to us alone is passed on. The kernel says which it was
 * (si_code). Where the child stops as the terminal wants it, so do we, and the shell sees the job
 * stop.
 */
#ifndef GT_CLI_RECORD_CHILD_H
#define GT_CLI_RECORD_CHILD_H

#include "base/error.h"

#include <stdbool.h>

struct pollfd;

/* Somebody who stands between the child's standard output and ours. */
struct gt_child_output {
    int fd; /* becomes the child's standard output; closed here once it has it, and set to -1 */
    void (*wants)(void *self, struct pollfd *p); /* what to wait for; fd -1: nothing */
    void (*ready)(void *self);  /* it has happened, or it may have; must not block */
    bool (*done)(void *self);   /* all that the child wrote has been passed on */
    void (*resize)(void *self); /* our terminal has another size */
    void *self;
};

struct gt_child {
    const char *path;         /* executable */
    char *const *argv;        /* NULL-terminated */
    char *const *envp;        /* NULL-terminated */
    void (*tick)(void *data); /* about four times a second while it runs; NULL: never */
    void *data;
    struct gt_child_output *output; /* NULL: the child has our standard output */
};

/* Runs it to its end; *wait_status is as waitpid(2) gives it. GT_E_NOT_FOUND, GT_E_IO: it could not
 * be started. */
int gt_child_run(const struct gt_child *child, int *wait_status, struct gt_error *err);

/* Ends this process as the child ended: its exit status is returned, its signal raised (no core
 * file of ours). Returns 128 + the signal if that did not end us. */
int gt_child_end_like(int wait_status);

#endif
