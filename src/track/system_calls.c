/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that the host reports: see system_calls.h. */
#include "track/system_calls.h"
#include "track/stack.h"

void gt_track_syscall(struct gt_thread *t, const struct gt_func *fn, uint64_t time)
{
    gt_stack_push(t, (struct gt_frame){GT_NO_ADDR, fn->lo, fn, GT_FRAME_CALL}, time);
}

void gt_track_syscall_return(struct gt_thread *t, const struct gt_func *fn, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (s->top->fn != fn)
        return;
    t->matched++;
    gt_stack_close(t->tracker, s, gt_stack_depth(s) - 1, time);
}
