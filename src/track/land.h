/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracker's hot path, inline: a call arrived where it should, or a return did. All else goes to
 * gt_track_slow. `sink` is the recorder's constant table, so that its enter and leave are inlined.
 */
#ifndef GT_TRACK_LAND_H
#define GT_TRACK_LAND_H

#include "track/track.h"

/* Control arrived at `code` while the mark was `mark`, which is not the mark of code->fn. Returns
 * the new mark. */
static inline __attribute__((always_inline)) uint64_t
gt_track_land(struct gt_thread *t, struct gt_code *code, uint64_t mark, uint64_t time,
              const struct gt_sink *sink, uint32_t max_depth)
{
    /* Any tag but CODE alone, and some functions, are for the slow path. */
    if (__builtin_expect((mark & GT_MARK_TAGS) != GT_MARK_CODE ||
                             code->fn->flags & GT_FUNC_LANDING || t->switched,
                         0))
        return gt_track_slow(t, code, mark, time);
    const struct gt_code *from = gt_mark_code(mark);
    struct gt_stack *s = t->stack;
    struct gt_frame *top = s->top;
    uint32_t depth = gt_stack_depth(s);
    if (from->exit == GT_EXIT_RETURN) {
        if (__builtin_expect(top->ret != code->pc, 0))
            return gt_track_slow(t, code, mark, time);
        t->matched++;
        s->top = top - 1;
        if (__builtin_expect(depth <= max_depth, 1))
            sink->leave(s, time, depth - 1, top->addr);
    } else {
        if (__builtin_expect((from->exit == GT_EXIT_CALL && from->target != code->pc) ||
                                 from->exit == GT_EXIT_JUMP_HANDLER || top + 1 == s->limit,
                             0))
            return gt_track_slow(t, code, mark, time);
        t->calls++;
        if (!code->entered)
            code->entered = true;
        s->top = ++top;
        *top = (struct gt_frame){.ret = from->end, .addr = code->pc, .fn = code->fn};
        if (__builtin_expect(depth < max_depth, 1))
            sink->enter(s, time, depth, code->pc);
    }
    return gt_mark_of_func(code->fn);
}

#endif
