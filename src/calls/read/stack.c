/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One task's stack: see stack.h. Its records: stack_take.c. */
#include "calls/read/stack.h"

#include "calls/read/spaces.h"
#include "calls/read/stack_frames.h"
#include "recording/directory/uftrace.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

void gt_calls_stack_init(struct gt_calls_stack *s, uint32_t task)
{
    *s = (struct gt_calls_stack){.task = task};
}

void gt_calls_stack_finish(struct gt_calls_stack *s)
{
    free(s->frame);
    free(s->spent);
    free(s->held);
    free(s->before);
    gt_call_values_finish(&s->values);
    *s = (struct gt_calls_stack){.task = s->task};
}

bool gt_calls_stack_grow(struct gt_calls_stack *s)
{
    if (s->n < s->room)
        return true;
    uint32_t room = s->room ? 2 * s->room : FIRST_ROOM;
    struct gt_call_frame *frame = realloc(s->frame, room * sizeof *frame);
    if (!frame)
        return false;
    s->frame = frame;
    struct gt_calls_spent *spent = realloc(s->spent, room * sizeof *spent);
    if (!spent)
        return false;
    s->spent = spent;
    s->room = room;
    return true;
}

bool gt_calls_stack_has(const struct gt_call_frame *frame, uint32_t n, uint32_t function)
{
    for (uint32_t i = n; i-- > 0;)
        if (frame[i].function == function)
            return true;
    return false;
}

int gt_calls_out_flush(struct gt_calls_out *out, struct gt_calls_stack *s)
{
    if (out->n > 0 && out->status >= 0) {
        int status = out->take(out->self, s, out);
        if (status != 0)
            out->status = status;
    }
    out->n = 0;
    out->values = NULL;
    return out->status;
}

/* ---- records shown ------------------------------------------------------------------------- */

static void give_held(struct gt_calls_stack *s, struct gt_calls_out *out,
                      const struct gt_calls_held *h)
{
    gt_calls_out_add(out, s,
                     &(struct gt_call){.time = h->time,
                                       .begin = h->time,
                                       .task = s->task,
                                       .function = h->function,
                                       .depth = h->depth < s->shown ? h->depth : s->shown,
                                       .kind = h->kind});
}

void gt_calls_stack_give_held(struct gt_calls_stack *s, struct gt_calls_out *out, uint32_t depth)
{
    size_t n = 0;
    while (n < s->n_held && s->held[n].depth <= depth)
        give_held(s, out, &s->held[n++]);
    s->n_held -= n;
    if (n > 0 && s->n_held > 0)
        memmove(s->held, s->held + n, s->n_held * sizeof *s->held);
}

void gt_calls_stack_release(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                            struct gt_calls_out *out)
{
    for (size_t i = s->n_held; i-- > 0 && s->held[i].depth > s->n;)
        s->held[i].depth = s->n;
    gt_calls_stack_give_held(s, out,
                             s->shown == gt_calls_stack_within(s, r) ? UINT32_MAX : s->shown);
}

void gt_calls_stack_show(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                         struct gt_calls_out *out, uint64_t time)
{
    uint32_t within = gt_calls_stack_within(s, r);
    while (s->shown < within && time - s->frame[s->shown].begin >= r->min_time) {
        if (s->n_held)
            gt_calls_stack_give_held(s, out, s->shown);
        gt_calls_stack_make_entry(s, out, s->shown);
        s->shown++;
    }
    if (s->n_held)
        gt_calls_stack_release(s, r, out);
}

/* When the time of the innermost frame that is shown ends, if nothing comes after `time`: calls
 * that may yet be shown keep theirs. */
static uint64_t shown_until(const struct gt_calls_stack *s, const struct gt_calls_rules *r,
                            uint64_t time)
{
    return s->shown < gt_calls_stack_within(s, r) ? s->frame[s->shown].begin : time;
}

void gt_calls_stack_fit(struct gt_calls_stack *s, struct gt_calls_out *out, uint32_t depth,
                        uint64_t time)
{
    enum { DEPTHS = GT_UFTRACE_DEPTH_MASK + 1 };
    const uint32_t at = s->n + s->base, back = (at - depth) & GT_UFTRACE_DEPTH_MASK;
    bool deeper = at < DEPTHS ? depth > at : back > DEPTHS / 2;
    s->odd += !s->unsure && s->n > 0 && back != 0;
    if (s->n == 0 || (!deeper && back > s->n))
        s->base = depth;
    for (uint32_t n = s->n; !deeper && n > 0 && s->n > 0 && n - s->n < back;)
        gt_calls_stack_pop(s, out, time, 0);
}

/* ---- a stretch ----------------------------------------------------------------------------- */

/* Time before `time` is spent, for frames that are shown, and where it is suspended. */
static void carry(struct gt_calls_stack *s, const struct gt_calls_rules *r, uint64_t time)
{
    for (uint32_t k = 0; k < s->shown; k++) {
        uint64_t until = k + 1 < s->shown ? s->frame[k + 1].begin : shown_until(s, r, time);
        s->spent[k].child = until - s->frame[k].begin;
    }
    if (s->suspended && !s->wall)
        s->spent[s->n - 1].child = time - s->frame[s->n - 1].begin;
}

/* Frames 0 to n - 1 begin before the window: for them it begins with it. False: no memory. */
static bool clip(struct gt_calls_stack *s, const struct gt_calls_rules *r, uint32_t n)
{
    if (n == 0)
        return true;
    s->before = malloc(n * sizeof *s->before);
    if (!s->before)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        s->before[k] = r->from - s->frame[k].begin;
        s->frame[k].begin = r->from;
        s->spent[k] = (struct gt_calls_spent){0};
    }
    s->slept = 0;
    s->clipped = n;
    return true;
}

/* Begins that are damaged are made fit: they never fall, and come not after `time`. */
static bool push_all(struct gt_calls_stack *s, const struct gt_call_frame *frame, size_t n,
                     uint64_t time)
{
    uint64_t least = 0;
    for (size_t i = 0; i < n && i < GT_STACK_MAX; i++) {
        uint64_t begin = frame[i].begin > least ? frame[i].begin : least;
        least = begin = begin < time ? begin : time;
        if (!gt_calls_stack_grow(s))
            return false;
        gt_calls_stack_push(s, frame[i].function, begin);
    }
    s->suspended = n > 0 && gt_call_suspends(frame[n - 1].function);
    return true;
}

bool gt_calls_stack_begin(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          const struct gt_call_frame *frame, size_t n, uint64_t time, bool shown)
{
    uint32_t early = 0;
    s->last = time;
    s->wall = r->wall;
    s->started = time >= r->from;
    if (!push_all(s, frame, n, time))
        return false;
    if (!s->started)
        return true;
    while (early < s->n && s->frame[early].begin < r->from)
        early++;
    if (!clip(s, r, early))
        return false;
    if (!shown)
        return true;
    uint32_t within = gt_calls_stack_within(s, r);
    while (s->shown < within && time - s->frame[s->shown].begin >= r->min_time)
        s->shown++;
    s->part = s->shown;
    carry(s, r, time);
    return true;
}

bool gt_calls_stack_align(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out, const struct gt_call_frame *frame, size_t n,
                          uint64_t time)
{
    uint32_t k = 0;
    while (k < n && k < s->n && s->frame[k].function == frame[k].function)
        k++;
    if ((k == n && k == s->n) || time > r->to)
        return true;
    time = time > s->last ? time : s->last;
    if (!s->started && time >= r->from)
        gt_calls_stack_start(s, r, out);
    while (s->n > k)
        gt_calls_stack_pop(s, out, time, 0);
    for (; k < n && k < GT_STACK_MAX; k++) {
        if (!gt_calls_stack_grow(s))
            return false;
        gt_calls_stack_push(s, frame[k].function, time);
    }
    s->suspended = n > 0 && gt_call_suspends(frame[n - 1].function);
    s->unsure = true;
    s->last = time;
    if (s->started)
        gt_calls_stack_show(s, r, out, time);
    return true;
}

void gt_calls_stack_start(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out)
{
    if (!s->started) {
        if (!clip(s, r, s->n) && out->status == 0)
            out->status = GT_E_NOMEM;
        s->last = r->from;
        s->started = true;
    }
    gt_calls_stack_show(s, r, out, s->last);
}

void gt_calls_stack_pass(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                         struct gt_calls_out *out, uint64_t time)
{
    if (s->started && time > s->last)
        gt_calls_stack_show(s, r, out, time);
}

/* What the suspension that is open has had in this stretch. */
static uint64_t sleeps(const struct gt_calls_stack *s, uint64_t until)
{
    if (!s->suspended || s->wall || s->n == 0)
        return 0;
    return until - s->frame[s->n - 1].begin - s->spent[s->n - 1].child;
}

uint64_t gt_calls_stack_slept(const struct gt_calls_stack *s, uint32_t k, uint64_t until)
{
    return s->slept - s->spent[k].slept + (k + 1 < s->n ? sleeps(s, until) : 0);
}

/* What hidden calls have slept in this stretch: no shown call's own time. */
static uint64_t slept_hidden(const struct gt_calls_stack *s)
{
    uint64_t sum = s->n > s->shown ? sleeps(s, s->last) : 0;
    for (uint32_t k = s->shown; k < s->n && !s->wall; k++)
        sum += s->suspended && k + 1 == s->n ? 0 : s->spent[k].child;
    return sum;
}

void gt_calls_stack_split(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out)
{
    gt_calls_stack_give_held(s, out, UINT32_MAX); /* the next stretch does not have them */
    for (uint32_t k = s->shown; k-- > 0;) {
        const struct gt_call_frame *f = &s->frame[k];
        const bool innermost = k + 1 == s->shown;
        uint64_t until = innermost ? shown_until(s, r, s->last) : f[1].begin;
        const uint64_t hidden = innermost ? slept_hidden(s) : 0;
        gt_calls_out_add(out, s,
                         &(struct gt_call){
                             .time = s->last,
                             .begin = f->begin,
                             .self = (int64_t)(until - f->begin - s->spent[k].child - hidden),
                             .slept = gt_calls_stack_slept(s, k, s->last),
                             .task = s->task,
                             .function = f->function,
                             .depth = k,
                             .kind = GT_CALL_SPLIT,
                             .flags = f->recursive ? GT_CALL_RECURSIVE : 0,
                         });
    }
}

void gt_calls_stack_settle(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                           struct gt_calls_out *out, const struct gt_calls_end *end)
{
    gt_calls_stack_show(s, r, out, end->until);
    while (s->n > s->shown)
        gt_calls_stack_pop(s, out, end->time, 0);
    gt_calls_stack_give_held(s, out, UINT32_MAX);
}

void gt_calls_stack_end(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                        struct gt_calls_out *out, const struct gt_calls_end *end)
{
    gt_calls_stack_settle(s, r, out, end);
    while (s->n > 0)
        gt_calls_stack_pop(s, out, end->time, end->flags);
}
