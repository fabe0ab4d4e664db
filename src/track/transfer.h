/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracker's hot path, inline: plain transfers, that is calls and returns that arrived where
 * they were expected. All others go to gt_track_slow. It calls no function, so that its caller can
 * be a leaf.
 */
#ifndef GT_TRACK_TRANSFER_H
#define GT_TRACK_TRANSFER_H

#include "track/track.h"

/* A function was entered or left: what a plain transfer records. */
struct gt_track_call_event {
    bool leaves;
    uint32_t depth;
    uint64_t addr;
};

/* False: a transfer from this last exit is never plain. */
static inline bool gt_track_may_be_plain(uint64_t last_exit)
{
    return (last_exit & (GT_LAST_EXIT_TAGS & ~GT_LAST_EXIT_RETURN)) == GT_LAST_EXIT_CODE;
}

/* Control arrived at `code` with a last exit that is not code->fn. True: it was a plain call or
 * return; *out is to be recorded, and the last exit becomes code->fn. False: nothing was done; the
 * caller calls gt_track_slow. The caller has checked that the sink has room for a record. */
static inline __attribute__((always_inline)) bool
gt_track_transfer(struct gt_track_thread *t, struct gt_code *code, uint64_t last_exit,
                  uint32_t max_depth, struct gt_track_call_event *out)
{
    struct gt_stack *s = t->stack;
    struct gt_track_frame *top = s->top;
    uint32_t depth = (uint32_t)(top - s->base);
    uint32_t slow_flags = t->slow_flags & ~(uint32_t)GT_SLOW_USER;
    if (__builtin_expect(!gt_track_may_be_plain(last_exit) || code->slow_flags != slow_flags ||
                             depth >= max_depth,
                         0))
        return false;
    if (last_exit & GT_LAST_EXIT_RETURN) {
        if (__builtin_expect(top->ret != code->pc || top->level != s->level, 0))
            return false;
        t->matched++;
        s->top = top - 1;
        *out = (struct gt_track_call_event){true, gt_track_level_depth(depth - 1, top->level),
                                            top->addr};
        return true;
    }
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    /* An indirect call into its own block: that may have been left in its middle (machine.h). */
    if (__builtin_expect((from->exit == GT_EXIT_CALL ? from->target != code->pc
                                                     : from->exit != GT_EXIT_CALL_INDIRECT ||
                                                           gt_code_is_inside(from, code->pc)) ||
                             top + 1 == s->limit,
                         0))
        return false;
    t->calls++;
    s->top = ++top;
    *top = (struct gt_track_frame){
        .ret = gt_code_end(from), .addr = code->pc, .fn = code->fn, .level = s->level};
    *out = (struct gt_track_call_event){false, gt_track_level_depth(depth, s->level), code->pc};
    return true;
}

#endif
