/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A task's records: see stack.h. Most are plain: an entry below what is open, or the exit of it,
 * inside a window that hides nothing. */
#include "analysis/calls/stack.h"

#include "analysis/calls/stack_frames.h"
#include "format/uftrace/uftrace.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* What records say of the depth. */
enum { DEPTHS = GT_UFTRACE_DEPTH_MASK + 1 };

/* The state of a pass over some records. */
struct taking {
    struct gt_calls_stack *s;
    const struct gt_calls_rules *r;
    const struct gt_calls_words *words;
    struct gt_calls_out *out;
};

/* ---- plain records ------------------------------------------------------------------------- */

/* Takes plain records up to the first that is not, at most `n`, and no more than there is room for;
 * returns how many. All frames are shown. */
static size_t take_plain(struct taking *t, const struct gt_compact_event *event, size_t n)
{
    struct gt_calls_stack *s = t->s;
    const uint32_t *function = t->words->function;
    struct gt_call_frame *frame = s->frame;
    uint64_t *child = s->child, last = s->last;
    const uint32_t base = s->base, task = s->task, part = s->part, room = s->room;
    uint32_t depth = s->n, low = depth;
    struct gt_call *call = t->out->call + t->out->n;
    size_t i = 0, most = GT_STACK_BATCH - t->out->n;
    for (n = n < most ? n : most; i < n; i++, call++) {
        const struct gt_compact_event e = event[i];
        const uint32_t f = function[e.sym >> 2];
        const uint64_t time = e.time > last ? e.time : last;
        uint32_t *seen = &s->seen[f & (GT_STACK_SEEN - 1)];
        if ((e.sym & 3) == GT_COMPACT_ENTRY) {
            if (e.depth != ((depth + base) & GT_UFTRACE_DEPTH_MASK) || f == NONE || depth == room)
                break;
            s->n = depth;
            const bool recursive = *seen && gt_calls_stack_has(s, f);
            ++*seen;
            frame[depth] = (struct gt_call_frame){time, f, recursive};
            child[depth] = 0;
            *call = (struct gt_call){.time = time,
                                     .begin = time,
                                     .task = task,
                                     .function = f,
                                     .depth = depth,
                                     .kind = GT_CALL_ENTRY,
                                     .flags = recursive ? GT_CALL_RECURSIVE : 0};
            depth++;
        } else if ((e.sym & 3) == GT_COMPACT_EXIT) {
            if (depth == 0 || e.depth != ((depth - 1 + base) & GT_UFTRACE_DEPTH_MASK) ||
                frame[depth - 1].function != f)
                break;
            const struct gt_call_frame *top = &frame[--depth];
            const uint64_t took = time - top->begin;
            --*seen;
            *call = (struct gt_call){
                .time = time,
                .begin = top->begin,
                .self = (int64_t)(took - child[depth]),
                .task = task,
                .function = f,
                .depth = depth,
                .kind = GT_CALL_EXIT,
                .flags = (uint8_t)((top->recursive ? GT_CALL_RECURSIVE : 0) |
                                   (depth < part && depth < low ? GT_CALL_PART : 0))};
            if (depth > 0)
                child[depth - 1] += took;
            low = low < depth ? low : depth;
        } else {
            break;
        }
        last = time;
    }
    s->n = s->shown = depth;
    s->last = last;
    s->part = part < low ? part : low;
    s->clipped = s->clipped < low ? s->clipped : low;
    t->out->n += i;
    if (t->out->n == GT_STACK_BATCH)
        gt_calls_out_flush(t->out, s);
    return i;
}

/* ---- any records --------------------------------------------------------------------------- */

/* How many frames fit the depth of a record: the nearest number, at most s->n. More than there are:
 * it is deeper than all. */
static uint32_t fitting(const struct gt_calls_stack *s, uint32_t depth)
{
    uint32_t back = (s->n + s->base - depth) & GT_UFTRACE_DEPTH_MASK;
    bool far = s->n + s->base >= DEPTHS && back > DEPTHS / 2;
    return back <= s->n && !far ? s->n - back : s->n;
}

static int take_entry(struct taking *t, uint32_t function, uint32_t depth, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    if (s->over > 0 || s->n == GT_STACK_MAX) {
        s->over++;
        return 0;
    }
    if (s->n == 0)
        s->base = depth;
    uint32_t fits = fitting(s, depth);
    s->odd += !s->lost && ((s->n + s->base) & GT_UFTRACE_DEPTH_MASK) != depth;
    while (s->n > fits)
        gt_calls_stack_pop(s, t->out, time, 0);
    if (!gt_calls_stack_grow(s))
        return GT_E_NOMEM;
    gt_calls_stack_push(s, function, time);
    if (s->started && t->r->min_time == 0)
        gt_calls_stack_show(s, t->r, t->out, time);
    return 0;
}

/* The frame is the nearest one of that depth, if it is of the function; those above it have ended
 * without a record. */
static void take_exit(struct taking *t, uint32_t function, uint32_t depth, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    if (s->over > 0) {
        s->over--;
        return;
    }
    uint32_t above = (s->n - 1 + s->base - depth) & GT_UFTRACE_DEPTH_MASK;
    if (s->n == 0)
        s->base = depth;
    if (above >= s->n || s->frame[s->n - 1 - above].function != function) {
        s->odd += !s->lost;
        return;
    }
    s->odd += !s->lost && above > 0;
    for (uint32_t n = s->n - 1 - above; s->n > n;)
        gt_calls_stack_pop(s, t->out, time, 0);
}

/* Room for a further event that waits; false: no memory, or too many. */
static bool hold(struct gt_calls_stack *s, const struct gt_calls_held *h)
{
    if (!s->held)
        s->held = malloc(GT_STACK_HELD * sizeof *s->held);
    if (!s->held || s->n_held == GT_STACK_HELD)
        return false;
    s->held[s->n_held++] = *h;
    return true;
}

static void give(struct taking *t, const struct gt_calls_held *h)
{
    struct gt_calls_stack *s = t->s;
    uint32_t within = gt_calls_stack_within(s, t->r);
    if (!s->started)
        return;
    if (s->shown < within && hold(s, h))
        return;
    if (s->shown < within) { /* rather show a short call than lose the order */
        struct gt_calls_rules all = *t->r;
        all.min_time = 0;
        gt_calls_stack_show(s, &all, t->out, h->time);
    }
    gt_calls_out_add(t->out, s,
                     &(struct gt_call){.time = h->time,
                                       .begin = h->begin,
                                       .self = h->self,
                                       .task = s->task,
                                       .function = h->function,
                                       .depth = s->shown,
                                       .kind = h->kind});
}

static void take_event(struct taking *t, uint64_t id, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    struct gt_calls_held h = {time, time, 0, (uint32_t)id, s->n, GT_CALL_EVENT};
    if (id == GT_UFTRACE_EV_SCHED_OUT && !s->suspended) {
        s->suspended = true;
        s->out = time;
    } else if (id == GT_UFTRACE_EV_SCHED_IN && (s->suspended || s->fresh)) {
        s->suspended = false;
        h.begin = s->out;
        h.self = (int64_t)(time - s->out);
        if (s->n > 0)
            s->child[s->n - 1] += time - s->out;
    } else if (id == t->r->lost_event && id != 0) {
        h.kind = GT_CALL_LOST;
        h.function = 0;
    }
    give(t, &h);
}

static int take_function(struct taking *t, const struct gt_compact_event *e, uint64_t address,
                         bool entry, uint32_t depth, uint64_t time)
{
    uint32_t number = e->sym >> 2;
    int status =
        t->words->function[number] == NONE ? t->words->resolve(t->words->self, number, address) : 0;
    if (status < 0)
        return status;
    uint32_t function = t->words->function[number];
    if (entry)
        status = take_entry(t, function, depth, time);
    else
        take_exit(t, function, depth, time);
    t->s->lost = false;
    return status;
}

/* A word that the packer found odd: whatever the record is. */
static int take_word(struct taking *t, const struct gt_compact_event *e, uint64_t word,
                     uint64_t time)
{
    uint64_t address = word >> 16;
    uint32_t depth = (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK;
    if ((word >> 2 & 15) != 5 << 1) { /* not its magic, or a payload that is not here */
        t->s->odd++;
        return 0;
    }
    switch (word & 3) {
    case GT_UFTRACE_LOST:
        t->s->lost = true;
        give(t, &(struct gt_calls_held){time, time, 0,
                                        address < UINT32_MAX ? (uint32_t)address : UINT32_MAX,
                                        t->s->n, GT_CALL_LOST});
        return 0;
    case GT_UFTRACE_EVENT:
        take_event(t, address, time);
        return 0;
    default:
        return take_function(t, e, address, (word & 3) == GT_UFTRACE_ENTRY, depth, time);
    }
}

static int take_any(struct taking *t, const struct gt_compact_event *e)
{
    struct gt_calls_stack *s = t->s;
    uint64_t time = e->time > s->last ? e->time : s->last;
    uint64_t word = t->words->word(t->words->self, e->sym >> 2);
    int status = 0;
    if (!s->started && time >= t->r->from)
        gt_calls_stack_start(s, t->r, t->out);
    if (time > t->r->to) {
        s->ended = true;
        return 0;
    }
    if (s->started && t->r->min_time)
        gt_calls_stack_show(s, t->r, t->out, time);
    s->last = time;
    switch (e->sym & 3) {
    case GT_COMPACT_EVENT:
        take_event(t, word, time);
        break;
    case GT_COMPACT_OTHER:
        status = take_word(t, e, word, time);
        break;
    default:
        status = take_function(t, e, word, (e->sym & 3) == GT_COMPACT_ENTRY, e->depth, time);
    }
    if (s->n_held)
        gt_calls_stack_release(s, t->r, t->out);
    s->fresh = false;
    return status;
}

int gt_calls_stack_take(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                        const struct gt_calls_words *words, struct gt_calls_out *out,
                        const struct gt_compact_event *event, size_t n)
{
    struct taking t = {s, r, words, out};
    const bool plain = r->plain && n > 0 && event[n - 1].time <= r->to;
    int status = 0;
    for (size_t i = 0; i < n && status == 0 && !s->ended;) {
        size_t taken = 0;
        if (plain && s->started && !s->lost && !s->over && !s->fresh)
            taken = take_plain(&t, event + i, n - i);
        if (taken == 0)
            status = take_any(&t, &event[i++]);
        i += taken;
        if (status == 0 && out->status != 0)
            status = out->status;
    }
    return status;
}
