/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to stack.c: frames, and the calls made of them. */
#ifndef GT_CALLS_READ_STACK_FRAMES_H
#define GT_CALLS_READ_STACK_FRAMES_H

#include "calls/read/stack.h"

#define GT_STACK_INLINE static inline __attribute__((always_inline))

/* Room for one more frame. False: no memory. */
bool gt_calls_stack_grow(struct gt_calls_stack *s);
/* True where the function is one of n frames'. */
bool gt_calls_stack_has(const struct gt_call_frame *frame, uint32_t n, uint32_t function);

/* Shows frames that have lasted long enough at `time`, and events that waited for them. */
void gt_calls_stack_show(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                         struct gt_calls_out *out, uint64_t time);
/* Gives events that wait for no ENTRY any more. */
void gt_calls_stack_release(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                            struct gt_calls_out *out);

/* Fits the frames to the depth of an entry: those that are as deep or deeper have ended without a
 * record. An entry that is deeper than all by more than one stays where it is. */
void gt_calls_stack_fit(struct gt_calls_stack *s, struct gt_calls_out *out, uint32_t depth,
                        uint64_t time);

/* One more call: there is always room after it. */
GT_STACK_INLINE void gt_calls_out_add(struct gt_calls_out *out, struct gt_calls_stack *s,
                                      const struct gt_call *call)
{
    out->call[out->n++] = *call;
    if (__builtin_expect(out->n == GT_STACK_BATCH, 0))
        gt_calls_out_flush(out, s);
}

/* Values of the call that was added last. */
GT_STACK_INLINE void gt_calls_out_add_values(struct gt_calls_out *out, struct gt_calls_stack *s,
                                             const struct gt_value_list *values)
{
    if (!values || out->n == 0)
        return;
    out->values = values;
    gt_calls_out_flush(out, s);
}

/* Frames that the window shows, or may: those not too deep. */
GT_STACK_INLINE uint32_t gt_calls_stack_within(const struct gt_calls_stack *s,
                                               const struct gt_calls_rules *r)
{
    return s->n < r->depth ? s->n : r->depth;
}

/* There is room. */
GT_STACK_INLINE void gt_calls_stack_push(struct gt_calls_stack *s, uint32_t function,
                                         uint64_t begin)
{
    uint32_t *seen = &s->seen[function & (GT_STACK_SEEN - 1)];
    bool recursive = *seen && gt_calls_stack_has(s->frame, s->n, function);
    ++*seen;
    s->spent[s->n] = (struct gt_calls_spent){0, s->slept};
    if (__builtin_expect(s->n < s->values.n, 0))
        gt_call_values_set(&s->values, s->n, NULL);
    s->frame[s->n++] = (struct gt_call_frame){begin, function, recursive};
}

GT_STACK_INLINE void gt_calls_stack_make_entry(struct gt_calls_stack *s, struct gt_calls_out *out,
                                               uint32_t k)
{
    const struct gt_call_frame *f = &s->frame[k];
    gt_calls_out_add(out, s,
                     &(struct gt_call){
                         .time = f->begin,
                         .begin = f->begin,
                         .self = k < s->clipped ? (int64_t)s->before[k] : 0,
                         .task = s->task,
                         .function = f->function,
                         .depth = k,
                         .kind = GT_CALL_ENTRY,
                         .flags = (uint8_t)((f->recursive ? GT_CALL_RECURSIVE : 0) |
                                            (k < s->clipped ? GT_CALL_CLIPPED : 0)),
                     });
    if (__builtin_expect(k < s->values.n, 0))
        gt_calls_out_add_values(out, s, gt_call_values_at(&s->values, k));
}

/* Gives events that wait for an ENTRY, of those that happened inside at most `depth` calls. */
void gt_calls_stack_give_held(struct gt_calls_stack *s, struct gt_calls_out *out, uint32_t depth);

/* Leaves the innermost frame; there is one. */
GT_STACK_INLINE void gt_calls_stack_pop(struct gt_calls_stack *s, struct gt_calls_out *out,
                                        uint64_t time, unsigned flags)
{
    if (s->n_held && s->n == s->shown)
        gt_calls_stack_give_held(s, out, UINT32_MAX);
    const uint32_t k = --s->n;
    const struct gt_call_frame *f = &s->frame[k];
    const struct gt_calls_spent own = s->spent[k];
    const bool suspends = gt_call_suspends(f->function) && !s->wall;
    uint64_t took = time - f->begin, spent = suspends ? took - own.child : own.child;
    if (suspends)
        s->slept += spent;
    --s->seen[f->function & (GT_STACK_SEEN - 1)];
    if (k < s->shown) {
        s->shown = k;
        gt_calls_out_add(out, s,
                         &(struct gt_call){
                             .time = time,
                             .begin = f->begin,
                             .self = (int64_t)(took - own.child),
                             .slept = suspends ? 0 : s->slept - own.slept,
                             .task = s->task,
                             .function = f->function,
                             .depth = k,
                             .kind = GT_CALL_EXIT,
                             .flags = (uint8_t)((f->recursive ? GT_CALL_RECURSIVE : 0) |
                                                (k < s->part ? GT_CALL_PART : 0) | flags),
                         });
        spent = took;
    }
    if (k > 0)
        s->spent[k - 1].child += spent;
    s->part = s->part < k ? s->part : k;
    s->clipped = s->clipped < k ? s->clipped : k;
}

#endif
