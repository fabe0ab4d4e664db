/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which a call is decided is uftrace's: -F and -N, then -L, then depth= and trace-on
 * or -off, then -H and the depth. A call that one step refuses does not come to the next, so that
 * its triggers do nothing; but what a call must take (time=, -C) counts whatever the other filters
 * say, and a function that is too small (-Z) is as if it was not there.
 */
#include "filter/state.h"

#include "filter/held.h"
#include "filter/occasion.h"
#include "filter/rule.h"

#include <stdlib.h>

/* True: calls whose functions are not mentioned are not recorded here. */
static bool skips(const struct gt_filter_state *s)
{
    const struct gt_filter_frame *up = &s->frame[s->n];
    return !s->beyond && (up->bits & OUTSIDE || (s->set->only && !(up->bits & INSIDE)) ||
                          up->left == 0 || !s->selected || s->set->places);
}

/* What the outermost call has from the set. */
static void set_bottom(struct gt_filter_state *s)
{
    const struct gt_filter_set *set = s->set;
    s->frame[0] =
        (struct gt_filter_frame){.left = set->depth, .time = set->time, .size = set->size};
    s->scopes = 0;
    s->selected = !set->tasks && !set->vcpus;
}

int gt_filter_state_init(struct gt_filter_state *s, const struct gt_filter_set *set,
                         struct gt_filter_live *live, const struct gt_filter_sink *sink, void *self)
{
    enum { FIRST = 64 };
    *s = (struct gt_filter_state){
        .set = set, .live = live, .sink = sink, .self = self, .room = FIRST};
    s->frame = calloc(FIRST, sizeof *s->frame);
    if (!s->frame)
        return GT_E_NOMEM;
    set_bottom(s);
    gt_filter_state_reset(s);
    return 0;
}

void gt_filter_state_finish(struct gt_filter_state *s)
{
    free(s->frame);
    s->frame = NULL;
}

void gt_filter_state_reset(struct gt_filter_state *s)
{
    s->n = s->depth = s->skipped = s->beyond = s->shown = 0;
    s->suspended = s->asleep = false;
    s->skips = skips(s);
    s->held = 1;
    s->switched = __atomic_load_n(&s->live->switched, __ATOMIC_RELAXED);
    s->on_since = 0;
}

/* The next frame's place; NULL: no memory. */
static struct gt_filter_frame *push(struct gt_filter_state *s)
{
    if (s->n + 1 == s->room) {
        struct gt_filter_frame *larger = realloc(s->frame, 2 * s->room * sizeof *larger);
        if (!larger)
            return NULL;
        s->frame = larger;
        s->room *= 2;
    }
    return &s->frame[s->n + 1];
}

/* Whether the call passes -F, -N and -L. Sets what its callees inherit. */
static bool passes(const struct gt_filter_set *set, const struct gt_filter_verdict *v,
                   struct gt_filter_frame *f)
{
    if (f->bits & (OUTSIDE | SMALL))
        return false;
    if (v->bits & GT_VERDICT_ONLY) {
        f->bits |= INSIDE;
        f->left = set->depth;
    } else if (v->bits & GT_VERDICT_NOT) {
        f->bits |= OUTSIDE;
        return false;
    }
    return (f->bits & INSIDE || !set->only) && !(v->bits & GT_VERDICT_NO_PLACE) &&
           (v->bits & GT_VERDICT_PLACE || !set->places);
}

/* Decides a call of which -F, -N and -L have nothing against: -H and the depth. While recording is
 * off it takes nothing of the depth, which counts from where that is on. */
static void decide(struct gt_filter_state *s, const struct gt_filter_verdict *v,
                   struct gt_filter_frame *f)
{
    f->bits |= PASSES;
    if (v->bits & GT_VERDICT_DEPTH)
        f->left = v->depth;
    if (f->left == 0 || v->bits & (GT_VERDICT_HIDE | GT_VERDICT_UNSELECTED) || !s->selected)
        return;
    f->bits |= TAKEN;
    f->left -= gt_filter_held_is_on(s);
}

/* Sets the frame above the innermost one: what the call is to have, and what its callers' frame
 * hands on. In its place: a copy of words just written waits for them. */
static void begin_frame(const struct gt_filter_state *s, struct gt_filter_frame *f,
                        const struct gt_filter_verdict *v, unsigned flags, uint64_t time)
{
    const struct gt_filter_frame *up = &s->frame[s->n];
    uint32_t bits = up->bits & INHERITED;
    f->begin = time;
    f->time = v->bits & GT_VERDICT_TIME ? v->time : up->time;
    f->left = up->left;
    f->size = v->bits & GT_VERDICT_SIZE ? v->size : up->size;
    if (flags & GT_FILTER_HANDLER && s->set->no_handlers)
        bits |= OUTSIDE;
    if (v->own_size < f->size)
        bits |= SMALL;
    if (v->bits & GT_VERDICT_CALLERS)
        bits |= CALLER;
    if (v->bits & GT_VERDICT_TRACE)
        bits |= ALWAYS;
    f->bits = bits;
}

/* What a verdict can have so that a call which is not recorded changes nothing for its callees. */
enum { QUIET = GT_VERDICT_HIDE | GT_VERDICT_PLACE | GT_VERDICT_NO_PLACE | GT_VERDICT_UNSELECTED };

/* True: the call is not recorded, and as if it was not there to its callees. Only calls that others
 * leave out, too, are so: no -F around it, inside a -N, deeper than -D. */
static bool is_skipped(const struct gt_filter_state *s, const struct gt_filter_verdict *v,
                       unsigned flags)
{
    if (v->bits & ~(uint32_t)QUIET || flags || s->beyond)
        return false;
    return v->bits & (GT_VERDICT_HIDE | GT_VERDICT_NO_PLACE | GT_VERDICT_UNSELECTED) ||
           (s->skips && !(v->bits & GT_VERDICT_PLACE && s->set->places));
}

void gt_filter_enter(struct gt_filter_state *s, const struct gt_filter_verdict *v, uint64_t call,
                     unsigned flags, uint64_t time)
{
    gt_filter_held_notice_switch(s, time);
    if (is_skipped(s, v, flags)) {
        s->skipped++;
        s->depth++;
        return;
    }
    const struct gt_filter_occasion met = {s, v, s->depth, time, 0, false};
    struct gt_filter_frame *f = s->beyond ? NULL : push(s);
    struct gt_filter_verdict merged;
    uint32_t fired = 0;
    if (!f) {
        s->beyond++;
        return;
    }
    if (v->rules) {
        fired = gt_filter_occasion_meet(&met, &merged);
        v = &merged;
    }
    begin_frame(s, f, v, flags, time);
    f->verdict = met.v;
    f->call = call;
    f->fired = fired;
    f->depth = s->depth;
    f->skipped = s->skipped;
    if (passes(s->set, v, f)) {
        if (v->bits & (GT_VERDICT_ON | GT_VERDICT_OFF)) {
            gt_filter_live_switch(s->live, v->bits & GT_VERDICT_ON);
            gt_filter_held_notice_switch(s, time);
        }
        decide(s, v, f);
    }
    s->n++;
    s->depth++;
    s->skipped = 0;
    s->skips = skips(s);
    bool acts = fired && gt_filter_occasion_acts(&met, fired, f->bits & PASSES);
    if (gt_filter_held_is_on(s) && (acts || gt_filter_held_suffices(s, f, time)))
        gt_filter_held_write_to(s, s->n);
    else if (gt_filter_held_is_on(s))
        gt_filter_held_write_due(s, time);
    if (fired)
        gt_filter_occasion_perform(&met, fired, f->bits & PASSES);
}

/* Decides an open call anew; its triggers do nothing. */
static void decide_again(struct gt_filter_state *s, const struct gt_filter_open *open,
                         uint64_t begin)
{
    struct gt_filter_frame *f = &s->frame[s->n + 1];
    begin_frame(s, f, open->verdict, open->flags, begin);
    f->verdict = open->verdict;
    f->call = open->call;
    f->fired = f->skipped = 0;
    f->depth = s->n;
    if (passes(s->set, open->verdict, f))
        decide(s, open->verdict, f);
    s->n++;
}

/* When the open call of that depth began, where the old set kept that; else now. *old: the frame at
 * or above it. */
static uint64_t begin_of(const struct gt_filter_frame *old, size_t n, size_t *at, uint32_t depth,
                         uint64_t now)
{
    while (*at < n && old[*at].depth < depth)
        ++*at;
    return *at < n && old[*at].depth == depth ? old[*at].begin : now;
}

int gt_filter_state_replace(struct gt_filter_state *s, const struct gt_filter_set *set,
                            struct gt_filter_live *live, const struct gt_filter_who *who,
                            void (*open)(void *self, uint32_t depth, struct gt_filter_open *out),
                            uint64_t time)
{
    size_t n = s->n, at = 0, room = s->depth + 2u > s->room ? s->depth + 2u : s->room;
    struct gt_filter_frame *old = s->frame, *frames = calloc(room, sizeof *frames);
    if (!frames)
        return GT_E_NOMEM;
    if (gt_filter_held_is_on(s))
        gt_filter_held_switch_off(s, time);
    s->frame = frames;
    s->room = room;
    s->set = set;
    s->live = live;
    s->switched = __atomic_load_n(&live->switched, __ATOMIC_RELAXED);
    set_bottom(s);
    gt_filter_state_task(s, who->name, who->id, who->pid);
    gt_filter_state_cpu(s, who->cpu);
    s->n = s->skipped = 0;
    while (s->n < s->depth) {
        struct gt_filter_open call;
        open(s->self, s->n, &call);
        decide_again(s, &call, begin_of(old + 1, n, &at, s->n, time));
    }
    s->skips = skips(s);
    free(old);
    if (gt_filter_held_is_on(s))
        gt_filter_held_switch_on(s, time);
    return 0;
}

static void pop(struct gt_filter_state *s)
{
    s->depth--;
    s->skipped = s->frame[s->n--].skipped;
    s->skips = skips(s);
    if (s->held > s->n + 1)
        s->held = s->n + 1;
}

static void write_exit(struct gt_filter_state *s, const struct gt_filter_frame *f, bool acts,
                       uint64_t time)
{
    if (gt_filter_held_is_on(s) && (acts || gt_filter_held_suffices(s, f, time)))
        gt_filter_held_write_to(s, s->n);
    if (f->bits & WRITTEN)
        s->sink->leave(s->self, f, --s->shown, time);
    else
        gt_filter_held_hand_down(s, s->n);
    pop(s);
}

/* The call of a function that has triggers. */
static __attribute__((noinline)) void leave_by_rules(struct gt_filter_state *s,
                                                     const struct gt_filter_frame *f, uint64_t time)
{
    const struct gt_filter_occasion left = {s, f->verdict, f->depth, time, time - f->begin, true};
    bool passed = f->bits & PASSES;
    uint32_t fired = f->fired;
    if (f->verdict->bits & GT_VERDICT_RETURNS)
        fired |= gt_filter_occasion_meet(&left, NULL);
    write_exit(s, f, fired && gt_filter_occasion_acts(&left, fired, passed), time);
    if (!fired)
        return;
    gt_filter_occasion_perform(&left, fired, passed);
    if (gt_filter_held_is_on(s))
        gt_filter_held_notice_switch(s, time);
}

void gt_filter_leave(struct gt_filter_state *s, uint64_t time)
{
    if (s->skipped) {
        s->skipped--;
        s->depth--;
        if (gt_filter_held_is_on(s))
            gt_filter_held_notice_switch(s, time);
        return;
    }
    if (s->beyond || !s->n) {
        s->beyond -= s->beyond > 0;
        return;
    }
    if (gt_filter_held_is_on(s)) /* the other way it takes effect at the next call */
        gt_filter_held_notice_switch(s, time);
    const struct gt_filter_frame *f = &s->frame[s->n];
    if (f->fired || f->verdict->bits & GT_VERDICT_RETURNS)
        leave_by_rules(s, f, time);
    else
        write_exit(s, f, false, time);
}
