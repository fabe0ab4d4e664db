/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries that are held back until it is known whether they are recorded: see held.h. */
#include "filter/held.h"

static void write_sleep(struct gt_filter_state *s, uint64_t at, uint64_t length)
{
    s->sink->suspended(s->self, s->shown, at);
    s->sink->resumed(s->self, s->shown, at + length);
}

void gt_filter_held_write_to(struct gt_filter_state *s, uint32_t last)
{
    for (; s->held <= last; s->held++) {
        struct gt_filter_frame *f = &s->frame[s->held];
        if ((f->bits & (TAKEN | WRITTEN)) != TAKEN)
            continue;
        f->bits |= WRITTEN;
        s->sink->enter(s->self, f, s->shown++, f->begin > s->on_since ? f->begin : s->on_since);
        if (f->bits & SLEPT)
            write_sleep(s, f->slept_at, f->slept);
        f->bits &= ~(uint32_t)SLEPT;
    }
}

void gt_filter_held_sleep(struct gt_filter_state *s, uint32_t i, uint64_t at, uint64_t length)
{
    while (i > 0 && !(s->frame[i].bits & (TAKEN | WRITTEN)))
        i--;
    struct gt_filter_frame *f = &s->frame[i];
    if (i == 0)
        return;
    if (f->bits & WRITTEN) {
        write_sleep(s, at, length);
        return;
    }
    if (!(f->bits & SLEPT)) {
        f->slept_at = at;
        f->slept = 0;
    }
    f->bits |= SLEPT;
    f->slept += length;
}

void gt_filter_held_write_due(struct gt_filter_state *s, uint64_t time)
{
    while (s->held <= s->n) {
        const struct gt_filter_frame *f = &s->frame[s->held];
        if (f->bits & TAKEN && !gt_filter_held_suffices(s, f, time))
            return;
        gt_filter_held_write_to(s, s->held);
    }
}

/* The open calls that suffice by now, and their callers. */
static void write_sufficing(struct gt_filter_state *s, uint64_t time)
{
    uint32_t i = s->n;
    while (i >= s->held && !gt_filter_held_suffices(s, &s->frame[i], time))
        i--;
    gt_filter_held_write_to(s, i);
}

void gt_filter_held_switch_off(struct gt_filter_state *s, uint64_t time)
{
    write_sufficing(s, time);
    if (s->shown && s->sink->ends)
        s->sink->ends(s->self, s->shown, time);
    for (uint32_t i = s->n; i > 0; i--) {
        gt_filter_held_hand_down(s, i);
        if (s->frame[i].bits & WRITTEN)
            s->sink->leave(s->self, &s->frame[i], --s->shown, time);
        s->frame[i].bits &= ~(uint32_t)WRITTEN;
    }
}

void gt_filter_held_switch_on(struct gt_filter_state *s, uint64_t time)
{
    s->on_since = time;
    s->held = 1;
    write_sufficing(s, time);
}

void gt_filter_held_switch(struct gt_filter_state *s, uint32_t now, uint64_t time)
{
    bool was_on = gt_filter_held_is_on(s);
    s->switched = now;
    if (was_on && !gt_filter_held_is_on(s))
        gt_filter_held_switch_off(s, time);
    else if (!was_on && gt_filter_held_is_on(s))
        gt_filter_held_switch_on(s, time);
}

bool gt_filter_is_recorded(const struct gt_filter_frame *f)
{
    return f->bits & WRITTEN;
}

/* True: a call would be recorded here. */
static bool is_open(const struct gt_filter_state *s)
{
    const struct gt_filter_frame *top = &s->frame[s->n];
    return s->selected && !(top->bits & OUTSIDE) && top->left > 0 &&
           (!s->set->only || top->bits & INSIDE);
}

static void notice_switch(struct gt_filter_state *s, uint64_t time)
{
    if (gt_filter_held_is_on(s) || s->depth == 0) /* outside all calls nothing is entered again */
        gt_filter_held_notice_switch(s, time);
}

bool gt_filter_takes_event(struct gt_filter_state *s, uint64_t time)
{
    notice_switch(s, time);
    if (!gt_filter_held_is_on(s) || !is_open(s))
        return false;
    gt_filter_held_write_due(s, time);
    return s->held > s->n;
}

/* True: a suspension that begins now is written at once. */
static bool takes_sleep(struct gt_filter_state *s, uint64_t time)
{
    notice_switch(s, time);
    if (!gt_filter_held_is_on(s))
        return false;
    gt_filter_held_write_due(s, time);
    return s->held > s->n && (s->shown || is_open(s));
}

void gt_filter_suspend(struct gt_filter_state *s, uint64_t time)
{
    s->suspended_at = time;
    s->suspended = takes_sleep(s, time);
    s->asleep = !s->suspended;
    if (s->suspended)
        s->sink->suspended(s->self, s->shown, time);
}

/* The task resumes from a suspension that was held back. */
static void wake(struct gt_filter_state *s, uint64_t time)
{
    notice_switch(s, time);
    if (!gt_filter_held_is_on(s))
        return;
    write_sufficing(s, time);
    uint64_t from = s->suspended_at > s->on_since ? s->suspended_at : s->on_since;
    if (from < time)
        gt_filter_held_sleep(s, s->n, from, time - from);
}

void gt_filter_resume(struct gt_filter_state *s, uint64_t time)
{
    if (s->suspended)
        s->sink->resumed(s->self, s->shown, time);
    else if (s->asleep)
        wake(s, time);
    s->suspended = s->asleep = false;
}

void gt_filter_until(struct gt_filter_state *s, uint64_t time)
{
    if (gt_filter_held_is_on(s))
        write_sufficing(s, time);
    if (s->asleep)
        gt_filter_suspend(s, s->suspended_at);
}

uint64_t gt_filter_held_since(const struct gt_filter_state *s)
{
    uint32_t i = s->held;
    while (i <= s->n && (s->frame[i].bits & (TAKEN | WRITTEN)) != TAKEN)
        i++;
    if (i > s->n || !gt_filter_held_is_on(s))
        return UINT64_MAX;
    return s->frame[i].begin > s->on_since ? s->frame[i].begin : s->on_since;
}
