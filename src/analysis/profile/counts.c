/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of tasks, made by a scan: see counts.h. */
#include "analysis/profile/counts.h"

#include <stdlib.h>

struct counting {
    size_t n;
    struct gt_task_counts *of; /* by task */
};

static struct gt_task_counts *make_counts(size_t n)
{
    struct gt_task_counts *of = calloc(n + 1, sizeof *of);
    for (size_t i = 0; of && i < n; i++)
        of[i].first = UINT64_MAX;
    return of;
}

static void *make_share(void *self)
{
    return make_counts(((struct counting *)self)->n);
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct gt_task_counts *k = (struct gt_task_counts *)share + b->task;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        k->calls += e->kind == GT_CALL_EXIT;
        k->events += e->kind == GT_CALL_EVENT;
        k->lost += e->kind == GT_CALL_LOST;
        if (e->kind == GT_CALL_ENTRY && e->depth >= k->deepest)
            k->deepest = e->depth + 1;
    }
    if (b->n && b->call[0].time < k->first)
        k->first = b->call[0].time;
    if (b->n && b->call[b->n - 1].time > k->last)
        k->last = b->call[b->n - 1].time;
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct counting *all = self;
    const struct gt_task_counts *from = share;
    for (size_t i = 0; all && i < all->n; i++) {
        struct gt_task_counts *to = &all->of[i];
        to->calls += from[i].calls;
        to->events += from[i].events;
        to->lost += from[i].lost;
        to->deepest = from[i].deepest > to->deepest ? from[i].deepest : to->deepest;
        to->first = from[i].first < to->first ? from[i].first : to->first;
        to->last = from[i].last > to->last ? from[i].last : to->last;
    }
    free(share);
    return 0;
}

int gt_task_counts_make(struct gt_calls *c, struct gt_task_counts **out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    struct counting all = {.n = gt_calls_n_tasks(c)};
    *out = NULL;
    all.of = make_counts(all.n);
    if (!all.of)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = gt_calls_scan(c, NULL, &consumer, &all, 0, err);
    if (status < 0)
        free(all.of);
    else
        *out = all.of;
    return status < 0 ? status : 0;
}
