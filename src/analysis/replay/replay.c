/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replay: reads calls, chooses those that are shown, and gives them and the console's lines to the
 * layout in order of time. See replay.h. */
#include "analysis/replay/replay.h"

#include "analysis/calls/window_marks.h"
#include "analysis/replay/state.h"

/* An ENTRY or EXIT is shown; keeps the task's state. */
static bool choose_call(struct gt_replay *r, struct gt_replay_task *t,
                        const struct gt_replay_name *name, const struct gt_call *e)
{
    if (!r->o->called && !r->o->inside)
        return true;
    if (!t->root && e->kind == GT_CALL_ENTRY && name->called)
        t->root = e->depth + 1;
    bool shown = t->root && name->inside;
    if (e->kind == GT_CALL_EXIT && t->root == e->depth + 1)
        t->root = 0;
    return shown;
}

/* A call that was open when the window began: it has no line of its own. */
static void keep_before(struct gt_replay *r, struct gt_replay_task *t, const struct gt_call *e)
{
    size_t n;
    const struct gt_call_frame *open = gt_calls_open_at(r->calls, e->task, &n);
    struct gt_call call = *e;
    if (n)
        call.begin = open[n - 1].begin;
    if (!t->before)
        t->before = g_array_new(FALSE, FALSE, sizeof call);
    g_array_append_val(t->before, call);
}

static void take_entry(struct gt_replay *r, const struct gt_replay_layout *layout,
                       const struct gt_call *e)
{
    struct gt_replay_task *t = &r->task[e->task];
    const struct gt_replay_name *name = gt_replay_name_find(r, e->function);
    if (!choose_call(r, t, name, e))
        return;
    if (e->flags & GT_CALL_CLIPPED)
        keep_before(r, t, e);
    else
        layout->call(r, e);
    t->shown += !name->schedule;
}

static const struct gt_call *last_before(const struct gt_replay_task *t)
{
    const GArray *before = t->before;
    return before && before->len ? &g_array_index(before, struct gt_call, before->len - 1) : NULL;
}

static void take_exit(struct gt_replay *r, const struct gt_replay_layout *layout,
                      const struct gt_call *e)
{
    struct gt_replay_task *t = &r->task[e->task];
    const struct gt_replay_name *name = gt_replay_name_find(r, e->function);
    if (!choose_call(r, t, name, e))
        return;
    t->shown -= !name->schedule;
    const struct gt_call *before = last_before(t);
    const bool older = before && before->depth == e->depth;
    struct gt_call call = *e;
    if (older)
        call.begin = before->begin;
    if (e->flags & GT_CALL_UNFINISHED && !(e->flags & GT_CALL_CLIPPED))
        g_array_append_val(r->open, call);
    else if (!(e->flags & GT_CALL_CLIPPED))
        layout->call(r, &call);
    if (older)
        g_array_set_size(t->before, t->before->len - 1);
}

static const struct gt_replay_layout *layout_of(const struct gt_replay *r)
{
    return r->o->flat ? &gt_replay_flat : &gt_replay_tree;
}

static void take_marks(struct gt_replay *r, uint64_t to)
{
    for (; r->mark < r->marks_end && r->mark->time < to; r->mark++)
        layout_of(r)->mark(r, r->mark);
}

static int take(void *self, const struct gt_call *e)
{
    struct gt_replay *r = self;
    const struct gt_replay_layout *layout = layout_of(r);
    const struct gt_replay_task *t = &r->task[e->task];
    if (r->mark < r->marks_end && r->mark->time < e->time &&
        !(e->flags & (GT_CALL_CLIPPED | GT_CALL_UNFINISHED)))
        take_marks(r, e->time);
    if (e->kind == GT_CALL_ENTRY)
        take_entry(r, layout, e);
    else if (e->kind == GT_CALL_EXIT)
        take_exit(r, layout, e);
    else if (!(r->o->called || r->o->inside) || t->shown)
        layout->call(r, e);
    return r->out->failed != 0;
}

static void start(struct gt_replay *r, const struct gt_calls_window *w)
{
    r->first = gt_calls_facts(r->calls)->first;
    r->task = g_new0(struct gt_replay_task, gt_calls_n_tasks(r->calls));
    r->texts = g_string_chunk_new(1 << 16);
    r->open = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
    for (size_t i = 0; i < GT_REPLAY_COLORS; i++)
        r->color[i] = r->o->color ? r->o->color[i] : "";
    size_t marks;
    r->mark = gt_calls_marks_in(r->calls, w, &marks);
    r->marks_end = r->mark + marks;
}

static void finish(struct gt_replay *r)
{
    for (size_t i = 0; i < gt_calls_n_tasks(r->calls); i++)
        if (r->task[i].before)
            g_array_free(r->task[i].before, TRUE);
    g_array_free(r->open, TRUE);
    g_free(r->task);
    gt_replay_names_clear(r);
}

int gt_replay_write(struct gt_calls *c, const struct gt_calls_window *w,
                    const struct gt_replay_options *o, struct gt_output *out, struct gt_error *err)
{
    struct gt_replay r = {.calls = c, .o = o, .out = out};
    start(&r, w);
    layout_of(&r)->begin(&r);
    int status = gt_calls_walk(c, w, take, &r, err);
    if (status >= 0) {
        take_marks(&r, UINT64_MAX);
        layout_of(&r)->end(&r);
    }
    finish(&r);
    return status < 0 ? status : 0;
}
