/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an etrace stream for a command: opens it, waits for the writer of a live one, passes each
 * packet to the command, and reports packets that were left out.
 */
#ifndef GT_ETRACE_DUMP_WALK_H
#define GT_ETRACE_DUMP_WALK_H

#include "base/error.h"
#include "etrace/format/etrace.h"
#include "recording/input.h"

struct gt_etrace_walk {
    const struct gt_error_notices *notices; /* takes the messages */
    const char *where;                      /* FILE, - or unix:PATH (input.h) */
    void *user;
    /* Takes every packet of a known type. On an error the packet is left out and the error
     * reported; 1: stop, which is not an error. */
    int (*packet)(void *user, const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                  struct gt_error *err);
    /* Called before a wait for the next packet. May be NULL. */
    void (*pause)(void *user);
    void (*message)(void *user); /* called before a message; may be NULL */
};

/* gt_etrace_walk over an open input, which stays open. */
int gt_etrace_walk_in(const struct gt_etrace_walk *w, struct gt_recording_input *in,
                      struct gt_error *err);
/* Walks through the stream. Returns 0, also if in->end ended it, or errors of
 * gt_recording_input_open and gt_etrace_next; GT_E_FORMAT also if packets were left out: each was
 * reported before, and err has their number. All packets before an error were passed on. */
int gt_etrace_walk(const struct gt_etrace_walk *w, struct gt_error *err);

#endif
