/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lies below the finest level: see zoom.h. Calls that are shorter than 2^short_exp and touch
 * the part lie within that time around it; so those that the window of the scan cuts are not among
 * them.
 */
#include "calls/timeline/zoom.h"

enum { MOST_CELLS = 1 << 20 };

struct zoom {
    struct gt_timeline_bins *levels;
    uint64_t from, to; /* the part */
    size_t n_tasks;
    unsigned short_exp;
};

struct share {
    const struct zoom *zoom;
    struct gt_timeline_sums sums;
};

static void *make_share(void *self)
{
    const struct zoom *z = self;
    struct share *s = g_new0(struct share, 1);
    s->zoom = z;
    gt_timeline_sums_init(&s->sums, z->n_tasks, z->levels->first, z->levels->exp);
    return s;
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    const struct zoom *z = s->zoom;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if (e->kind == GT_CALL_EXIT && !(e->flags & GT_CALL_CLIPPED) && e->time >= z->from &&
            e->begin <= z->to && (e->time - e->begin) >> z->short_exp == 0)
            gt_timeline_sums_add(&s->sums, e);
    }
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *s = share;
    if (self) {
        gt_timeline_sums_finish(&s->sums);
        gt_timeline_sums_put(&s->sums, ((struct zoom *)self)->levels);
    }
    gt_timeline_sums_clear(&s->sums);
    g_free(s);
    return 0;
}

int gt_timeline_zoom_make(struct gt_calls *c, const struct gt_timeline_part *p, unsigned short_exp,
                          struct gt_timeline_bins *out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    const uint64_t first = gt_calls_facts(c)->first, around = UINT64_C(1) << short_exp;
    *out = (struct gt_timeline_bins){.first = first, .exp = p->exp, .n = 1, .most = MOST_CELLS};
    struct zoom z = {.levels = out,
                     .from = first + (p->bin << p->exp),
                     .n_tasks = gt_calls_n_tasks(c),
                     .short_exp = short_exp};
    z.to = z.from + (p->bins << p->exp);
    g_autofree bool *tasks = g_new0(bool, z.n_tasks + 1);
    for (size_t i = 0; i < p->n_tasks; i++)
        tasks[p->task[i]] = true;
    const struct gt_calls_window w = {
        .from = z.from - first > around ? z.from - around : first,
        .to = z.to + around,
        .tasks = tasks,
    };
    if (!gt_timeline_bins_init(out, z.n_tasks)) {
        gt_timeline_bins_clear(out);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    int status = gt_calls_scan(c, &w, &consumer, &z, p->threads, err);
    if (status >= 0 && out->full)
        status = gt_error_set(err, GT_E_RANGE,
                              "there are too many calls to show; choose a shorter time");
    if (status < 0)
        gt_timeline_bins_clear(out);
    return status < 0 ? status : 0;
}
