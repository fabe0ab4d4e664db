/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks and samples of tasks: see samples.h. */
#include "calls/export/samples.h"

#include "calls/export/slices.h"

/* ---- tasks --------------------------------------------------------------------------------- */

static void clear_instant(void *instant)
{
    g_free(((struct gt_export_sample_instant *)instant)->text);
}

static GArray *instants_new(void)
{
    GArray *a = g_array_new(FALSE, FALSE, sizeof(struct gt_export_sample_instant));
    g_array_set_clear_func(a, clear_instant);
    return a;
}

static struct gt_export_sample_task *task_of(struct gt_export_samples *s, uint32_t index)
{
    struct gt_export_sample_task *t = &s->task[index];
    if (!t->stacks)
        *t = (struct gt_export_sample_task){
            g_array_new(FALSE, FALSE, sizeof(struct gt_export_sample_stack)),
            g_array_new(FALSE, FALSE, sizeof(struct gt_export_sample)), instants_new()};
    return t;
}

static void samples_init(struct gt_export_samples *s, const struct gt_calls *c, bool in_time)
{
    const size_t n = gt_calls_n_tasks(c);
    *s = (struct gt_export_samples){g_new0(struct gt_export_sample_task, n + 1), n, in_time,
                                    instants_new()};
}

void gt_export_samples_clear(struct gt_export_samples *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!s->task[i].stacks)
            continue;
        g_array_free(s->task[i].stacks, TRUE);
        g_array_free(s->task[i].samples, TRUE);
        g_array_free(s->task[i].instants, TRUE);
    }
    g_clear_pointer(&s->console, g_array_unref);
    g_free(s->task);
    *s = (struct gt_export_samples){0};
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void take_root(struct gt_export_samples *s, const struct gt_profile_tree *t,
                      const struct gt_profile_tree_root *r)
{
    const struct gt_profile_tree_node *root = &t->node[r->node];
    struct gt_export_sample_task *task = task_of(s, r->group);
    uint64_t time = 0;
    for (uint32_t i = r->node + 1; i < root->end; i++) {
        const struct gt_profile_tree_node *n = &t->node[i];
        const struct gt_export_sample_stack stack = {
            n->function, n->parent == r->node ? GT_TREE_NONE : n->parent - r->node - 1};
        const struct gt_export_sample sample = {time, (uint64_t)n->self, i - r->node - 1};
        g_array_append_val(task->stacks, stack);
        if (n->self)
            g_array_append_val(task->samples, sample);
        time += (uint64_t)n->self;
    }
}

static int take_sums(struct gt_calls *c, const struct gt_export_sums_options *o,
                     struct gt_export_samples *out, struct gt_error *err)
{
    struct gt_profile_tree tree;
    int status = gt_export_sums_make_paths(c, o, GT_TREE_BY_FIRST, &tree, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < tree.n_roots; i++)
        take_root(out, &tree, &tree.root[i]);
    gt_profile_tree_clear(&tree);
    return status;
}

/* ---- in order of time ---------------------------------------------------------------------- */

struct walk {
    struct gt_export_samples *to;
    GHashTable **children; /* by task: of (stack << 32 | function) the stack above it, each + 1 */
    struct now {
        uint32_t stack; /* index; GT_TREE_NONE: no call is open */
        uint64_t since;
        bool asleep;
    } * now; /* by task */
    size_t n;
    bool wall, full;
};

static bool has_room(struct walk *w)
{
    w->full |= w->n == GT_SAMPLES_MOST;
    w->n += !w->full;
    return !w->full;
}

/* What ran until `time` did. A stack that ran for no time has no sample; an idle task has one. */
static void sample(struct walk *w, uint32_t index, uint64_t time)
{
    struct now *now = &w->now[index];
    const bool idle = now->asleep || now->stack == GT_TREE_NONE;
    GArray *samples = task_of(w->to, index)->samples;
    const struct gt_export_sample s = {now->since, idle ? 0 : time - now->since,
                                       idle ? GT_TREE_NONE : now->stack};
    if (time > now->since && (!idle || samples->len > 0) && has_room(w))
        g_array_append_val(samples, s);
    now->since = time;
}

static uint32_t child_of(struct walk *w, uint32_t index, uint32_t function)
{
    GArray *stacks = task_of(w->to, index)->stacks;
    GHashTable **children = &w->children[index];
    const struct gt_export_sample_stack next = {function, w->now[index].stack};
    const uint64_t key = (uint64_t)(uint32_t)(next.parent + 1) << 32 | function;
    if (!*children)
        *children = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    const uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(*children, &key));
    if (known)
        return known - 1;
    if (!has_room(w))
        return next.parent;
    g_array_append_val(stacks, next);
    g_hash_table_insert(*children, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(stacks->len));
    return stacks->len - 1;
}

static void begin(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                  size_t n)
{
    struct walk *w = self;
    (void)v, (void)n;
    sample(w, e->task, e->time);
    if (gt_call_suspends(e->function) && !w->wall)
        w->now[e->task].asleep = true;
    else
        w->now[e->task].stack = child_of(w, e->task, e->function);
}

static void end(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                size_t n)
{
    struct walk *w = self;
    struct now *now = &w->now[e->task];
    (void)v, (void)n;
    sample(w, e->task, e->time);
    if (gt_call_suspends(e->function) && !w->wall)
        now->asleep = false;
    else if (now->stack != GT_TREE_NONE)
        now->stack = g_array_index(task_of(w->to, e->task)->stacks, struct gt_export_sample_stack,
                                   now->stack)
                         .parent;
}

static void instant(void *self, uint32_t task, uint64_t time, const char *text)
{
    struct walk *w = self;
    const struct gt_export_sample_instant one = {time, g_strdup(text)};
    GArray *to = task == GT_SLICES_CONSOLE ? w->to->console : task_of(w->to, task)->instants;
    if (has_room(w))
        g_array_append_val(to, one);
    else
        g_free(one.text);
}

static int take_time(struct gt_calls *c, const struct gt_export_sums_options *o,
                     const struct gt_output *output, struct gt_export_samples *out,
                     struct gt_error *err)
{
    struct walk w = {.to = out, .wall = o->window->wall};
    const struct gt_export_slices slices = {&w, begin, end, instant, &w.full};
    w.children = g_new0(GHashTable *, out->n + 1);
    w.now = g_new(struct now, out->n + 1);
    for (size_t i = 0; i < out->n; i++)
        w.now[i] = (struct now){.stack = GT_TREE_NONE};
    int status = gt_export_slices_read(c, o->window, &slices, output, err);
    if (status >= 0 && w.full)
        status = gt_error_set(err, GT_E_RANGE,
                              "%s: more than %d samples; choose a shorter time, or leave out short "
                              "calls (--time-filter)",
                              gt_calls_facts(c)->path, GT_SAMPLES_MOST);
    for (size_t i = 0; i < out->n; i++)
        g_clear_pointer(&w.children[i], g_hash_table_unref);
    g_free(w.children);
    g_free(w.now);
    return status;
}

int gt_export_samples_make(struct gt_calls *c, const struct gt_export_sums_options *o,
                           const struct gt_output *output, struct gt_export_samples *out,
                           struct gt_error *err)
{
    const bool in_time = o->window && (o->window->from || o->window->to);
    samples_init(out, c, in_time);
    int status = in_time ? take_time(c, o, output, out, err) : take_sums(c, o, out, err);
    if (status < 0)
        gt_export_samples_clear(out);
    return status;
}
