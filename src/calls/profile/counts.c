/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of tasks and functions, made by a scan: see counts.h. */
#include "calls/profile/counts.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct share {
    size_t tasks;
    struct gt_profile_task_counts *task;
    bool *called; /* by function */
    size_t n;     /* those that `called` has room for */
};

static void clear_share(struct share *s)
{
    free(s->task);
    free(s->called);
    *s = (struct share){0};
}

static bool init_share(struct share *s, size_t tasks)
{
    *s = (struct share){.tasks = tasks, .task = calloc(tasks + 1, sizeof *s->task)};
    for (size_t i = 0; s->task && i < tasks; i++)
        s->task[i].first = UINT64_MAX;
    return s->task;
}

static void *make_share(void *self)
{
    struct share *s = malloc(sizeof *s);
    if (s && init_share(s, ((const struct share *)self)->tasks))
        return s;
    free(s);
    return NULL;
}

static bool reserve(struct share *s, size_t n)
{
    return GT_ARRAY_GROW_CLEAR(&s->called, &s->n, n);
}

static bool count_exit(struct share *s, struct gt_profile_task_counts *k, const struct gt_call *e)
{
    if (e->function >= s->n && !reserve(s, (size_t)e->function + 1))
        return false;
    s->called[e->function] = true;
    k->calls++;
    if (e->depth >= k->deepest)
        k->deepest = e->depth + 1;
    return true;
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    struct gt_profile_task_counts *k = &s->task[b->task];
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        k->events += e->kind == GT_CALL_EVENT;
        k->lost += e->kind == GT_CALL_LOST;
        if (e->kind == GT_CALL_EXIT && !count_exit(s, k, e))
            return GT_E_NOMEM;
    }
    if (b->n && b->call[0].time < k->first)
        k->first = b->call[0].time;
    if (b->n && b->call[b->n - 1].time > k->last)
        k->last = b->call[b->n - 1].time;
    return 0;
}

static void add_task(struct gt_profile_task_counts *to, const struct gt_profile_task_counts *from)
{
    to->calls += from->calls;
    to->events += from->events;
    to->lost += from->lost;
    to->deepest = from->deepest > to->deepest ? from->deepest : to->deepest;
    to->first = from->first < to->first ? from->first : to->first;
    to->last = from->last > to->last ? from->last : to->last;
}

static int merge_share(void *self, void *share)
{
    struct share *all = self, *from = share;
    int status = 0;
    if (all && from->n > all->n && !reserve(all, from->n))
        status = GT_E_NOMEM;
    for (size_t i = 0; all && status == 0 && i < from->n; i++)
        all->called[i] |= from->called[i];
    for (size_t i = 0; all && i < all->tasks; i++)
        add_task(&all->task[i], &from->task[i]);
    clear_share(from);
    free(from);
    return status;
}

int gt_profile_counts_make(struct gt_calls *c, struct gt_profile_counts *out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    struct share all;
    struct gt_error scan_err = {0};
    *out = (struct gt_profile_counts){0};
    int status = init_share(&all, gt_calls_n_tasks(c)) ? 0 : GT_E_NOMEM;
    if (status == 0)
        status = gt_calls_scan(c, NULL, &consumer, &all, 0, &scan_err);
    if (status < 0) {
        clear_share(&all);
        return gt_error_set(err, status, "%s", scan_err.status ? scan_err.text : "out of memory");
    }
    for (size_t i = 0; i < all.n; i++)
        out->functions += all.called[i];
    out->task = all.task;
    free(all.called);
    return 0;
}

void gt_profile_counts_clear(struct gt_profile_counts *k)
{
    free(k->task);
    *k = (struct gt_profile_counts){0};
}
