/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privilege levels: a thread's calls go to one output for each level that its code runs at. There
 * is one call stack: a handler's frame is on that of the user program which it interrupted. But
 * each frame is recorded in its own level's output, at its depth among the frames of that level.
 */
#include "track/stack.h"

void gt_track_set_level(struct gt_track_thread *t, unsigned level, uint64_t time)
{
    t->slow_flags = (t->slow_flags & ~(uint32_t)GT_CODE_LEVEL) | level << GT_CODE_LEVEL_SHIFT;
    struct gt_track *k = t->tracker;
    if (!t->stack || !k || !k->sink->level)
        return;
    gt_stack_flush(k, t->stack);
    gt_stack_set_level(t->stack, level);
    if (t->stack->out)
        k->sink->level(k->sink_self, t->stack, time);
}

void gt_track_go_on(struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    struct gt_stack *to = s ? s : gt_stack_create(t->tracker);
    if (!to)
        return;
    gt_stack_flush(t->tracker, t->stack);
    to->thread = t;
    t->stack = to;
    gt_stack_set_level(to, gt_track_level(t));
    gt_stack_open(t, time);
    gt_track_set_level(t, gt_track_level(t), time);
}

void gt_track_end_other(struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    gt_stack_close(t->tracker, s, 0, time);
    s->out = NULL;
    s->thread = NULL;
}

void gt_track_end_level(struct gt_track_thread *t, uint64_t time)
{
    const struct gt_stack *s = t->stack;
    const struct gt_track_frame *f = s->top;
    while (f > s->base && gt_track_level_of(f->level) == gt_track_level(t))
        f--;
    gt_stack_close(t->tracker, t->stack, (uint32_t)(f - s->base), time);
}
