/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See model.h. */
#include "model.h"

#include <stdlib.h>

/* One call, decided by the filters that do not look at time. */
struct decided {
    bool inside, outside, small, taken, turns_on, turns_off;
    uint32_t left, size;
    uint64_t time;
};

/* Recording is on from a time (included) to another. */
struct stretch {
    uint64_t from, to;
};

struct run {
    const struct model *m;
    const struct model_call *call;
    size_t n, n_stretches;
    struct decided d[MODEL_CALLS];
    struct stretch on[MODEL_CALLS + 1];
    unsigned met[MODEL_FUNCTIONS], fired[MODEL_FUNCTIONS];
    bool is_on;
};

static bool switches(struct run *r, int f)
{
    const struct model_function *fn = &r->m->function[f];
    if (!fn->counted)
        return true;
    unsigned n = ++r->met[f];
    if (n <= fn->after || (n - fn->after - 1) % fn->every != 0)
        return false;
    return r->fired[f]++ < fn->count;
}

static void turn(struct run *r, bool on, uint64_t time)
{
    if (on && !r->is_on)
        r->on[r->n_stretches++] = (struct stretch){time, UINT64_MAX};
    if (!on && r->is_on)
        r->on[r->n_stretches - 1].to = time;
    r->is_on = on;
}

static void decide(struct run *r, size_t i)
{
    const struct model *m = r->m;
    const struct model_call *c = &r->call[i];
    const struct model_function *f = &m->function[c->function];
    struct decided *d = &r->d[i];
    const struct decided outermost = {.left = m->depth, .size = m->size, .time = m->time};
    bool may_switch = (f->on || f->off) && switches(r, c->function);
    *d = c->parent < 0 ? outermost : r->d[c->parent];
    d->taken = d->turns_on = d->turns_off = false;
    if (f->time >= 0)
        d->time = (uint64_t)f->time;
    if (f->size >= 0)
        d->size = (uint32_t)f->size;
    d->small = f->own_size < d->size;
    if (d->outside || d->small)
        return;
    if (f->only) {
        d->inside = true;
        d->left = m->depth;
    } else if (f->not ) {
        d->outside = true;
        return;
    }
    if ((m->only && !d->inside) || f->place < 0 || (m->places && f->place <= 0))
        return;
    if (f->depth >= 0)
        d->left = (uint32_t)f->depth;
    if (may_switch)
        turn(r, f->on, c->begin);
    d->taken = !f->hide && d->left > 0;
    if (d->taken && r->is_on)
        d->left--;
}

static bool is_within(const struct run *r, size_t inner, size_t outer)
{
    for (int i = (int)inner; i >= 0; i = r->call[i].parent)
        if (i == (int)outer)
            return true;
    return false;
}

/* The call by itself is reason enough to record it and its callers. */
static bool suffices(const struct run *r, size_t i, const struct stretch *s)
{
    const struct model_function *f = &r->m->function[r->call[i].function];
    uint64_t end = r->call[i].end < s->to ? r->call[i].end : s->to;
    if (r->d[i].small)
        return false;
    if (f->always)
        return true;
    return end - r->call[i].begin >= r->d[i].time && (!r->m->callers || f->caller);
}

/* The call, or some part of it, is open in the stretch. One that ends where recording is switched
 * on is not: nothing comes after it. */
static bool is_seen(const struct model_call *c, const struct stretch *s)
{
    return c->begin < s->to && c->end > s->from;
}

static bool is_recorded(const struct run *r, size_t i, const struct stretch *s)
{
    if (!r->d[i].taken || !is_seen(&r->call[i], s))
        return false;
    for (size_t k = i; k < r->n; k++)
        if (is_within(r, k, i) && is_seen(&r->call[k], s) && suffices(r, k, s))
            return true;
    return false;
}

/* By time; of one time exits first, inner ones before outer ones, then entries from outside in. */
static int by_time(const void *left, const void *right)
{
    const struct model_record *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->leaves != b->leaves)
        return a->leaves ? -1 : 1;
    if (a->depth == b->depth)
        return 0;
    return (a->depth < b->depth) == a->leaves ? 1 : -1;
}

size_t model_records(const struct model *m, const struct model_call *call, size_t n,
                     struct model_record *out)
{
    static struct run r;
    size_t k = 0;
    r = (struct run){.m = m, .call = call, .n = n};
    turn(&r, !m->off, 0);
    for (size_t i = 0; i < n; i++)
        decide(&r, i);
    for (size_t j = 0; j < r.n_stretches; j++)
        for (size_t i = 0; i < n; i++) {
            const struct stretch *s = &r.on[j];
            if (!is_recorded(&r, i, s))
                continue;
            uint64_t begin = call[i].begin > s->from ? call[i].begin : s->from;
            uint64_t end = call[i].end < s->to ? call[i].end : s->to;
            out[k++] = (struct model_record){false, call[i].depth, begin, (int)i};
            out[k++] = (struct model_record){true, call[i].depth, end, (int)i};
        }
    qsort(out, k, sizeof *out, by_time);
    return k;
}
