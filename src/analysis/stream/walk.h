/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command's way through an etrace stream: opens it, waits for a live one, gives each packet to
 * the command, and tells what had to be left out.
 */
#ifndef GT_ANALYSIS_STREAM_WALK_H
#define GT_ANALYSIS_STREAM_WALK_H

#include "analysis/stream/input.h"
#include "base/notice.h"
#include "format/etrace/etrace.h"

struct gt_etrace_walk {
    const struct gt_notices *notices; /* for messages */
    const char *where;                /* FILE, - or unix:PATH (input.h) */
    void *user;
    /* Every packet of a known type. An error leaves the packet out, and is told; 1: go no further,
     * which is no error. */
    int (*packet)(void *user, const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                  struct gt_error *err);
    /* Before the next packet may be long in coming. May be NULL. */
    void (*pause)(void *user);
    void (*message)(void *user); /* before a message is printed; may be NULL */
};

/* Opens what a command reads, and waits for a live writer. *in needs gt_etrace_input_close in any
 * case. Errors of gt_etrace_input_open and gt_etrace_input_wait. */
int gt_etrace_walk_open(const struct gt_notices *notices, const char *where,
                        struct gt_etrace_input *in, struct gt_error *err);
/* GT_E_FORMAT: by its first bytes, which were looked at, it is plainly something else; the message
 * says what, and `expected`, which begins with "an etrace stream". */
int gt_etrace_walk_check(const struct gt_etrace_input *in, const char *expected,
                         struct gt_error *err);
/* gt_etrace_walk over what is open; it stays open. */
int gt_etrace_walk_in(const struct gt_etrace_walk *w, struct gt_etrace_input *in,
                      struct gt_error *err);
/* 0, also where in->end ended it; or what ended it: errors of gt_etrace_input_open and
 * gt_etrace_next; GT_E_FORMAT also where packets were left out, which were told already but for
 * their number. What came before an error was given. */
int gt_etrace_walk(const struct gt_etrace_walk *w, struct gt_error *err);

#endif
