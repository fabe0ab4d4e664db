/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the frame in which an exception continues, however often its function is on the stack.
 *
 * The unwinder of the Itanium C++ ABI (libgcc, libunwind) walks the stack outwards and calls the
 * personality routine of each frame that has one: in a first pass to find the handler, in a second
 * one, from another call instruction, to run cleanups and the handler. A personality routine asks
 * for the frame's instruction pointer, by _Unwind_GetIP or _Unwind_GetIPInfo: the return address of
 * the call that the frame is in. As these come from the inside outwards, taking for each the
 * innermost frame not yet passed that has it is exact: frames with the same return address have the
 * same personality routine.
 *
 * In the second pass a personality routine need not ask for the handler's frame: it is the one
 * where the first pass ended. That may be long ago: cleanups run in between, and may throw and
 * catch exceptions of their own.
 */
#include "track/stack.h"
#include "track/tail_calls.h"

#include <string.h>

enum { HANDLERS = sizeof((struct gt_track_unwind *)0)->handler / sizeof(uint32_t) };

static void push_handler(struct gt_track_unwind *u, uint32_t depth)
{
    if (u->n_handlers == HANDLERS) {
        memmove(u->handler, u->handler + 1, sizeof u->handler - sizeof u->handler[0]);
        u->n_handlers--;
    }
    u->handler[u->n_handlers++] = depth;
}

void gt_track_unwind_entered(struct gt_track_thread *t, uint32_t flags)
{
    struct gt_track_unwind *u = &t->nonlocal.unwind;
    if (flags & (GT_FUNC_UNWIND_RAISE | GT_FUNC_UNWIND_RESUME)) {
        u->start = u->at = gt_stack_depth(t->stack);
        u->searching = flags & GT_FUNC_UNWIND_RAISE;
        u->asked = false;
        u->site = 0;
        u->addr = t->stack->top->addr;
    } else if (u->start) {
        if (u->site && u->site != gt_track_tail_called(t->stack)->ret) {
            if (u->searching)
                push_handler(u, u->at);
            u->searching = false;
            u->at = u->start;
        }
        u->site = gt_track_tail_called(t->stack)->ret;
        u->asked = false;
    }
}

void gt_track_get_ip(struct gt_track_thread *t, uint64_t ip)
{
    struct gt_track_unwind *u = &t->nonlocal.unwind;
    const struct gt_stack *s = t->stack;
    if (!u->start || u->asked || u->at > gt_stack_depth(s))
        return;
    for (uint32_t i = u->at; i > 1; i--)
        if (s->base[i].ret == ip) {
            u->at = i - 1;
            u->asked = true;
            return;
        }
}

uint32_t gt_track_unwind_find(const struct gt_track_thread *t, const struct gt_code *code)
{
    const struct gt_track_unwind *u = &t->nonlocal.unwind;
    const struct gt_stack *s = t->stack;
    uint32_t depth = 0;
    if (!u->start)
        return 0;
    if (u->asked)
        depth = u->at;
    else if (u->n_handlers && !u->searching)
        depth = u->handler[u->n_handlers - 1];
    bool stands = u->start <= gt_stack_depth(s) && s->base[u->start].addr == u->addr;
    return stands && depth < gt_stack_depth(s) && s->base[depth].fn == code->fn ? depth : 0;
}

void gt_track_unwind_end(struct gt_track_thread *t)
{
    struct gt_track_unwind *u = &t->nonlocal.unwind;
    if (u->start && !u->asked && u->n_handlers && !u->searching)
        u->n_handlers--;
    u->start = 0;
}
