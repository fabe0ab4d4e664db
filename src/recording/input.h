/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input of a command that reads a stream: FILE, "-" (standard input) or unix:PATH, the socket
 * of a plugin that is running or about to run: we connect to it or, if there is no listener, listen
 * for one writer. A file at PATH that is not a socket is left alone.
 */
#ifndef GT_RECORDING_INPUT_H
#define GT_RECORDING_INPUT_H

#include "base/error.h"
#include "base/socket.h"

#include <stdbool.h>
#include <sys/types.h>

#include <signal.h>

/* A way for a signal handler to end a stream. */
struct gt_recording_input_end {
    const volatile sig_atomic_t *ended; /* set by the handler: the stream ends */
    sigset_t mask;                      /* signal mask during waits: does not block that signal */
};

struct gt_recording_input {
    char *name; /* for messages */
    int fd;
    struct gt_socket_listener listener; /* open while no writer has connected */
    /* Called before a read that may block; may be NULL. */
    void (*idle)(void *self);
    void *idle_self;
    unsigned char
        first[8]; /* bytes that were peeked at and not read yet: first[at] to first[n - 1] */
    size_t at, n;
    bool copied; /* the input is our temporary file */
    off_t start; /* offset of the start of a stream that can be rewound */
    const struct gt_recording_input_end *end; /* NULL: only the writer ends it */
};

/* Opens the input; call gt_recording_input_close in any case. GT_E_NOT_FOUND, GT_E_IO, GT_E_EXISTS
 * (PATH is not a socket), GT_E_USAGE (PATH is empty), GT_E_RANGE (PATH is too long). */
int gt_recording_input_open(struct gt_recording_input *in, const char *where, struct gt_error *err);
/* Opens a command's input, and waits for the writer of a live stream. Call gt_recording_input_close
 * in any case. Errors of gt_recording_input_open and gt_recording_input_wait. */
int gt_recording_input_start(const struct gt_error_notices *notices, const char *where,
                             struct gt_recording_input *in, struct gt_error *err);
/* Checks the first bytes, which must have been peeked at. GT_E_FORMAT: they belong to another type
 * of file than the reader `reads` (file_kind.h); the message has that type and `expected`. */
int gt_recording_input_check(const struct gt_recording_input *in, unsigned reads,
                             const char *expected, struct gt_error *err);
/* Waits for the writer if we listen (in->listener.fd >= 0). GT_E_IO. */
int gt_recording_input_wait(struct gt_recording_input *in, struct gt_error *err);
/* Peeks at the first bytes, at most 8, fewer only if the stream has fewer: in->first. They are read
 * again later. GT_E_IO. */
int gt_recording_input_look(struct gt_recording_input *in, struct gt_error *err);
/* A gt_bytes_refill_fn; `self` is the input. */
ssize_t gt_recording_input_read(void *self, void *out, size_t n);
/* Makes the input rewindable: one that is not a regular file is copied to its end into an unnamed
 * temporary file. Call it before the first read. GT_E_IO. */
int gt_recording_input_keep(struct gt_recording_input *in, struct gt_error *err);
/* Rewinds an input after gt_recording_input_keep. GT_E_IO. */
int gt_recording_input_rewind(struct gt_recording_input *in, struct gt_error *err);
/* True if in->end ended the stream. */
bool gt_recording_input_was_ended(const struct gt_recording_input *in);
void gt_recording_input_close(struct gt_recording_input *in);

#endif
