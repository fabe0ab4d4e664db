/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks of a stream's units, concluded from which code ran after which.
 *
 * A call adds the function that follows, and remembers where the call returns to. A return ends all
 * down to the frame that was to return there; if there is none, down to a function of that name,
 * and else the code is taken for a handler of an interrupt. A jump into another function takes the
 * place of the one that jumped, unless that one is on the stack: then it is gone back to (longjmp).
 * Code that follows where its instruction does not lead is a handler, on top of what it interrupts;
 * an exception's return goes back to that.
 */
#ifndef GT_ANALYSIS_STREAM_EXEC_STACK_H
#define GT_ANALYSIS_STREAM_EXEC_STACK_H

#include "analysis/stream/exec_code.h"
#include "format/etrace/etrace.h"

enum { GT_EXEC_STACK_DEPTH = 1024 }; /* what would be deeper begins anew */

struct gt_exec_sink {
    void *self;
    /* The names live as long as the codes. Each unit's calls are balanced. */
    void (*enter)(void *self, uint16_t unit, const char *name, uint64_t time);
    void (*leave)(void *self, uint16_t unit, uint64_t time);
    /* Time that the innermost function spent itself; may be NULL. */
    void (*spend)(void *self, uint16_t unit, uint64_t duration);
};

struct gt_exec_stacks;

/* The codes are the caller's and stay. */
struct gt_exec_stacks *gt_exec_stacks_create(struct gt_exec_codes *codes,
                                             const struct gt_exec_sink *sink);
void gt_exec_stacks_add(struct gt_exec_stacks *s, uint16_t unit, const struct gt_etrace_exec *x);
/* Leaves every function and frees. NULL is fine. */
void gt_exec_stacks_destroy(struct gt_exec_stacks *s);

#endif
