/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that a forked child inherits: see forks.h. A walk of the parent up to the fork says them.
 */
#include "calls/read/forks.h"

#include "calls/read/pass.h"

enum { GENERATIONS = 64 }; /* whose parents are forked children as well */

static __thread int generation;

struct following {
    GArray *open;    /* of the parent now */
    GArray *forking; /* when it last was where it may have forked */
    size_t n;
    uint32_t function;
};

static int follow(void *self, const struct gt_call *e)
{
    struct following *f = self;
    if (e->flags & (GT_CALL_CLIPPED | GT_CALL_UNFINISHED))
        return 1;
    if (e->kind == GT_CALL_EXIT)
        g_array_set_size(f->open, f->open->len - 1);
    if (e->kind != GT_CALL_ENTRY)
        return 0;
    g_array_append_val(f->open, e->function);
    if (f->open->len == f->n && (f->function == UINT32_MAX || f->function == e->function)) {
        g_array_set_size(f->forking, 0);
        g_array_append_vals(f->forking, f->open->data, f->open->len);
    }
    return 0;
}

static GArray *find(struct gt_calls *c, const struct gt_calls_tasks_task *t, size_t n,
                    uint32_t function)
{
    uint32_t parent = gt_calls_tasks_find(&c->tasks, t->parent);
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    struct following f = {open, g_array_new(FALSE, FALSE, sizeof(uint32_t)), n, function};
    if (parent == UINT32_MAX || generation == GENERATIONS)
        return f.forking;
    g_autofree bool *only = g_new0(bool, c->tasks.task->len);
    only[parent] = true;
    const struct gt_calls_window w = {.to = t->public.start, .tasks = only};
    generation++;
    if (gt_calls_pass_walk(c, &w, follow, &f, NULL) < 0)
        g_array_set_size(f.forking, 0);
    generation--;
    return f.forking;
}

const GArray *gt_calls_forks_inherited(struct gt_calls *c, uint32_t task, size_t n,
                                       uint32_t function)
{
    gpointer key = GUINT_TO_POINTER(task);
    pthread_mutex_lock(&c->forks_lock);
    GArray *open = g_hash_table_lookup(c->forks, key);
    pthread_mutex_unlock(&c->forks_lock);
    if (open)
        return open;
    GArray *found = find(c, gt_calls_tasks_at(&c->tasks, task), n, function);
    pthread_mutex_lock(&c->forks_lock);
    open = g_hash_table_lookup(c->forks, key);
    if (!open)
        g_hash_table_insert(c->forks, key, g_array_ref(open = found));
    pthread_mutex_unlock(&c->forks_lock);
    g_array_unref(found);
    return open;
}
