/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of a scan as slices and sums of bins: see sums.h. A task's calls of one depth end in order
 * of time, so one bin of each task and depth is open at a time.
 */
#include "calls/timeline/sums.h"

#include <string.h>

static void free_bins(gpointer bins)
{
    if (bins)
        g_array_free(bins, TRUE);
}

void gt_timeline_sums_init(struct gt_timeline_sums *s, size_t n_tasks, uint64_t first, unsigned exp)
{
    *s = (struct gt_timeline_sums){.first = first, .exp = exp};
    s->bins = g_ptr_array_new_with_free_func(free_bins);
    g_ptr_array_set_size(s->bins, (gint)n_tasks);
    s->done = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_sums_done));
}

void gt_timeline_sums_clear(struct gt_timeline_sums *s)
{
    g_ptr_array_free(s->bins, TRUE);
    g_array_free(s->done, TRUE);
}

static struct gt_timeline_sums_bin *bin_at(struct gt_timeline_sums *s, uint32_t task,
                                           uint32_t depth)
{
    GArray *bins = s->bins->pdata[task];
    if (!bins)
        bins = s->bins->pdata[task] = g_array_new(FALSE, TRUE, sizeof(struct gt_timeline_sums_bin));
    if (bins->len <= depth)
        g_array_set_size(bins, depth + 1);
    return &g_array_index(bins, struct gt_timeline_sums_bin, depth);
}

/* The two functions that cover most. */
static void complete(struct gt_timeline_sums *s, struct gt_timeline_sums_bin *b, uint32_t task,
                     uint32_t depth)
{
    struct gt_timeline_sums_done done = {.as.sum = {.bin = b->bin,
                                                    .covered = b->covered,
                                                    .task = task,
                                                    .calls = b->calls,
                                                    .depth = (uint16_t)depth}};
    for (int n = 0; n < 2; n++) {
        int most = 0;
        for (int i = 1; i < GT_SUMS_CANDIDATES; i++)
            if (b->weight[i] > b->weight[most])
                most = i;
        done.as.sum.weight[n] = b->weight[most];
        done.as.sum.function[n] = b->function[most];
        b->weight[most] = 0;
    }
    b->used = false;
    g_array_append_val(s->done, done);
}

static void weigh(struct gt_timeline_sums_bin *b, uint32_t function, uint64_t weight)
{
    int least = 0;
    for (int i = 0; i < GT_SUMS_CANDIDATES; i++) {
        if (b->function[i] == function && b->weight[i]) {
            b->weight[i] += weight;
            return;
        }
        if (b->weight[i] < b->weight[least])
            least = i;
    }
    if (weight >= b->weight[least]) {
        b->function[least] = function;
        b->weight[least] = weight - b->weight[least];
    } else {
        b->weight[least] -= weight;
    }
}

static void add_to_bin(struct gt_timeline_sums *s, const struct gt_call *e, uint64_t bin,
                       uint64_t covered, uint32_t calls)
{
    struct gt_timeline_sums_bin *b = bin_at(s, e->task, e->depth);
    if (b->used && b->bin != bin)
        complete(s, b, e->task, e->depth);
    if (!b->used)
        *b = (struct gt_timeline_sums_bin){.bin = bin, .used = true};
    b->calls += calls;
    b->covered += covered;
    weigh(b, e->function, covered);
}

/* Later calls of its depth are in other bins. */
static void add_slice(struct gt_timeline_sums *s, const struct gt_call *e)
{
    struct gt_timeline_sums_bin *b = bin_at(s, e->task, e->depth);
    if (b->used)
        complete(s, b, e->task, e->depth);
    const struct gt_timeline_sums_done done = {
        .task = e->task,
        .is_slice = true,
        .as.slice = {e->begin, e->time - e->begin, e->function, (uint16_t)e->depth, e->flags}};
    g_array_append_val(s->done, done);
}

void gt_timeline_sums_add(struct gt_timeline_sums *s, const struct gt_call *e)
{
    const uint64_t from = e->begin - s->first, to = e->time - s->first;
    if (e->depth >= GT_TIMELINE_DEPTHS) {
        s->deeper++;
        return;
    }
    if ((to - from) >> s->exp) {
        add_slice(s, e);
        return;
    }
    const uint64_t bin = from >> s->exp, next = (bin + 1) << s->exp;
    add_to_bin(s, e, bin, MIN(to, next) - from, 1);
    if (to > next)
        add_to_bin(s, e, bin + 1, to - next, 0);
}

void gt_timeline_sums_finish(struct gt_timeline_sums *s)
{
    for (uint32_t task = 0; task < s->bins->len; task++) {
        GArray *bins = s->bins->pdata[task];
        for (uint32_t depth = 0; bins && depth < bins->len; depth++) {
            struct gt_timeline_sums_bin *b =
                &g_array_index(bins, struct gt_timeline_sums_bin, depth);
            if (b->used)
                complete(s, b, task, depth);
        }
    }
}

void gt_timeline_sums_put(struct gt_timeline_sums *s, struct gt_timeline_bins *l)
{
    for (guint i = 0; i < s->done->len; i++) {
        const struct gt_timeline_sums_done *d =
            &g_array_index(s->done, struct gt_timeline_sums_done, i);
        if (d->is_slice)
            gt_timeline_bins_add_slice(l, d->task, &d->as.slice);
        else
            gt_timeline_bins_add_sum(l, &d->as.sum);
    }
    g_array_set_size(s->done, 0);
}
