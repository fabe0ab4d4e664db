/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replay: reads calls, chooses those that are shown, and gives them and the console's lines to the
 * layout in order of time. See replay.h. */
#include "calls/replay/replay.h"

#include "calls/replay/state.h"
#include "recording/texts/files.h"
#include "recording/texts/stats.h"

static bool chooses(const struct gt_replay *r)
{
    return r->o->called || r->o->inside;
}

/* An ENTRY or EXIT is shown; keeps the task's state. */
static bool choose_call(struct gt_replay *r, struct gt_replay_task *t,
                        const struct gt_replay_name *name, const struct gt_call *e)
{
    if (!chooses(r))
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

/* ---- which calls are the last -------------------------------------------------------------- */

static void count_nothing(struct gt_replay *r)
{
    (void)r;
}

static void count_call(struct gt_replay *r, const struct gt_call *e)
{
    if (e->kind == GT_CALL_ENTRY && !gt_call_suspends(e->function))
        r->ring[r->n_ring++ % r->o->last] = e->time;
}

static void count_no_mark(struct gt_replay *r, const struct gt_calls_mark *m)
{
    (void)r, (void)m;
}

static void count_no_name(struct gt_replay *r, const struct gt_replay_renaming *n)
{
    (void)r, (void)n;
}

static const struct gt_replay_layout gt_replay_count = {count_nothing, count_call, count_no_mark,
                                                        count_no_name, count_nothing};

/* ---- calls --------------------------------------------------------------------------------- */

static void take_entry(struct gt_replay *r, const struct gt_replay_layout *layout,
                       const struct gt_call *e)
{
    struct gt_replay_task *t = &r->task[e->task];
    const struct gt_replay_name *name = gt_replay_name_find(r, e->function);
    if (!choose_call(r, t, name, e))
        return;
    *r->o->any = true;
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
    const struct gt_call *before = last_before(t);
    const bool older = before && before->depth == e->depth;
    struct gt_call call = *e;
    if (older)
        call.begin = before->begin;
    const bool is_open = gt_calls_is_open(r->calls, e);
    if (is_open && !(e->flags & GT_CALL_CLIPPED)) {
        call.flags |= GT_CALL_UNFINISHED;
        g_array_append_val(r->open, call);
    }
    /* A call that goes on stays shown: nothing of its task comes after it but a new name. */
    if (!(e->flags & (GT_CALL_UNFINISHED | GT_CALL_CLIPPED)))
        t->shown -= !name->schedule;
    if (!is_open && !(e->flags & GT_CALL_CLIPPED))
        layout->call(r, &call);
    if (older)
        g_array_set_size(t->before, t->before->len - 1);
}

static uint64_t time_of_mark(const struct gt_replay *r)
{
    return r->mark < r->marks_end ? r->mark->time : UINT64_MAX;
}

static const struct gt_replay_renaming *next_renaming(const struct gt_replay *r)
{
    return r->renaming < r->renamings->len
               ? &g_array_index(r->renamings, struct gt_replay_renaming, r->renaming)
               : NULL;
}

static void find_next(struct gt_replay *r)
{
    const struct gt_replay_renaming *n = next_renaming(r);
    r->next = MIN(time_of_mark(r), n ? n->time : UINT64_MAX);
}

/* Marks and new names before a time. */
static void take_others(struct gt_replay *r, uint64_t time)
{
    while (r->next < time) {
        const struct gt_replay_renaming *n = next_renaming(r);
        if (!n || n->time > time_of_mark(r)) {
            r->layout->mark(r, r->mark++);
        } else {
            if (r->task[n->task].shown) /* as uftrace does */
                r->layout->rename(r, n);
            r->renaming++;
        }
        find_next(r);
    }
}

static int take(void *self, const struct gt_call *e)
{
    struct gt_replay *r = self;
    const struct gt_replay_layout *layout = r->layout;
    const struct gt_replay_task *t = &r->task[e->task];
    if (r->next < e->time && !(e->flags & (GT_CALL_CLIPPED | GT_CALL_UNFINISHED)))
        take_others(r, e->time);
    if (e->kind == GT_CALL_ENTRY)
        take_entry(r, layout, e);
    else if (e->kind == GT_CALL_EXIT)
        take_exit(r, layout, e);
    else if (!chooses(r) || t->shown) {
        *r->o->any = true;
        layout->call(r, e);
    }
    return r->out->failed != 0;
}

static gint compare_renamings(gconstpointer a, gconstpointer b)
{
    const struct gt_replay_renaming *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Names that tasks have from the second on, in the window. */
static void find_renamings(struct gt_replay *r, const struct gt_calls_window *w)
{
    r->renamings = g_array_new(FALSE, FALSE, sizeof(struct gt_replay_renaming));
    for (uint32_t i = 0; i < gt_calls_n_tasks(r->calls); i++) {
        const struct gt_calls_task *t = gt_calls_task(r->calls, i);
        for (size_t k = 1; k < t->n_names && !(w && w->tasks && !w->tasks[i]); k++) {
            const struct gt_replay_renaming n = {t->names[k].time, i, t->names[k].name};
            if (!w || (n.time >= w->from && (!w->to || n.time <= w->to)))
                g_array_append_val(r->renamings, n);
        }
    }
    g_array_sort(r->renamings, compare_renamings);
}

/* Lines of a program's recording are of triggers: only a machine has a console. */
static const char *word_of_marks(const struct gt_calls *c)
{
    size_t size;
    struct gt_recording_stats stats;
    gt_recording_stats_parse(&stats, gt_calls_text(c, GT_STATS_FILE, &size));
    const bool program = gt_recording_stats_text(&stats, GT_STATS_MACHINE) &&
                         gt_recording_stats_number(&stats, GT_STATS_MACHINE) == 0;
    gt_recording_stats_clear(&stats);
    return program ? "mark" : "console";
}

static void start(struct gt_replay *r, const struct gt_calls_window *w)
{
    r->first = gt_calls_facts(r->calls)->first;
    r->mark_word = word_of_marks(r->calls);
    r->task = g_new0(struct gt_replay_task, gt_calls_n_tasks(r->calls));
    r->texts = g_string_chunk_new(1 << 16);
    r->open = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
    for (size_t i = 0; i < GT_REPLAY_COLORS; i++)
        r->color[i] = r->o->color ? r->o->color[i] : "";
    size_t marks;
    r->mark = gt_calls_marks_in(r->calls, w, &marks);
    r->marks_end = r->mark + marks;
    find_renamings(r, w);
    find_next(r);
}

static void finish(struct gt_replay *r)
{
    for (size_t i = 0; i < gt_calls_n_tasks(r->calls); i++) {
        if (r->task[i].before)
            g_array_free(r->task[i].before, TRUE);
        if (r->task[i].arguments)
            g_array_free(r->task[i].arguments, TRUE);
    }
    g_array_free(r->open, TRUE);
    g_array_free(r->renamings, TRUE);
    g_free(r->task);
    gt_text_free(&r->values);
    gt_text_free(&r->pending.values);
    gt_replay_names_clear(r);
}

static int read_calls(struct gt_replay *r, const struct gt_calls_window *w, struct gt_error *err)
{
    start(r, w);
    r->layout->begin(r);
    int status = gt_calls_walk(r->calls, w, take, r, err);
    if (status >= 0) {
        take_others(r, UINT64_MAX);
        r->layout->end(r);
    }
    finish(r);
    return status < 0 ? status : 0;
}

/* When the call began from which on there are o->last of them. */
static int find_last(struct gt_calls *c, const struct gt_calls_window *w,
                     const struct gt_replay_options *o, uint64_t *from, struct gt_error *err)
{
    g_autofree struct gt_output *none = g_new0(struct gt_output, 1); /* nothing is written to it */
    struct gt_replay r = {.calls = c, .o = o, .out = none, .layout = &gt_replay_count};
    r.ring = g_new0(uint64_t, o->last);
    int status = read_calls(&r, w, err);
    *from = r.n_ring > o->last ? r.ring[r.n_ring % o->last] : 0;
    g_free(r.ring);
    return status;
}

int gt_replay_write(struct gt_calls *c, const struct gt_calls_window *w,
                    const struct gt_replay_options *o, struct gt_output *out, struct gt_error *err)
{
    static const struct gt_replay_layout *const layouts[] = {[GT_REPLAY_TREE] = &gt_replay_tree,
                                                             [GT_REPLAY_FLAT] = &gt_replay_flat,
                                                             [GT_REPLAY_JSON] = &gt_replay_json};
    struct gt_replay r = {.calls = c, .o = o, .out = out, .layout = layouts[o->form]};
    struct gt_calls_window part = w ? *w : (struct gt_calls_window){0};
    if (o->last) {
        uint64_t from;
        int status = find_last(c, w, o, &from, err);
        if (status < 0)
            return status;
        part.from = MAX(part.from, from);
    }
    return read_calls(&r, &part, err);
}
