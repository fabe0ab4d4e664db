/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One task's stack: see stack.h. Then its records. */
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

/* ---- records -------------------------------------------------------------------------------- */

#define NONE UINT32_MAX

enum { MAGIC = 5 };

/* The state of a pass over some records. */
struct taking {
    struct gt_calls_stack *s;
    const struct gt_calls_rules *r;
    const struct gt_calls_words *words;
    struct gt_calls_out *out;
    const struct gt_value_list *values; /* of the record; NULL: it has none */
};

/* ---- plain records ------------------------------------------------------------------------- */

/* What the loop over plain records keeps in registers. */
struct plain {
    struct gt_calls_stack *s;
    struct gt_call_frame *frame;
    struct gt_calls_spent *spent;
    uint64_t slept;
    uint32_t task, base, part, room;
    uint32_t depth, low; /* frames; the fewest since the loop began */
    uint64_t last;
};

GT_STACK_INLINE bool plain_entry(struct plain *p, uint32_t depth, uint32_t f, uint64_t time,
                                 struct gt_call *call)
{
    const uint32_t k = p->depth;
    uint32_t *seen = &p->s->seen[f & (GT_STACK_SEEN - 1)];
    if (((k + p->base - depth) & GT_UFTRACE_DEPTH_MASK) != 0 || f == NONE || k == p->room)
        return false;
    const bool recursive = *seen && gt_calls_stack_has(p->frame, k, f);
    ++*seen;
    p->frame[k] = (struct gt_call_frame){time, f, recursive};
    p->spent[k] = (struct gt_calls_spent){0, p->slept};
    p->depth = k + 1;
    *call = (struct gt_call){.time = time,
                             .begin = time,
                             .task = p->task,
                             .function = f,
                             .depth = k,
                             .kind = GT_CALL_ENTRY,
                             .flags = recursive ? GT_CALL_RECURSIVE : 0};
    return true;
}

GT_STACK_INLINE bool plain_exit(struct plain *p, uint32_t depth, uint32_t f, uint64_t time,
                                struct gt_call *call)
{
    const uint32_t k = p->depth - 1;
    if (p->depth == 0 || ((k + p->base - depth) & GT_UFTRACE_DEPTH_MASK) != 0 ||
        p->frame[k].function != f)
        return false;
    const struct gt_call_frame top = p->frame[k];
    const uint64_t took = time - top.begin;
    --p->s->seen[f & (GT_STACK_SEEN - 1)];
    *call = (struct gt_call){.time = time,
                             .begin = top.begin,
                             .self = (int64_t)(took - p->spent[k].child),
                             .slept = p->slept - p->spent[k].slept,
                             .task = p->task,
                             .function = f,
                             .depth = k,
                             .kind = GT_CALL_EXIT,
                             .flags = (uint8_t)((top.recursive ? GT_CALL_RECURSIVE : 0) |
                                                (k < p->part && k < p->low ? GT_CALL_PART : 0))};
    if (k > 0)
        p->spent[k - 1].child += took;
    p->depth = k;
    p->low = p->low < k ? p->low : k;
    return true;
}

/* Takes plain records up to the first that is not, at most `n`, and no more than there is room for;
 * returns how many. All frames are shown; or, `quiet`, none are, up to the window. */
GT_STACK_INLINE size_t take_some(struct taking *t, const struct gt_compact_event *event, size_t n,
                                 bool quiet)
{
    struct gt_calls_stack *s = t->s;
    const uint32_t *function = t->words->function;
    struct plain p = {s,       s->frame, s->spent, s->slept, s->task, s->base,
                      s->part, s->room,  s->n,     s->n,     s->last};
    struct gt_call unseen, *call = quiet ? &unseen : t->out->call + t->out->n;
    size_t i = 0, most = GT_STACK_BATCH - t->out->n;
    for (n = n < most ? n : most; i < n; i++) {
        const struct gt_compact_event e = event[i];
        const uint64_t time = e.time > p.last ? e.time : p.last;
        const uint32_t f = function[e.sym >> 2];
        if (quiet && time >= t->r->from)
            break;
        if ((e.sym & 3) == GT_COMPACT_ENTRY
                ? !plain_entry(&p, e.depth, f, time, call)
                : (e.sym & 3) != GT_COMPACT_EXIT || !plain_exit(&p, e.depth, f, time, call))
            break;
        p.last = time;
        call += !quiet;
    }
    s->n = p.depth;
    s->last = p.last;
    if (quiet)
        return i;
    s->shown = p.depth;
    s->part = s->part < p.low ? s->part : p.low;
    s->clipped = s->clipped < p.low ? s->clipped : p.low;
    t->out->n += i;
    if (t->out->n == GT_STACK_BATCH)
        gt_calls_out_flush(t->out, s);
    return i;
}

static size_t take_plain(struct taking *t, const struct gt_compact_event *event, size_t n)
{
    return take_some(t, event, n, false);
}

static size_t take_quiet(struct taking *t, const struct gt_compact_event *event, size_t n)
{
    return take_some(t, event, n, true);
}

/* ---- any records --------------------------------------------------------------------------- */

static int enter(struct taking *t, uint32_t function, uint64_t time)
{
    if (!gt_calls_stack_grow(t->s))
        return GT_E_NOMEM;
    gt_calls_stack_push(t->s, function, time);
    if (t->values && t->s->started)
        gt_call_values_set(&t->s->values, t->s->n - 1, t->values);
    if (t->s->started && t->r->min_time == 0)
        gt_calls_stack_show(t->s, t->r, t->out, time);
    return 0;
}

static int take_entry(struct taking *t, uint32_t function, uint32_t depth, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    if (s->over > 0 || s->n == GT_STACK_MAX) {
        s->over++;
        return 0;
    }
    gt_calls_stack_fit(s, t->out, depth, time);
    return enter(t, function, time);
}

/* An exit while nothing is open: a forked child returns from what its parent had called. */
static int take_return(struct taking *t, uint32_t function, uint32_t depth, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    s->base = depth;
    s->odd += !s->forked && !s->unsure;
    int status = s->forked ? enter(t, function, time) : 0;
    if (s->n > 0)
        gt_calls_stack_pop(s, t->out, time, 0);
    return status;
}

/* The frame is the nearest one of that depth, if it is of the function; those above it have ended
 * without a record. */
static int take_exit(struct taking *t, uint32_t function, uint32_t depth, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    if (s->over > 0) {
        s->over--;
        return 0;
    }
    if (s->n == 0)
        return take_return(t, function, depth, time);
    uint32_t above = (s->n - 1 + s->base - depth) & GT_UFTRACE_DEPTH_MASK;
    if (above >= s->n || s->frame[s->n - 1 - above].function != function) {
        s->odd += !s->unsure;
        return 0;
    }
    s->odd += !s->unsure && above > 0;
    const bool shown = s->n - 1 - above < s->shown;
    for (uint32_t n = s->n - 1 - above; s->n > n;)
        gt_calls_stack_pop(s, t->out, time, 0);
    if (shown)
        gt_calls_out_add_values(t->out, s, t->values);
    return 0;
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
                                       .begin = h->time,
                                       .task = s->task,
                                       .function = h->function,
                                       .depth = s->shown,
                                       .kind = h->kind});
}

/* A suspended task is in GT_CALLS_SCHEDULE. */
static int suspend(struct taking *t, uint64_t time, uint32_t function)
{
    struct gt_calls_stack *s = t->s;
    if (s->suspended || s->over > 0) {
        s->odd++;
        return 0;
    }
    s->suspended = true;
    return enter(t, function, time);
}

static void resume(struct taking *t, uint64_t time)
{
    if (t->s->suspended && t->s->n > 0)
        gt_calls_stack_pop(t->s, t->out, time, 0);
    t->s->suspended = false;
}

static int take_event(struct taking *t, uint64_t id, uint64_t time)
{
    struct gt_calls_held h = {time, (uint32_t)id, t->s->n, GT_CALL_EVENT};
    if (id == GT_UFTRACE_EV_SCHED_OUT)
        return suspend(t, time, GT_CALLS_SCHEDULE);
    if (id == GT_UFTRACE_EV_SCHED_IN) {
        resume(t, time);
        return 0;
    }
    if (id == t->r->lost_event && id != 0) {
        h.kind = GT_CALL_LOST;
        h.function = 0;
    } else if (id >= GT_UFTRACE_EV_VCPU && id - GT_UFTRACE_EV_VCPU < t->r->n_vcpus) {
        h.kind = GT_CALL_VCPU;
        h.function = (uint32_t)id - GT_UFTRACE_EV_VCPU;
    }
    give(t, &h);
    return 0;
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
    if (t->s->suspended) { /* its event is missing */
        t->s->odd++;
        resume(t, time);
    }
    status = entry ? take_entry(t, function, depth, time) : take_exit(t, function, depth, time);
    t->s->unsure = false;
    return status;
}

/* A word that the packer found odd: whatever the record is. */
static int take_word(struct taking *t, const struct gt_compact_event *e, uint64_t word,
                     uint64_t time)
{
    uint64_t address = word >> 16;
    uint32_t depth = (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK;
    if ((word >> 3 & 7) != MAGIC) {
        t->s->odd++;
        return 0;
    }
    if (word >> 2 & 1) /* where its values end is not known */
        return GT_E_UNSUPPORTED;
    switch (word & 3) {
    case GT_UFTRACE_LOST:
        t->s->unsure = true;
        give(t, &(struct gt_calls_held){time, address < UINT32_MAX ? (uint32_t)address : UINT32_MAX,
                                        t->s->n, GT_CALL_LOST});
        return 0;
    case GT_UFTRACE_EVENT:
        return take_event(t, address, time);
    default:
        return take_function(t, e, address, (word & 3) == GT_UFTRACE_ENTRY, depth, time);
    }
}

/* Something happens at a time: shows what comes before. False: the window has ended. */
static bool arrive(struct taking *t, uint64_t time)
{
    struct gt_calls_stack *s = t->s;
    if (!s->started && time >= t->r->from)
        gt_calls_stack_start(s, t->r, t->out);
    if (time > t->r->to) {
        s->ended = true;
        return false;
    }
    if (s->started && t->r->min_time)
        gt_calls_stack_show(s, t->r, t->out, time);
    s->last = time;
    return true;
}

int gt_calls_stack_switch(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out, uint64_t time, uint32_t function)
{
    struct taking t = {s, r, NULL, out, NULL};
    time = time > s->last ? time : s->last;
    if (s->ended || !arrive(&t, time))
        return 0;
    if (function != UINT32_MAX)
        return suspend(&t, time, function);
    resume(&t, time);
    return 0;
}

static int take_any(struct taking *t, const struct gt_compact_event *e)
{
    struct gt_calls_stack *s = t->s;
    uint64_t time = e->time > s->last ? e->time : s->last;
    uint64_t word = t->words->word(t->words->self, e->sym >> 2);
    int status = 0;
    if (!arrive(t, time))
        return 0;
    switch (e->sym & 3) {
    case GT_COMPACT_EVENT:
        status = take_event(t, word, time);
        break;
    case GT_COMPACT_OTHER:
        status = take_word(t, e, word, time);
        break;
    default:
        status = take_function(t, e, word, (e->sym & 3) == GT_COMPACT_ENTRY,
                               e->depth & GT_UFTRACE_DEPTH_MASK, time);
    }
    if (s->n_held)
        gt_calls_stack_release(s, t->r, t->out);
    return status;
}

int gt_calls_stack_take(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                        const struct gt_calls_words *words, struct gt_calls_out *out,
                        const struct gt_compact_event *event, size_t n)
{
    struct taking t = {s, r, words, out, NULL};
    const bool plain = r->plain && n > 0 && event[n - 1].time <= r->to;
    int status = 0;
    for (size_t i = 0; i < n && status == 0 && !s->ended;) {
        size_t taken = 0;
        if (!s->unsure && !s->over)
            taken = !s->started ? take_quiet(&t, event + i, n - i)
                    : plain     ? take_plain(&t, event + i, n - i)
                                : 0;
        if (taken == 0)
            status = take_any(&t, &event[i++]);
        i += taken;
        if (status == 0 && out->status != 0)
            status = out->status;
    }
    return status;
}

int gt_calls_stack_take_valued(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                               const struct gt_calls_words *words, struct gt_calls_out *out,
                               const struct gt_compact_event *event,
                               const struct gt_value_list *values)
{
    struct taking t = {s, r, words, out, values};
    if (s->ended)
        return 0;
    int flushed = gt_calls_out_flush(out, s); /* the values are the last call's */
    int status = take_any(&t, event);
    return status < 0 ? status : flushed;
}
