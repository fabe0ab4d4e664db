/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracker's hot path, inline: a call arrived where it should, or a return did. All else goes to
 * gt_track_slow. No function is called from here, so that the caller can be a leaf.
 */
#ifndef GT_TRACK_LAND_H
#define GT_TRACK_LAND_H

#include "track/track.h"

/* What plain landings need of a thread and its stack, for a run of them in registers: from
 * gt_hand_take to gt_hand_put nothing else looks at either. */
struct gt_hand {
    struct gt_frame *top, *base;
    const struct gt_frame *limit;
    uint64_t calls, matched; /* of the run */
    uint32_t attention;      /* but for the clock, which is no concern of ours */
    uint32_t level, max_depth;
};

/* A function was entered, or left. */
struct gt_landed {
    bool leaves;
    uint32_t depth;
    uint64_t addr;
};

/* False: a landing is not plain, whatever else it is. */
static inline bool gt_track_may_land(uint64_t mark)
{
    return (mark & (GT_MARK_TAGS & ~GT_MARK_RETURN)) == GT_MARK_CODE;
}

static inline __attribute__((always_inline)) struct gt_hand gt_hand_take(const struct gt_thread *t,
                                                                         uint32_t max_depth)
{
    const struct gt_stack *s = t->stack;
    return (struct gt_hand){.top = s->top,
                            .base = s->base,
                            .limit = s->limit,
                            .attention = t->attention & ~(uint32_t)GT_ATTENTION_CLOCK,
                            .level = s->level,
                            .max_depth = max_depth};
}

static inline __attribute__((always_inline)) void gt_hand_put(struct gt_thread *t,
                                                              const struct gt_hand *h)
{
    t->stack->top = h->top;
    t->calls += h->calls;
    t->matched += h->matched;
}

/* Control arrived at `code` while the mark was `mark`, which is not that of code->fn. True: it was
 * a plain call or return, and the mark is now code->fn's. False: nothing was done, and
 * gt_track_slow is to be asked. The caller has seen that the sink takes a record. */
static inline __attribute__((always_inline)) bool
gt_hand_land(struct gt_hand *h, struct gt_code *code, uint64_t mark, struct gt_landed *out)
{
    struct gt_frame *top = h->top;
    uint32_t depth = (uint32_t)(top - h->base);
    if (__builtin_expect(
            !gt_track_may_land(mark) || code->special != h->attention || depth >= h->max_depth, 0))
        return false;
    if (mark & GT_MARK_RETURN) {
        if (__builtin_expect(top->ret != code->pc || top->level != h->level, 0))
            return false;
        h->matched++;
        h->top = top - 1;
        *out = (struct gt_landed){true, gt_level_depth(depth - 1, top->level), top->addr};
        return true;
    }
    const struct gt_code *from = gt_mark_code(mark);
    if (__builtin_expect((from->exit == GT_EXIT_CALL ? from->target != code->pc
                                                     : from->exit != GT_EXIT_CALL_INDIRECT) ||
                             top + 1 == h->limit,
                         0))
        return false;
    h->calls++;
    gt_code_enter(code);
    h->top = ++top;
    *top = (struct gt_frame){
        .ret = gt_code_end(from), .addr = code->pc, .fn = code->fn, .level = h->level};
    *out = (struct gt_landed){false, gt_level_depth(depth, h->level), code->pc};
    return true;
}

/* A single landing, with what it found. */
static inline __attribute__((always_inline)) bool gt_track_land(struct gt_thread *t,
                                                                struct gt_code *code, uint64_t mark,
                                                                uint32_t max_depth,
                                                                struct gt_landed *out)
{
    struct gt_hand hand = gt_hand_take(t, max_depth);
    if (!gt_hand_land(&hand, code, mark, out))
        return false;
    gt_hand_put(t, &hand);
    return true;
}

#endif
