/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a command reads an etrace stream from: FILE, "-" (standard input) or unix:PATH, the socket
 * of a plugin that is running or about to run: it is connected to; where nobody listens there, we
 * listen for one writer. What is at PATH and is no socket stays.
 */
#ifndef GT_ANALYSIS_STREAM_INPUT_H
#define GT_ANALYSIS_STREAM_INPUT_H

#include "base/error.h"
#include "base/socket.h"
#include "format/etrace/etrace.h"

#include <signal.h>

/* Ends a stream from outside, by a signal's handler. */
struct gt_etrace_end {
    const volatile sig_atomic_t *ended; /* set: the stream is at its end */
    sigset_t mask;                      /* for the time of a wait: lets that signal come */
};

struct gt_etrace_input {
    char *name; /* for messages */
    int fd;
    struct gt_listener listener; /* open: nobody has connected yet */
    /* Called before a read that may take long; may be NULL. */
    void (*idle)(void *self);
    void *idle_self;
    unsigned char first[8]; /* what was looked at and is still to be read: first[at] to first[n] */
    size_t at, n;
    bool kept;                       /* it is our own temporary file */
    off_t start;                     /* of a stream that can be read again: where it begins */
    const struct gt_etrace_end *end; /* NULL: only the writer ends it */
};

/* *in needs gt_etrace_input_close in any case. GT_E_NOT_FOUND, GT_E_IO, GT_E_EXISTS (no socket at
 * PATH), GT_E_USAGE, GT_E_RANGE (PATH is none, or too long). */
int gt_etrace_input_open(struct gt_etrace_input *in, const char *where, struct gt_error *err);
/* Where we listen (in->listener.fd >= 0): waits for the writer. GT_E_IO. */
int gt_etrace_input_wait(struct gt_etrace_input *in, struct gt_error *err);
/* The first bytes, up to 8, which are read again later; all that there are, if fewer. They stay in
 * *in. GT_E_IO. */
int gt_etrace_input_look(struct gt_etrace_input *in, struct gt_error *err);
/* A gt_refill_fn; self is the input. */
ssize_t gt_etrace_input_read(void *self, void *out, size_t n);
/* So that it can be read more than once: what is no regular file is read to its end into a
 * temporary one, which nobody else sees. Nothing was read yet. GT_E_IO. */
int gt_etrace_input_keep(struct gt_etrace_input *in, struct gt_error *err);
/* Back to the beginning of one that is kept. GT_E_IO. */
int gt_etrace_input_rewind(struct gt_etrace_input *in, struct gt_error *err);
/* By in->end. */
bool gt_etrace_input_was_ended(const struct gt_etrace_input *in);
void gt_etrace_input_close(struct gt_etrace_input *in);

#endif
