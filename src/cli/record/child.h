/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a child in the foreground as if the shell had started it: the child has our terminal and
 * process group, gets our signals, and stops and continues together with us; we end as it ended.
 *
 * Signals of the terminal (^C, ^\, ^Z, a hang-up, a resize) go to the whole process group, so the
 * child gets them too; signals that kill(2) sends to us alone are forwarded. si_code distinguishes
 * the two. If a terminal's signal stops the child, we stop too, so that the shell sees a stopped
 * job. A child that still runs 10 seconds after a SIGTERM that we have passed on is killed by the
 * next one.
 */
#ifndef GT_CLI_RECORD_CHILD_H
#define GT_CLI_RECORD_CHILD_H

#include "base/error.h"

#include <stdbool.h>

struct pollfd;

/* A filter between the child's standard output and ours. */
struct gt_record_child_output {
    int fd; /* becomes the child's standard output; then closed in this process and set to -1 */
    void (*wants)(void *self, struct pollfd *p); /* sets the events to wait for; fd -1: none */
    void (*ready)(void *self); /* called after these events, and possibly without; must not block */
    bool (*done)(void *self);  /* true if the child's whole output was forwarded */
    void (*resize)(void *self); /* called when the size of our terminal changes */
    void *self;
};

/* Something else to wait for while the child runs; it has the members of gt_record_child_output. */
struct gt_record_child_input {
    void (*wants)(void *self, struct pollfd *p);
    void (*ready)(void *self);
    void *self;
};

struct gt_record_child {
    const char *path;  /* executable */
    char *const *argv; /* NULL-terminated */
    char *const *envp; /* NULL-terminated */
    void (*tick)(
        void *data); /* called about four times a second while the child runs; may be NULL */
    /* A signal that kill(2) sent to us, before it is forwarded. True: it was for us. May be NULL.
     */
    bool (*signal)(void *signal_data, int sig);
    void *data, *signal_data;
    bool same_places;                          /* the kernel places it as in every run: no ASLR */
    struct gt_record_child_output *output;     /* NULL: the child uses our standard output */
    const struct gt_record_child_input *input; /* NULL: nothing else */
};

/* From now on a write to a pipe without a reader fails, in place of ending this process; a child
 * that is run has the former handler. */
void gt_record_child_ignore_broken_pipes(void);

/* Runs the child until it ends; *wait_status is the status of waitpid(2). GT_E_NOT_FOUND, GT_E_IO:
 * it could not be started. */
int gt_record_child_run(const struct gt_record_child *child, int *wait_status,
                        struct gt_error *err);

/* Returns the child's exit status, for main to return. If a signal ended the child, raises it in
 * this process (without a core file); returns 128 + the signal if this process survives. */
int gt_record_child_end_like(int wait_status);

#endif
