/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A random recording: see calls_model.h. */
#include "calls_model.h"

#define CALL(t, i) (&g_array_index((t)->call, struct model_call, i))

uint32_t model_roll(struct model *m, uint32_t below)
{
    m->seed = m->seed * 1664525 + 1013904223;
    return (m->seed >> 8) % below;
}

/* ---- making -------------------------------------------------------------------------------- */

static bool is_open(const struct model_task *t, uint32_t function)
{
    for (size_t i = t->top; i != SIZE_MAX; i = CALL(t, i)->parent)
        if (CALL(t, i)->function == function)
            return true;
    return false;
}

enum { BELOW = 3 }; /* calls that are open when a task is suspended, and too deep to be recorded */

static uint64_t enter(struct model *m, struct model_task *t, uint32_t function, bool event)
{
    const struct model_call c = {.begin = m->time,
                                 .end = event ? m->time : UINT64_MAX,
                                 .function = function,
                                 .depth = t->depth,
                                 .parent = t->top,
                                 .event = event,
                                 .recursive = !event && is_open(t, function)};
    const struct model_step s = {t->call->len, false};
    g_array_append_val(t->call, c);
    g_array_append_val(t->step, s);
    if (event)
        return gt_uftrace_event(t->depth, EVENT);
    t->top = s.call;
    t->depth++;
    return function == SCHEDULE ? gt_uftrace_event(t->depth - 1 + BELOW, GT_UFTRACE_EV_SCHED_OUT)
                                : gt_uftrace_entry(t->depth - 1, address_of(function));
}

static uint64_t leave(struct model *m, struct model_task *t)
{
    struct model_call *c = CALL(t, t->top);
    const struct model_step s = {t->top, true};
    g_array_append_val(t->step, s);
    c->end = m->time;
    t->top = c->parent;
    t->depth--;
    return c->function == SCHEDULE ? gt_uftrace_event(t->depth + BELOW, GT_UFTRACE_EV_SCHED_IN)
                                   : gt_uftrace_exit(t->depth, address_of(c->function));
}

static struct gt_compact_record make_record(struct model *m, struct model_task *t)
{
    const uint32_t what = model_roll(m, 100);
    m->time += model_roll(m, 3) ? model_roll(m, 4) : model_roll(m, 60);
    struct gt_compact_record r = {.time = m->time};
    t->last = m->time;
    if (t->depth > 0 && CALL(t, t->top)->function == SCHEDULE)
        r.word = leave(m, t);
    else if (what < 3)
        r.word = enter(m, t, EVENT, true);
    else if (what < 6)
        r.word = enter(m, t, SCHEDULE, false);
    else if (t->depth > 0 && (what < 51 || t->depth > 40))
        r.word = leave(m, t);
    else
        r.word = enter(m, t, model_roll(m, FUNCTIONS), false);
    return r;
}

/* Some records of one task; some tasks come seldom. */
static size_t make_piece(struct model *m, uint64_t block, size_t *in_block)
{
    struct gt_compact_record r[16];
    unsigned task = model_roll(m, 20) ? model_roll(m, 2) : model_roll(m, TASKS);
    size_t n = 1 + model_roll(m, 16);
    for (size_t i = 0; i < n; i++)
        r[i] = make_record(m, &m->task[task]);
    put_records(&m->dir, FIRST_TID + task, r, n);
    assert_int_equal(gt_compact_packer_put(m->packer[task % 2], FIRST_TID + task, r, n), 0);
    in_block[task % 2] += n;
    if (in_block[task % 2] >= block) {
        end_block(m->file, m->packer[task % 2]);
        in_block[task % 2] = 0;
    }
    return n;
}

static void put_texts(struct model *m)
{
    m->dir = make_dir("model.dir");
    gt_uftrace_dir_add_session(&m->dir, 1, FIRST_TID, SID, PROGRAM, NULL);
    for (unsigned i = 0; i < TASKS; i++)
        gt_uftrace_dir_add_task(&m->dir, 1, FIRST_TID + i, FIRST_TID, NULL);
    put_info(&m->dir);
    put_program(&m->dir);
    snprintf(m->file, sizeof m->file, "%s", in_scratch("model.gtrace"));
    remove(m->file);
    assert_int_equal(gt_compact_file_create(m->file, NULL), 0);
    append_texts(m->file, &m->dir);
}

struct model *model_make(uint32_t seed, size_t records, uint64_t segment, uint64_t block)
{
    struct model *m = g_new0(struct model, 1);
    size_t in_block[2] = {0};
    m->seed = seed;
    m->time = 10;
    put_texts(m);
    for (unsigned i = 0; i < TASKS; i++)
        m->task[i] =
            (struct model_task){.call = g_array_new(FALSE, FALSE, sizeof(struct model_call)),
                                .step = g_array_new(FALSE, FALSE, sizeof(struct model_step)),
                                .top = SIZE_MAX};
    for (uint32_t i = 0; i < 2; i++) {
        const struct gt_compact_packer_options o = {
            .packer = 7 + i, .exact = i, .segment = segment};
        assert_int_equal(gt_compact_packer_create(&o, &m->packer[i]), 0);
    }
    for (size_t n = 0; n < records;)
        n += make_piece(m, block, in_block);
    for (uint32_t i = 0; i < 2; i++) {
        end_block(m->file, m->packer[i]);
        gt_compact_packer_destroy(m->packer[i]);
    }
    return m;
}

void model_free(struct model *m)
{
    for (unsigned i = 0; i < TASKS; i++) {
        g_array_free(m->task[i].call, TRUE);
        g_array_free(m->task[i].step, TRUE);
    }
    g_free(m);
}

/* ---- windows ------------------------------------------------------------------------------- */

static uint64_t to_of(const struct gt_calls_window *w)
{
    return w->to ? w->to : UINT64_MAX;
}

static uint64_t last_of(const struct model *m)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < TASKS; i++)
        last = MAX(last, m->task[i].last);
    return last;
}

/* When what never ends in the window ends in it. */
static uint64_t end_of(const struct model *m, unsigned task, const struct gt_calls_window *w)
{
    return to_of(w) < last_of(m) ? w->to : MAX(m->task[task].last, w->from);
}

/* Without `wall`: a suspension is no time of the calls that it is in, shown or not. */
static void add_sleep(struct model_task *t, const struct model_call *c)
{
    const uint64_t time = c->to - c->from;
    bool owed = !c->shown;
    for (size_t i = c->parent; i != SIZE_MAX; i = CALL(t, i)->parent) {
        struct model_call *outer = CALL(t, i);
        outer->slept += time;
        if (owed && outer->shown) {
            outer->self -= (int64_t)time;
            owed = false;
        }
    }
}

void model_show(const struct model *m, unsigned task, const struct gt_calls_window *w)
{
    const struct model_task *t = &m->task[task];
    uint64_t end = end_of(m, task, w);
    for (size_t i = 0; i < t->call->len; i++) {
        struct model_call *c = CALL(t, i);
        c->from = MAX(c->begin, w->from);
        c->to = c->end != UINT64_MAX && c->end <= to_of(w) ? c->end : end;
        c->self = 0;
        c->slept = 0;
        bool open = c->end == UINT64_MAX || c->end > to_of(w);
        uint64_t took = (open ? MAX(c->to, MIN(to_of(w), last_of(m))) : c->to) - c->from;
        c->shown = c->begin <= to_of(w) && c->end >= w->from && (!w->tasks || w->tasks[task]) &&
                   (c->event || ((!w->depth || c->depth < w->depth) && took >= w->min_time));
        if (!c->shown || c->event)
            continue;
        c->self = (int64_t)(c->to - c->from);
        if (c->parent != SIZE_MAX)
            CALL(t, c->parent)->self -= c->self;
    }
    for (size_t i = 0; i < t->call->len && !w->wall; i++) {
        const struct model_call *c = CALL(t, i);
        if (c->function == SCHEDULE && !c->event && c->begin <= to_of(w) && c->end >= w->from)
            add_sleep((struct model_task *)(uintptr_t)t, c);
    }
}

bool model_has(const struct model *m, unsigned task, const struct gt_calls_window *w)
{
    const GArray *call = m->task[task].call;
    for (size_t i = 0; i < call->len; i++) {
        const struct model_call *c = &g_array_index(call, struct model_call, i);
        if ((c->begin >= w->from && c->begin <= to_of(w)) ||
            (c->end != UINT64_MAX && c->end >= w->from && c->end <= to_of(w)))
            return true;
    }
    return false;
}

static void add(GArray *list, const struct model_call *c, uint8_t kind, uint64_t time,
                uint32_t depth, unsigned flags)
{
    const struct gt_call e = {.time = time,
                              .begin = kind == GT_CALL_EXIT ? c->from : time,
                              .self = kind == GT_CALL_EXIT      ? c->self
                                      : flags & GT_CALL_CLIPPED ? (int64_t)(c->from - c->begin)
                                                                : 0,
                              .slept = kind == GT_CALL_EXIT ? c->slept : 0,
                              .function = c->function,
                              .depth = depth,
                              .kind = kind,
                              .flags = (uint8_t)(flags | (c->recursive ? GT_CALL_RECURSIVE : 0))};
    g_array_append_val(list, e);
}

static void add_step(GArray *list, const struct model_task *t, const struct model_step *s,
                     const struct gt_calls_window *w, uint32_t *open)
{
    const struct model_call *c = CALL(t, s->call);
    uint64_t time = s->end ? c->end : c->begin;
    if (!c->shown || time > to_of(w) || time < w->from)
        return;
    if (c->event)
        add(list, c, GT_CALL_EVENT, time, *open, 0);
    else if (s->end)
        add(list, c, GT_CALL_EXIT, time, --*open, 0);
    else
        add(list, c, GT_CALL_ENTRY, time, (*open)++, 0);
}

GArray *model_events(const struct model *m, unsigned task, const struct gt_calls_window *w)
{
    const struct model_task *t = &m->task[task];
    GArray *list = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
    uint32_t open = 0;
    uint64_t end = end_of(m, task, w);
    model_show(m, task, w);
    for (size_t i = 0; i < t->call->len; i++)
        if (CALL(t, i)->shown && !CALL(t, i)->event && CALL(t, i)->begin < w->from)
            add(list, CALL(t, i), GT_CALL_ENTRY, w->from, open++, GT_CALL_CLIPPED);
    for (size_t i = 0; i < t->step->len; i++)
        add_step(list, t, &g_array_index(t->step, struct model_step, i), w, &open);
    for (size_t i = t->call->len; i-- > 0;)
        if (CALL(t, i)->shown && CALL(t, i)->end > to_of(w) - (w->to == 0))
            add(list, CALL(t, i), GT_CALL_EXIT, end, --open,
                end == w->to && w->to ? GT_CALL_CLIPPED : GT_CALL_UNFINISHED);
    return list;
}
