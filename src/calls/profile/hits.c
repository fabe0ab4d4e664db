/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of chosen functions, in an order: see hits.h. */
#include "calls/profile/hits.h"

#include "base/search.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* What all threads share, and their shares of it. */
struct search {
    struct gt_calls *calls;
    const struct gt_profile_hits_options *o;
    uint64_t first, width; /* of the parts of time */
};

struct share {
    const struct search *search;
    GArray *hits; /* struct gt_profile_hit; no more than twice GT_HITS_ROWS */
    struct gt_profile_hits sums;
};

static unsigned part_of(uint64_t duration)
{
    if (duration < GT_HITS_FINE)
        return (unsigned)duration;
    const unsigned octave = 63 - (unsigned)__builtin_clzll(duration);
    return (octave - 1) * GT_HITS_FINE + (unsigned)(duration >> (octave - 2) & (GT_HITS_FINE - 1));
}

/* ---- order --------------------------------------------------------------------------------- */

static int compare_names(const struct gt_calls *c, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(gt_calls_function(c, a)->name, gt_calls_function(c, b)->name);
}

/* Equal ones are in order of time: the order does not depend on the threads. */
static int compare(const void *pa, const void *pb, void *self)
{
    const struct search *s = self;
    const struct gt_profile_hit *a = pa, *b = pb;
    int order = 0;
    if (s->o->by == GT_HITS_BY_DURATION)
        order = gt_base_search_compare(a->duration, b->duration);
    else if (s->o->by == GT_HITS_BY_TASK)
        order = gt_base_search_compare(a->task, b->task);
    else if (s->o->by == GT_HITS_BY_FUNCTION)
        order = compare_names(s->calls, a->function, b->function);
    else
        order = gt_base_search_compare(a->begin, b->begin);
    if (order)
        return s->o->down ? -order : order;
    order = gt_base_search_compare(a->begin, b->begin);
    if (!order)
        order = gt_base_search_compare(a->task, b->task);
    return order ? order : gt_base_search_compare(a->depth, b->depth);
}

/* Leaves those that come first. */
static void cut(GArray *hits, const struct search *s)
{
    if (hits->len > 1)
        qsort_r(hits->data, hits->len, sizeof(struct gt_profile_hit), compare, (void *)s);
    if (hits->len > GT_HITS_ROWS)
        g_array_set_size(hits, GT_HITS_ROWS);
}

static void take_hit(struct share *t, const struct gt_profile_hit *hit)
{
    if (t->hits->len >= 2 * GT_HITS_ROWS)
        cut(t->hits, t->search);
    g_array_append_val(t->hits, *hit);
}

/* ---- scan ---------------------------------------------------------------------------------- */

static struct share *share_new(const struct search *s)
{
    struct share *t = g_new0(struct share, 1);
    t->search = s;
    t->hits = g_array_new(FALSE, FALSE, sizeof(struct gt_profile_hit));
    return t;
}

static void *make_share(void *self)
{
    return share_new(((const struct share *)self)->search);
}

static void take_call(struct share *t, const struct gt_call *e)
{
    const struct search *s = t->search;
    const struct gt_profile_hit hit = {.begin = e->begin,
                                       .duration = e->time - e->begin,
                                       .task = e->task,
                                       .depth = e->depth,
                                       .function = e->function,
                                       .flags = gt_call_end_flags(s->calls, e)};
    t->sums.all++;
    t->sums.durations[part_of(hit.duration)]++;
    if (hit.duration < s->o->least || hit.duration > s->o->most)
        return;
    t->sums.calls++;
    t->sums.marks[MIN((hit.begin - MIN(hit.begin, s->first)) / s->width, GT_HITS_MARKS - 1)]++;
    if (!s->o->after || compare(s->o->after, &hit, (void *)s) < 0)
        take_hit(t, &hit);
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *t = share;
    const struct gt_profile_hits_options *o = t->search->o;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if (e->kind == GT_CALL_EXIT && e->function < o->n && o->wanted[e->function])
            take_call(t, e);
    }
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *all = self, *t = share;
    if (all) {
        all->sums.calls += t->sums.calls;
        all->sums.all += t->sums.all;
        for (size_t i = 0; i < GT_HITS_MARKS; i++)
            all->sums.marks[i] += t->sums.marks[i];
        for (size_t i = 0; i < GT_HITS_DURATIONS; i++)
            all->sums.durations[i] += t->sums.durations[i];
        for (guint i = 0; i < t->hits->len; i++)
            take_hit(all, &g_array_index(t->hits, struct gt_profile_hit, i));
    }
    g_array_free(t->hits, TRUE);
    g_free(t);
    return 0;
}

int gt_profile_hits_make(struct gt_calls *c, const struct gt_profile_hits_options *o,
                         struct gt_profile_hits *out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    const struct gt_calls_facts *f = gt_calls_facts(c);
    const struct search s = {
        .calls = c, .o = o, .first = f->first, .width = (f->last - f->first) / GT_HITS_MARKS + 1};
    struct share *all = share_new(&s);
    const int status = gt_calls_scan(c, o->window, &consumer, all, o->threads, err);
    *out = (struct gt_profile_hits){0};
    if (status >= 0) {
        cut(all->hits, &s);
        *out = all->sums;
        out->n = all->hits->len;
        out->row =
            (struct gt_profile_hit *)(void *)g_array_free(g_steal_pointer(&all->hits), FALSE);
        g_free(all);
    } else {
        merge_share(NULL, all);
    }
    return MIN(status, 0);
}

void gt_profile_hits_clear(struct gt_profile_hits *h)
{
    g_free(h->row);
    *h = (struct gt_profile_hits){0};
}
