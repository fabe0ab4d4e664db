/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From records to stacks: see feed.h. */
#include "calls/read/feed.h"

#include "base/array.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

bool gt_calls_feed_init(struct gt_calls_feed *f)
{
    f->n_spaces = gt_calls_spaces_count(f->c->spaces);
    f->function = calloc(f->n_spaces + 1, sizeof *f->function);
    f->room = calloc(f->n_spaces + 1, sizeof *f->room);
    f->frames = g_array_new(FALSE, FALSE, sizeof(struct gt_call_frame));
    return f->function && f->room;
}

void gt_calls_feed_finish(struct gt_calls_feed *f)
{
    for (size_t i = 0; f->function && i < f->n_spaces; i++)
        free(f->function[i]);
    free(f->function);
    free(f->room);
    if (f->frames)
        g_array_free(f->frames, TRUE);
}

void gt_calls_feed_clear(struct gt_calls_feed *f)
{
    for (size_t i = 0; i < f->n_spaces; i++)
        if (f->room[i] > 0)
            memset(f->function[i], 0xff, f->room[i] * sizeof **f->function);
}

/* Room for all numbers. */
static bool make_room(struct gt_calls_feed *f, uint32_t space)
{
    size_t room = f->room[space];
    if (!GT_ARRAY_GROW(&f->function[space], &f->room[space], f->n_words))
        return false;
    memset(f->function[space] + room, 0xff, (f->room[space] - room) * sizeof(uint32_t));
    return true;
}

uint32_t gt_calls_feed_function(struct gt_calls_feed *f, uint32_t space, uint32_t number,
                                uint64_t address)
{
    if (!make_room(f, space))
        return UINT32_MAX;
    uint32_t *function = &f->function[space][number];
    if (*function != UINT32_MAX)
        return *function;
    const uint32_t found = gt_calls_spaces_resolve(f->c->spaces, space, address);
    *function = found != UINT32_MAX && f->number ? f->number(f->self, f, address, found) : found;
    return *function;
}

static int resolve(void *self, uint32_t number, uint64_t address)
{
    struct gt_calls_feed *f = self;
    return gt_calls_feed_function(f, f->space, number, address) == UINT32_MAX ? GT_E_NOMEM : 0;
}

static uint64_t word(const void *self, uint32_t number)
{
    const struct gt_calls_feed *f = self;
    return f->word(f->words_self, number);
}

void gt_calls_feed_inherit(struct gt_calls_feed *f, struct gt_calls_opening *o, uint32_t space,
                           uint64_t time, uint64_t word)
{
    const uint32_t depth = (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK;
    const bool exits = (word & 3) == GT_UFTRACE_EXIT;
    const size_t n = depth + exits;
    if ((word & 3) > GT_UFTRACE_EXIT || n == 0 || !f->c->inherited)
        return;
    uint32_t function =
        exits ? gt_calls_spaces_resolve(f->c->spaces, space, word >> 16) : UINT32_MAX;
    const GArray *from = f->c->inherited(f->c, o->task, n, function);
    if (from->len != n)
        return;
    g_array_set_size(f->frames, 0);
    for (size_t i = 0; i < n; i++) {
        const struct gt_call_frame frame = {time, g_array_index(from, uint32_t, i), false};
        g_array_append_val(f->frames, frame);
    }
    o->frame = (const struct gt_call_frame *)(const void *)f->frames->data;
    o->n = n;
    o->time = time;
    o->enters = true;
}

/* ---- suspended tasks ----------------------------------------------------------------------- */

static const struct gt_calls_tasks_switch *switch_of(const struct gt_calls_feed *f,
                                                     const struct gt_calls_lane *lane, guint i)
{
    const GArray *s = gt_calls_tasks_at(&f->c->tasks, lane->task)->switches;
    return s && i < s->len ? &g_array_index(s, struct gt_calls_tasks_switch, i) : NULL;
}

static void note_next(const struct gt_calls_feed *f, struct gt_calls_lane *lane)
{
    const struct gt_calls_tasks_switch *next = switch_of(f, lane, lane->next);
    lane->next_switch = next ? next->time : NEVER;
}

static uint32_t function_of(const struct gt_calls_tasks_switch *s)
{
    return !s->out ? UINT32_MAX : s->preempted ? GT_CALLS_PREEMPTED : GT_CALLS_SCHEDULE;
}

static int take_switch(struct gt_calls_feed *f, struct gt_calls_lane *lane)
{
    const struct gt_calls_tasks_switch *s = switch_of(f, lane, lane->next);
    lane->next++;
    note_next(f, lane);
    if (s->out && lane->stack->n == 0) /* outside of calls it does not matter */
        return 0;
    return gt_calls_stack_switch(lane->stack, f->rules, f->out, s->time, function_of(s));
}

void gt_calls_feed_open(struct gt_calls_feed *f, struct gt_calls_lane *lane, uint64_t first,
                        uint64_t time)
{
    const GArray *s = gt_calls_tasks_at(&f->c->tasks, lane->task)->switches;
    lane->space = gt_calls_tasks_space(&f->c->tasks, f->c->spaces, lane->task, first, &lane->until);
    lane->next = s ? (guint)GT_SEARCH_UP_TO((struct gt_calls_tasks_switch *)(void *)s->data,
                                            (size_t)s->len, time, time)
                   : 0;
    note_next(f, lane);
    if (time == 0 || lane->next == 0 || !switch_of(f, lane, lane->next - 1)->out)
        return;
    const struct gt_calls_tasks_switch *out = switch_of(f, lane, lane->next - 1);
    const struct gt_call_frame frame = {out->time, function_of(out), false};
    g_array_append_val(f->frames, frame);
}

/* ---- records ------------------------------------------------------------------------------- */

static size_t before(const struct gt_compact_event *event, size_t n, uint64_t until)
{
    size_t i = 0;
    while (i < n && event[i].time < until)
        i++;
    return i;
}

static void change_space(const struct gt_calls_feed *f, struct gt_calls_lane *lane, uint64_t time)
{
    const struct gt_calls_spaces *s = f->c->spaces;
    uint32_t space = gt_calls_tasks_space(&f->c->tasks, s, lane->task, time, &lane->until);
    /* a program that is replaced leaves calls open */
    lane->stack->unsure |= gt_calls_spaces_map(s, space) != gt_calls_spaces_map(s, lane->space);
    lane->space = space;
}

/* Switches of tasks that come before the time, and the space that the lane has then. */
static int arrive(struct gt_calls_feed *f, struct gt_calls_lane *lane, uint64_t time)
{
    int status = 0;
    f->task = lane->task;
    f->time = time;
    while (time >= lane->next_switch && lane->next_switch != NEVER && status == 0)
        status = take_switch(f, lane);
    if (time >= lane->until)
        change_space(f, lane, time);
    return status;
}

int gt_calls_feed_take_valued(struct gt_calls_feed *f, struct gt_calls_lane *lane,
                              const struct gt_compact_event *event,
                              const struct gt_value_list *values)
{
    int status = arrive(f, lane, event->time);
    f->space = lane->space;
    if (!make_room(f, f->space))
        return GT_E_NOMEM;
    const struct gt_calls_words words = {f->function[f->space], f, word, resolve};
    if (status == 0)
        status = gt_calls_stack_take_valued(lane->stack, f->rules, &words, f->out, event, values);
    int flushed = gt_calls_out_flush(f->out, lane->stack);
    return status < 0 ? status : flushed;
}

int gt_calls_feed_take(struct gt_calls_feed *f, struct gt_calls_lane *lane,
                       const struct gt_compact_event *event, size_t n)
{
    int status = 0;
    for (size_t i = 0, m; i < n && status == 0; i += m) {
        status = arrive(f, lane, event[i].time);
        if (status < 0)
            return status;
        const uint64_t until = MIN(lane->until, lane->next_switch);
        m = event[n - 1].time < until ? n - i : before(event + i, n - i, until);
        m = m ? m : 1; /* times that fall */
        f->space = lane->space;
        if (!make_room(f, f->space))
            return GT_E_NOMEM;
        const struct gt_calls_words words = {f->function[f->space], f, word, resolve};
        status = gt_calls_stack_take(lane->stack, f->rules, &words, f->out, event + i, m);
    }
    int flushed = gt_calls_out_flush(f->out, lane->stack);
    return status < 0 ? status : flushed;
}
