/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The initcalls of Linux: the functions that its do_one_initcall calls, of the kernel and of
 * modules, and those that its console_init calls.
 *
 * do_one_initcall calls one function through a pointer, and others that are known by their names:
 * the initcall is the first call in it of another function that is not a handler either.
 */
#ifndef GT_CALLS_PROFILE_INITCALLS_H
#define GT_CALLS_PROFILE_INITCALLS_H

#include "calls/read/calls.h"

enum { GT_INITCALLS_MOST = 1 << 20 };

struct gt_profile_initcall {
    uint64_t begin, end; /* with the functions in which it went on by a jump */
    uint64_t own_end;    /* of its own call: before `end` if it went on */
    uint64_t slept;      /* of the time from begin to end */
    int64_t self;
    uint32_t task, function, depth;
    uint8_t flags; /* of its EXIT: enum gt_call_flag */
    char *result;  /* that of its call, or else of do_one_initcall's; NULL: none was recorded */
};

/* In order of time. */
struct gt_profile_initcalls {
    struct gt_profile_initcall *row;
    size_t n;
};

/* GT_E_RANGE: more than GT_INITCALLS_MOST; errors of gt_calls_scan. Then there are no rows. */
int gt_profile_initcalls_make(struct gt_calls *c, const struct gt_calls_window *w, unsigned threads,
                              struct gt_profile_initcalls *out, struct gt_error *err);
void gt_profile_initcalls_clear(struct gt_profile_initcalls *i); /* { 0 } is fine */

#endif
