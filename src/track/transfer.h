/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracker's hot path, inline: a call arrived where it should, or a return did. All else goes to
 * gt_track_slow. No function is called from here, so that the caller can be a leaf.
 */
#ifndef GT_TRACK_TRANSFER_H
#define GT_TRACK_TRANSFER_H

#include "track/track.h"

/* A function was entered, or left. */
struct gt_call_event {
    bool leaves;
    uint32_t depth;
    uint64_t addr;
};

/* False: a transfer is not plain, whatever else it is. */
static inline bool gt_track_may_be_plain(uint64_t last_exit)
{
    return (last_exit & (GT_LAST_EXIT_TAGS & ~GT_LAST_EXIT_RETURN)) == GT_LAST_EXIT_CODE;
}

/* Control arrived at `code` while the last exit was `last_exit`, which is not that of code->fn.
 * True: it was a plain call or return, and the last exit is now code->fn's. False: nothing was
 * done, and gt_track_slow is to be asked. The caller has seen that the sink takes a record. */
static inline __attribute__((always_inline)) bool
gt_track_transfer(struct gt_thread *t, struct gt_code *code, uint64_t last_exit, uint32_t max_depth,
                  struct gt_call_event *out)
{
    struct gt_stack *s = t->stack;
    struct gt_frame *top = s->top;
    uint32_t depth = (uint32_t)(top - s->base);
    uint32_t slow_flags = t->slow_flags & ~(uint32_t)GT_SLOW_CLOCK; /* no concern of ours */
    if (__builtin_expect(!gt_track_may_be_plain(last_exit) || code->slow_flags != slow_flags ||
                             depth >= max_depth,
                         0))
        return false;
    if (last_exit & GT_LAST_EXIT_RETURN) {
        if (__builtin_expect(top->ret != code->pc || top->level != s->level, 0))
            return false;
        t->matched++;
        s->top = top - 1;
        *out = (struct gt_call_event){true, gt_level_depth(depth - 1, top->level), top->addr};
        return true;
    }
    const struct gt_code *from = gt_last_exit_code(last_exit);
    if (__builtin_expect((from->exit == GT_EXIT_CALL ? from->target != code->pc
                                                     : from->exit != GT_EXIT_CALL_INDIRECT) ||
                             top + 1 == s->limit,
                         0))
        return false;
    t->calls++;
    gt_code_enter(code);
    s->top = ++top;
    *top = (struct gt_frame){
        .ret = gt_code_end(from), .addr = code->pc, .fn = code->fn, .level = s->level};
    *out = (struct gt_call_event){false, gt_level_depth(depth, s->level), code->pc};
    return true;
}

#endif
