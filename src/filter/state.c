/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which a call is decided is uftrace's: -F and -N, then -L, then depth= and trace-on
 * or -off, then -H and the depth. A call that one step refuses does not come to the next, so that
 * its triggers do nothing; but what a call must take (time=, -C) counts whatever the other filters
 * say, and a function that is too small (-Z) is as if it was not there.
 */
#include "filter/state.h"

#include "filter/occasion.h"
#include "filter/rule.h"

#include <stdlib.h>

enum frame_bit {
    INSIDE = 1,    /* -F: it or a caller */
    OUTSIDE = 2,   /* -N: it or a caller */
    INHERITED = 3, /* by callees */
    TAKEN = 4,     /* it is recorded, if it takes long enough */
    WRITTEN = 8,   /* its entry is in the recording */
    CALLER = 16,   /* -C: its callers are recorded */
    ALWAYS = 32,   /* however short */
    SMALL = 64,    /* too small */
    PASSES = 128,  /* -F, -N, -L */
    BY_CPU = 256,  /* GT_FILTER_HANDLER */
};

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
    s->depth = s->beyond = s->shown = 0;
    s->held = 1;
    s->switched = __atomic_load_n(&s->live->switched, __ATOMIC_RELAXED);
    s->on_since = 0;
}

static bool is_on(const struct gt_filter_state *s)
{
    return s->switched & 1;
}

/* Writes the entries that are held back, up to the one of that index. */
static void write_to(struct gt_filter_state *s, uint32_t last)
{
    for (; s->held <= last; s->held++) {
        struct gt_filter_frame *f = &s->frame[s->held];
        if ((f->bits & (TAKEN | WRITTEN)) != TAKEN)
            continue;
        f->bits |= WRITTEN;
        s->sink->enter(s->self, s->held - 1, s->shown++,
                       f->begin > s->on_since ? f->begin : s->on_since);
    }
}

/* True: a call that ended at this time would be recorded, and its callers. */
static bool suffices(const struct gt_filter_state *s, const struct gt_filter_frame *f,
                     uint64_t time)
{
    if (f->bits & (SMALL | ALWAYS))
        return !(f->bits & SMALL);
    return time - f->begin >= f->time && (!s->set->callers || f->bits & CALLER);
}

/* Writes what need not be held back any longer: entries of calls that have lasted long enough. */
static void write_due(struct gt_filter_state *s, uint64_t time)
{
    while (s->held <= s->depth) {
        const struct gt_filter_frame *f = &s->frame[s->held];
        if (f->bits & TAKEN && !suffices(s, f, time))
            return;
        write_to(s, s->held);
    }
}

/* The open calls that suffice by now, and their callers. */
static void write_sufficing(struct gt_filter_state *s, uint64_t time)
{
    uint32_t i = s->depth;
    while (i >= s->held && !suffices(s, &s->frame[i], time))
        i--;
    write_to(s, i);
}

/* Recording is off from now on: to its reader all open calls end here. */
static void switch_off(struct gt_filter_state *s, uint64_t time)
{
    write_sufficing(s, time);
    for (uint32_t i = s->depth; i > 0; i--) {
        if (s->frame[i].bits & WRITTEN)
            s->sink->leave(s->self, i - 1, --s->shown, time);
        s->frame[i].bits &= ~(uint32_t)WRITTEN;
    }
}

/* Recording is on from now on, and the open calls begin. */
static void switch_on(struct gt_filter_state *s, uint64_t time)
{
    s->on_since = time;
    s->held = 1;
    write_sufficing(s, time);
}

static void notice_switch(struct gt_filter_state *s, uint64_t time)
{
    uint32_t now = __atomic_load_n(&s->live->switched, __ATOMIC_RELAXED);
    bool was_on = is_on(s);
    if (now == s->switched)
        return;
    s->switched = now;
    if (was_on && !is_on(s))
        switch_off(s, time);
    else if (!was_on && is_on(s))
        switch_on(s, time);
}

/* The next frame's place; NULL: no memory. */
static struct gt_filter_frame *push(struct gt_filter_state *s)
{
    if (s->depth + 1 == s->room) {
        struct gt_filter_frame *larger = realloc(s->frame, 2 * s->room * sizeof *larger);
        if (!larger)
            return NULL;
        s->frame = larger;
        s->room *= 2;
    }
    return &s->frame[s->depth + 1];
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
    f->left -= is_on(s);
}

/* What the call is to have, and what its callers' frame hands on. */
static struct gt_filter_frame begin_frame(const struct gt_filter_state *s,
                                          const struct gt_filter_verdict *v, unsigned flags,
                                          uint64_t time)
{
    const struct gt_filter_frame *up = &s->frame[s->depth];
    struct gt_filter_frame f = {
        .begin = time,
        .time = v->bits & GT_VERDICT_TIME ? v->time : up->time,
        .left = up->left,
        .size = v->bits & GT_VERDICT_SIZE ? v->size : up->size,
        .bits = up->bits & INHERITED,
    };
    if (flags & GT_FILTER_HANDLER && s->set->no_handlers)
        f.bits |= OUTSIDE;
    if (v->own_size < f.size)
        f.bits |= SMALL;
    if (v->bits & GT_VERDICT_CALLERS)
        f.bits |= CALLER;
    if (v->bits & GT_VERDICT_TRACE)
        f.bits |= ALWAYS;
    if (flags & GT_FILTER_HANDLER)
        f.bits |= BY_CPU;
    return f;
}

void gt_filter_enter(struct gt_filter_state *s, const struct gt_filter_verdict *v, uint64_t call,
                     unsigned flags, uint64_t time)
{
    const struct gt_occasion met = {s, v, s->depth, time, 0, false};
    struct gt_filter_frame *place = s->beyond ? NULL : push(s);
    struct gt_filter_verdict merged;
    uint32_t fired = 0;
    if (!place) {
        s->beyond++;
        return;
    }
    notice_switch(s, time);
    if (v->rules) {
        fired = gt_occasion_meet(&met, &merged);
        v = &merged;
    }
    struct gt_filter_frame f = begin_frame(s, v, flags, time);
    f.verdict = met.v;
    f.call = call;
    f.fired = fired;
    if (passes(s->set, v, &f)) {
        if (v->bits & (GT_VERDICT_ON | GT_VERDICT_OFF)) {
            gt_filter_live_switch(s->live, v->bits & GT_VERDICT_ON);
            notice_switch(s, time);
        }
        decide(s, v, &f);
    }
    *place = f;
    s->depth++;
    bool acts = fired && gt_occasion_acts(&met, fired, f.bits & PASSES);
    if (is_on(s) && (acts || suffices(s, &f, time)))
        write_to(s, s->depth);
    else if (is_on(s))
        write_due(s, time);
    if (fired)
        gt_occasion_perform(&met, fired, f.bits & PASSES);
}

/* Decides the call of that frame anew; its triggers do nothing. */
static void decide_again(struct gt_filter_state *s, struct gt_filter_frame *place,
                         const struct gt_filter_verdict *v)
{
    unsigned flags = place->bits & BY_CPU ? GT_FILTER_HANDLER : 0;
    struct gt_filter_frame f = begin_frame(s, v, flags, place->begin);
    f.verdict = v;
    f.call = place->call;
    if (passes(s->set, v, &f))
        decide(s, v, &f);
    *place = f;
    s->depth++;
}

void gt_filter_state_replace(struct gt_filter_state *s, const struct gt_filter_set *set,
                             struct gt_filter_live *live, const struct gt_filter_who *who,
                             const struct gt_filter_verdict *(*verdict)(void *self, uint32_t depth),
                             uint64_t time)
{
    uint32_t open = s->depth;
    if (is_on(s))
        switch_off(s, time);
    s->set = set;
    s->live = live;
    s->switched = __atomic_load_n(&live->switched, __ATOMIC_RELAXED);
    set_bottom(s);
    gt_filter_state_task(s, who->name, who->id, who->pid);
    gt_filter_state_cpu(s, who->cpu);
    for (s->depth = 0; s->depth < open;)
        decide_again(s, &s->frame[s->depth + 1], verdict(s->self, s->depth));
    if (is_on(s))
        switch_on(s, time);
}

static void pop(struct gt_filter_state *s)
{
    s->depth--;
    if (s->held > s->depth + 1)
        s->held = s->depth + 1;
}

void gt_filter_leave(struct gt_filter_state *s, uint64_t time)
{
    if (s->beyond || !s->depth) {
        s->beyond -= s->beyond > 0;
        return;
    }
    if (is_on(s)) /* the other way it takes effect at the next call */
        notice_switch(s, time);
    const struct gt_filter_frame *f = &s->frame[s->depth];
    const struct gt_occasion left = {s, f->verdict, s->depth - 1, time, time - f->begin, true};
    bool passed = f->bits & PASSES;
    uint32_t fired = f->fired;
    if (f->verdict->rules && f->verdict->bits & GT_VERDICT_RETURNS)
        fired |= gt_occasion_meet(&left, NULL);
    if (is_on(s) && (suffices(s, f, time) || (fired && gt_occasion_acts(&left, fired, passed))))
        write_to(s, s->depth);
    if (f->bits & WRITTEN)
        s->sink->leave(s->self, s->depth - 1, --s->shown, time);
    pop(s);
    if (!fired)
        return;
    gt_occasion_perform(&left, fired, passed);
    if (is_on(s))
        notice_switch(s, time);
}

bool gt_filter_takes_event(struct gt_filter_state *s, uint64_t time)
{
    const struct gt_filter_frame *top = &s->frame[s->depth];
    if (is_on(s) || s->depth == 0) /* outside all calls nothing is entered again */
        notice_switch(s, time);
    if (!is_on(s) || !s->selected || top->bits & OUTSIDE || top->left == 0 ||
        (s->set->only && !(top->bits & INSIDE)))
        return false;
    write_due(s, time);
    return s->held > s->depth;
}

void gt_filter_until(struct gt_filter_state *s, uint64_t time)
{
    if (is_on(s))
        write_sufficing(s, time);
}

uint64_t gt_filter_held_since(const struct gt_filter_state *s)
{
    uint32_t i = s->held;
    while (i <= s->depth && (s->frame[i].bits & (TAKEN | WRITTEN)) != TAKEN)
        i++;
    if (i > s->depth || !is_on(s))
        return UINT64_MAX;
    return s->frame[i].begin > s->on_since ? s->frame[i].begin : s->on_since;
}

static bool is_scope(const struct gt_filter_scope *scope, const char *name, uint64_t id,
                     uint64_t pid)
{
    switch (scope->kind) {
    case GT_SCOPE_TASK:
        return (scope->numeric && scope->number == id) ||
               (name && gt_regex_match(scope->glob, name));
    case GT_SCOPE_PID:
        return scope->number == pid;
    default:
        return false;
    }
}

static void select_task(struct gt_filter_state *s)
{
    const struct gt_filter_set *set = s->set;
    s->selected =
        (!set->tasks || s->scopes & set->tasks) && (!set->vcpus || s->scopes & set->vcpus);
}

void gt_filter_state_task(struct gt_filter_state *s, const char *name, uint64_t id, uint64_t pid)
{
    for (size_t i = 0; i < s->set->n_scopes && i < GT_FILTER_SCOPES; i++) {
        const struct gt_filter_scope *scope = &s->set->scope[i];
        if (scope->kind == GT_SCOPE_CPU)
            continue;
        s->scopes &= ~(UINT64_C(1) << i);
        s->scopes |= (uint64_t)is_scope(scope, name, id, pid) << i;
    }
    select_task(s);
}

void gt_filter_state_cpu(struct gt_filter_state *s, uint64_t cpu)
{
    for (size_t i = 0; i < s->set->n_scopes && i < GT_FILTER_SCOPES; i++) {
        const struct gt_filter_scope *scope = &s->set->scope[i];
        if (scope->kind != GT_SCOPE_CPU)
            continue;
        s->scopes &= ~(UINT64_C(1) << i);
        s->scopes |= (uint64_t)(scope->number == cpu) << i;
    }
    select_task(s);
}
