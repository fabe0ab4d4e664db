/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk of what filters leave. All calls of the recording, in order of time, go to the filter's
 * state of their task; what it leaves goes, as records, to a second stack of the task, which
 * applies the window, and from there by time to the caller. Windows without filters have passes of
 * their own. It walks the whole recording: whether a call is left may depend on what came long
 * before, or comes long after. Memory is bounded by tasks, depth and the events that are left while
 * a call is held back.
 */
#include "calls/read/merge.h"
#include "calls/read/pass.h"
#include "calls/read/verdicts.h"
#include "calls/read/where.h"
#include "filter/state.h"

#include <glib.h>

enum { GIVE = 4096 }; /* events after which complete ones are given */

struct walk {
    struct gt_calls *c;
    const struct gt_calls_window *window;
    struct gt_calls_rules rules;
    struct gt_calls_verdicts verdicts;
    struct gt_calls_where where;
    struct gt_filter_live *live;
    struct gt_calls_out out;
    struct gt_calls_merge merge;
    GPtrArray *tasks; /* struct task, by index; NULL: not met */
    GArray *identity; /* uint32_t: a function's number is its index */
    uint64_t word;    /* of the record that a stack takes */
    uint64_t given;   /* events since the last giving */
    bool started;     /* the window has begun for all tasks that were known then */
    bool finished;    /* by a trigger: nothing comes after it */
    struct gt_error *err;
};

struct task {
    struct gt_calls_merge_queue queue; /* first: see queue_of */
    struct walk *walk;
    struct gt_filter_state state;
    size_t name;                  /* names that have begun */
    uint64_t last;                /* time of the last record */
    uint32_t sleeps_in;           /* the function that suspends it */
    struct gt_call_values values; /* arguments, by the depth of their call */
    uint32_t leaves;              /* depth of the call that returns; UINT32_MAX: none does */
    uint32_t function;            /* of the call that is entered, or returns */
    uint64_t sought;              /* calls that a --where may find */
    uint32_t ends;                /* calls whose next EXIT is not a return */
    bool ended;                   /* this EXIT is none */
};

/* ---- records that filters leave -----------------------------------------------------------------
 */

static uint64_t word_of(const void *self, uint32_t number)
{
    (void)number;
    return ((const struct walk *)self)->word;
}

static int resolve(void *self, uint32_t number, uint64_t address)
{
    (void)self, (void)number, (void)address;
    return GT_E_NOMEM; /* not called: all are known */
}

static void put_record(struct task *t, const struct gt_compact_event *e,
                       const struct gt_value_list *values)
{
    struct walk *w = t->walk;
    const struct gt_calls_words words = {(const uint32_t *)(void *)w->identity->data, w, word_of,
                                         resolve};
    int status =
        values ? gt_calls_stack_take_valued(&t->queue.stack, &w->rules, &words, &w->out, e, values)
               : gt_calls_stack_take(&t->queue.stack, &w->rules, &words, &w->out, e, 1);
    gt_calls_out_flush(&w->out, &t->queue.stack);
    if (status != 0 && w->out.status == 0)
        w->out.status = status;
}

static void put_call(struct task *t, enum gt_compact_kind kind, const struct gt_filter_frame *f,
                     uint32_t shown, uint64_t time)
{
    const struct gt_value_list *values = kind == GT_COMPACT_ENTRY
                                             ? gt_call_values_at(&t->values, f->depth)
                                         : f->depth == t->leaves ? gt_calls_values_at(t->walk->c)
                                                                 : NULL;
    GArray *identity = t->walk->identity;
    uint32_t function = (uint32_t)f->call;
    while (identity->len <= function)
        g_array_append_val(identity, identity->len);
    put_record(
        t, &(struct gt_compact_event){time, function << 2 | kind, shown & GT_UFTRACE_DEPTH_MASK},
        values);
}

static void put_enter(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    put_call(self, GT_COMPACT_ENTRY, f, shown, time);
}

static void put_leave(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    struct task *t = self;
    t->ended = t->ends > 0;
    t->ends -= t->ended;
    put_call(t, GT_COMPACT_EXIT, f, shown, time);
    t->ended = false;
}

static void note_ends(void *self, uint32_t shown, uint64_t time)
{
    (void)time;
    ((struct task *)self)->ends = shown;
}

static void switch_task(struct task *t, uint64_t time, uint32_t function)
{
    struct walk *w = t->walk;
    int status = gt_calls_stack_switch(&t->queue.stack, &w->rules, &w->out, time, function);
    gt_calls_out_flush(&w->out, &t->queue.stack);
    if (status != 0 && w->out.status == 0)
        w->out.status = status;
}

static void put_suspended(void *self, uint32_t shown, uint64_t time)
{
    struct task *t = self;
    (void)shown;
    switch_task(t, time, t->sleeps_in);
}

static void put_resumed(void *self, uint32_t shown, uint64_t time)
{
    (void)shown;
    switch_task(self, time, UINT32_MAX);
}

/* Of what triggers do, a reader can end. */
static void act(void *self, const struct gt_filter_act *a)
{
    const struct task *t = self;
    t->walk->finished |= a->action->kind == GT_ACTION_FINISH;
}

static bool value(void *self, uint32_t depth, const struct gt_base_call_value_name *name,
                  struct gt_base_call_value *out)
{
    const struct task *t = self;
    return gt_calls_get_value(t->walk->c, t->function, gt_call_values_at(&t->values, depth),
                              depth == t->leaves ? gt_calls_values_at(t->walk->c) : NULL, name,
                              out);
}

static const struct gt_filter_sink sink = {.enter = put_enter,
                                           .leave = put_leave,
                                           .ends = note_ends,
                                           .suspended = put_suspended,
                                           .resumed = put_resumed,
                                           .act = act,
                                           .value = value};

static void put_word(struct task *t, enum gt_compact_kind kind, uint64_t word, uint64_t time)
{
    t->walk->word = word;
    put_record(t, &(struct gt_compact_event){time, kind, t->state.shown & GT_UFTRACE_DEPTH_MASK},
               NULL);
}

/* ---- tasks --------------------------------------------------------------------------------------
 */

static struct gt_calls_merge_queue *queue_of(struct gt_calls_stack *s)
{
    return (struct gt_calls_merge_queue *)(void *)((char *)s -
                                                   offsetof(struct gt_calls_merge_queue, stack));
}

static int queue_calls(void *self, struct gt_calls_stack *s, const struct gt_calls_out *out)
{
    struct walk *w = self;
    if (w->window->tasks && !w->window->tasks[s->task])
        return 0;
    struct gt_calls_merge_queue *q = queue_of(s);
    int status = gt_calls_merge_put(&w->merge, q, out);
    for (size_t i = 0; status == 0 && ((const struct task *)q)->ended && i < out->n; i++) {
        struct gt_calls_merge_event *e = &q->event[q->n - 1 - i];
        e->flags |= e->kind == GT_CALL_EXIT ? GT_CALL_OPEN : 0;
    }
    return status;
}

static void free_task(gpointer data)
{
    struct task *t = data;
    if (!t)
        return;
    gt_calls_merge_queue_finish(&t->queue);
    gt_filter_state_finish(&t->state);
    gt_call_values_finish(&t->values);
    g_free(t);
}

static struct task *task_at(struct walk *w, uint32_t index)
{
    if (index >= w->tasks->len)
        g_ptr_array_set_size(w->tasks, (gint)index + 1);
    if (w->tasks->pdata[index])
        return w->tasks->pdata[index];
    struct task *t = w->tasks->pdata[index] = g_new0(struct task, 1);
    t->walk = w;
    t->leaves = UINT32_MAX;
    t->queue.key = index;
    gt_calls_stack_init(&t->queue.stack, index);
    if (gt_filter_state_init(&t->state, w->window->filter, w->live, &sink, t) < 0 ||
        !gt_calls_stack_begin(&t->queue.stack, &w->rules, NULL, 0, 0, false))
        return NULL;
    return t;
}

/* The task's name at the time. */
static void name_task(struct task *t, uint32_t index, uint64_t time)
{
    const struct gt_calls_task *task = gt_calls_task(t->walk->c, index);
    const struct gt_calls_process *process = gt_calls_process(t->walk->c, task->process);
    size_t before = t->name;
    while (t->name < task->n_names && (t->name == 0 || task->names[t->name].time <= time))
        t->name++;
    if (t->name != before || before == 0)
        gt_filter_state_task(&t->state, t->name ? task->names[t->name - 1].name : task->name,
                             task->id, process ? process->pid : task->id);
    t->name = t->name ? t->name : 1;
}

/* ---- events -------------------------------------------------------------------------------------
 */

static int take_entry(struct task *t, const struct gt_call *e)
{
    const struct gt_filter_verdict *v =
        gt_calls_verdicts_get(&t->walk->verdicts, e->function, t->walk->err);
    if (!v)
        return GT_E_NOMEM;
    t->function = e->function;
    t->state.chosen =
        gt_filter_has_where(v) && gt_calls_where_found(&t->walk->where, e->task, t->sought++);
    gt_call_values_set(&t->values, t->state.depth, gt_calls_values_at(t->walk->c));
    gt_filter_enter(&t->state, v, e->function, 0, e->time);
    return 0;
}

/* A task that is suspended is in a call of its own, which filters do not see. */
static void take_switch(struct task *t, const struct gt_call *e)
{
    if (e->kind == GT_CALL_ENTRY) {
        t->sleeps_in = e->function;
        gt_filter_suspend(&t->state, e->time);
    } else {
        gt_filter_resume(&t->state, e->time);
    }
}

static int take_event(struct task *t, const struct gt_call *e)
{
    switch (e->kind) {
    case GT_CALL_ENTRY:
    case GT_CALL_EXIT:
        if (gt_call_suspends(e->function)) {
            take_switch(t, e);
            return 0;
        }
        if (e->kind == GT_CALL_ENTRY)
            return take_entry(t, e);
        t->function = e->function;
        t->leaves = t->state.depth - 1;
        gt_filter_leave(&t->state, e->time);
        t->leaves = UINT32_MAX;
        return 0;
    default:
        if (!gt_filter_takes_event(&t->state, e->time))
            return 0;
        if (e->kind == GT_CALL_LOST)
            put_word(t, GT_COMPACT_OTHER, gt_uftrace_lost(e->function), e->time);
        else
            put_word(t, GT_COMPACT_EVENT, e->function, e->time);
        return 0;
    }
}

/* ---- giving -------------------------------------------------------------------------------------
 */

/* The window has begun: shows what tasks have open, if that is known, or (`all`) as far as it is.
 */
static void start_all(struct walk *w, bool all)
{
    w->started = true;
    for (guint i = 0; i < w->tasks->len; i++) {
        struct task *t = w->tasks->pdata[i];
        if (!t || t->queue.stack.started)
            continue;
        if (!all && gt_filter_held_since(&t->state) <= w->rules.from) {
            w->started = false;
            continue;
        }
        gt_calls_stack_start(&t->queue.stack, &w->rules, &w->out);
        gt_calls_out_flush(&w->out, &t->queue.stack);
    }
}

/* What may yet be left of what has come: nothing after it can be given. */
static uint64_t held_since(struct walk *w, uint64_t bound)
{
    uint64_t least = bound;
    for (guint i = 0; i < w->tasks->len; i++) {
        struct task *t = w->tasks->pdata[i];
        if (!t)
            continue;
        struct gt_calls_stack *s = &t->queue.stack;
        uint64_t held = gt_filter_held_since(&t->state);
        least = MIN(least, held);
        gt_calls_stack_pass(s, &w->rules, &w->out, MIN(MIN(bound, held), w->rules.to));
        gt_calls_out_flush(&w->out, s);
        if (s->started && s->shown < MIN(s->n, w->rules.depth))
            least = MIN(least, s->frame[s->shown].begin);
    }
    return least;
}

/* Gives records earlier than all that may come. 1: all that the window shows has come. */
static int give(struct walk *w, uint64_t now)
{
    w->given = 0;
    if (!w->started && now > w->rules.from)
        start_all(w, false);
    uint64_t least = held_since(w, now);
    int status = gt_calls_merge_give(&w->merge, least);
    return status == 0 && least > w->rules.to ? 1 : status;
}

/* All that is open ends. Returns 1: so does the walk. */
static int finish(struct walk *w, uint64_t time)
{
    gt_filter_live_switch(w->live, false);
    for (guint i = 0; i < w->tasks->len; i++)
        if (w->tasks->pdata[i])
            gt_filter_takes_event(&((struct task *)w->tasks->pdata[i])->state, time);
    return 1;
}

static int take(void *self, const struct gt_call *e)
{
    struct walk *w = self;
    struct task *t = task_at(w, e->task);
    if (!t)
        return gt_error_set(w->err, GT_E_NOMEM, "%s: out of memory", w->c->path);
    if (e->flags & GT_CALL_UNFINISHED)
        return 0;
    name_task(t, e->task, e->time);
    t->last = e->time;
    int status = take_event(t, e);
    if (status == 0)
        status = w->out.status;
    if (status == 0 && w->finished)
        status = finish(w, e->time);
    else if (status == 0 && ++w->given >= GIVE)
        status = give(w, e->time);
    return status;
}

/* Does `end` with each task's stack, and gives what that makes. */
static int end_each(struct walk *w, void (*end)(struct walk *w, struct gt_calls_stack *s,
                                                const struct gt_calls_end *how))
{
    for (guint i = 0; i < w->tasks->len; i++) {
        struct task *t = w->tasks->pdata[i];
        if (!t)
            continue;
        const struct gt_calls_end how = gt_calls_pass_end(w->c, &w->rules, t->last);
        end(w, &t->queue.stack, &how);
        gt_calls_out_flush(&w->out, &t->queue.stack);
    }
    return w->out.status ? w->out.status : gt_calls_merge_give(&w->merge, UINT64_MAX);
}

static void settle(struct walk *w, struct gt_calls_stack *s, const struct gt_calls_end *how)
{
    gt_calls_stack_settle(s, &w->rules, &w->out, how);
}

static void end_task(struct walk *w, struct gt_calls_stack *s, const struct gt_calls_end *how)
{
    gt_calls_stack_end(s, &w->rules, &w->out, how);
}

/* All that is in order comes before the exits of what never ended. */
static int end_all(struct walk *w)
{
    for (guint i = 0; i < w->tasks->len; i++) {
        struct task *t = w->tasks->pdata[i];
        if (t)
            gt_filter_until(&t->state, w->c->facts.last);
    }
    start_all(w, true);
    int status = end_each(w, settle);
    return status ? status : end_each(w, end_task);
}

static int run(struct walk *w)
{
    const struct gt_calls_window all = {
        .tasks = gt_filter_set_is_local(w->window->filter) ? w->window->tasks : NULL};
    int status = gt_filter_set_has_where(w->window->filter)
                     ? gt_calls_where_find(&w->where, w->c, &all, &w->verdicts, w->err)
                     : 0;
    if (status == 0)
        status = gt_calls_pass_walk(w->c, &all, take, w, w->err);
    return status == 0 || status == 1 ? end_all(w) : status;
}

static int filtered_walk(struct gt_calls *c, const struct gt_calls_window *w,
                         int (*call)(void *self, const struct gt_call *e), void *self,
                         struct gt_error *err)
{
    struct walk *walk = g_new0(struct walk, 1);
    walk->c = c;
    walk->window = w;
    walk->err = err;
    walk->out.take = queue_calls;
    walk->out.self = walk;
    walk->tasks = g_ptr_array_new_with_free_func(free_task);
    walk->identity = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    g_array_set_size(walk->identity, 1); /* stacks look at it at events, too */
    walk->live = gt_filter_live_new(w->filter);
    gt_calls_verdicts_init(&walk->verdicts, c, w->filter);
    gt_calls_pass_rules(c, w, &walk->rules);
    walk->merge =
        (struct gt_calls_merge){.c = c, .from = walk->rules.from, .call = call, .self = self};
    int status =
        walk->live ? run(walk) : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", c->path);
    c->gave = walk->merge.gave; /* not what the pass below it gave */
    gt_calls_merge_finish(&walk->merge);
    g_ptr_array_free(walk->tasks, TRUE);
    gt_filter_live_free(walk->live);
    gt_calls_verdicts_finish(&walk->verdicts);
    gt_calls_where_finish(&walk->where);
    g_array_free(walk->identity, TRUE);
    g_free(walk);
    return status;
}

/* ---- which pass a window needs ----------------------------------------------------------------
 */

int gt_calls_walk(struct gt_calls *c, const struct gt_calls_window *w,
                  int (*call)(void *self, const struct gt_call *e), void *self,
                  struct gt_error *err)
{
    return (w && w->filter ? filtered_walk : gt_calls_pass_walk)(c, w, call, self, err);
}

/* ---- scans ---------------------------------------------------------------------------------- */

/* A scan that is a walk, whose events are collected by task: for windows that need to know all that
 * was before. */

enum { CALLS = 1024 };

struct by_task {
    const struct gt_calls_consumer *consumer;
    void *share;
    GPtrArray *tasks; /* GArray of struct gt_call, by task; NULL: not met */
};

static void free_calls(gpointer data)
{
    if (data)
        g_array_free(data, TRUE);
}

/* 0, or below. */
static int flush(struct by_task *s, uint32_t task, GArray *calls)
{
    const struct gt_calls_batch b = {
        .task = task, .call = (const struct gt_call *)(void *)calls->data, .n = calls->len};
    int status = b.n ? s->consumer->batch(s->share, &b) : 0;
    g_array_set_size(calls, 0);
    return MIN(status, 0);
}

static int collect(void *self, const struct gt_call *e)
{
    struct by_task *s = self;
    int status = 0;
    if (e->task >= s->tasks->len)
        g_ptr_array_set_size(s->tasks, (gint)e->task + 1);
    if (!s->tasks->pdata[e->task]) {
        s->tasks->pdata[e->task] = g_array_sized_new(FALSE, FALSE, sizeof *e, CALLS);
        status = s->consumer->batch(s->share,
                                    &(const struct gt_calls_batch){.task = e->task, .first = true});
    }
    GArray *calls = s->tasks->pdata[e->task];
    g_array_append_val(calls, *e);
    return status < 0 || calls->len < CALLS ? MIN(status, 0) : flush(s, e->task, calls);
}

static int flush_all(struct by_task *s)
{
    int status = 0;
    for (guint i = 0; i < s->tasks->len && status == 0; i++)
        if (s->tasks->pdata[i])
            status = flush(s, i, s->tasks->pdata[i]);
    return status;
}

static int scan_by_walk(struct gt_calls *c, const struct gt_calls_window *w,
                        const struct gt_calls_consumer *consumer, void *self, struct gt_error *err)
{
    struct by_task s = {.consumer = consumer, .share = consumer->share(self)};
    if (!s.share)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", gt_calls_facts(c)->path);
    s.tasks = g_ptr_array_new_with_free_func(free_calls);
    int status = gt_calls_walk(c, w, collect, &s, err);
    if (status == 0)
        status = flush_all(&s);
    g_ptr_array_free(s.tasks, TRUE);
    int merged = consumer->merge(status < 0 ? NULL : self, s.share);
    return status < 0 ? status : merged;
}

int gt_calls_scan(struct gt_calls *c, const struct gt_calls_window *w,
                  const struct gt_calls_consumer *consumer, void *self, unsigned threads,
                  struct gt_error *err)
{
    /* Where stretches meet, only the frames are known: not what calls slept that may yet be long
     * enough to be shown. A walk knows it. */
    if (w && (w->filter || (w->min_time && !w->wall)))
        return scan_by_walk(c, w, consumer, self, err);
    return gt_calls_pass_scan(c, w, consumer, self, threads, err);
}
