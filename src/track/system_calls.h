/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of a program, where the host runs them and reports them: each is a call of a
 * function that has no code. No code of the thread runs meanwhile. What the call does may change
 * the frames: a process begins with its parent's, a program that replaces another closes
 * them all.
 */
#ifndef GT_TRACK_SYSTEM_CALLS_H
#define GT_TRACK_SYSTEM_CALLS_H

#include "track/stack.h"
#include "track/track.h"

/* The thread makes a system call. */
static inline void gt_track_syscall(struct gt_track_thread *t, const struct gt_track_func *fn,
                                    uint64_t time)
{
    gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, fn->lo, fn, GT_FRAME_CALL}, time);
}
/* It has returned; nothing happens where its frame is gone. */
static inline void gt_track_syscall_return(struct gt_track_thread *t,
                                           const struct gt_track_func *fn, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (s->top->fn != fn)
        return;
    t->matched++;
    gt_stack_close(t->tracker, s, gt_stack_depth(s) - 1, time);
}

#endif
