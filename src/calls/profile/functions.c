/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of functions, made by a scan: see functions.h.
 *
 * A call that began in another stretch than that in which it ends has its times in parts, one a
 * stretch. They are kept by call (struct gt_profile_parts) until all are there.
 */

#include "calls/profile/functions.h"
#include "base/array.h"
#include "calls/profile/parts.h"

#include <stdlib.h>
#include <string.h>

/* Of each function by index; those beyond `n` were not called. */
struct sums {
    struct gt_profile_function_sums *of;
    size_t n;
};

struct share {
    const struct gt_calls *calls;
    bool wall; /* of the window */
    struct sums sums;
    struct gt_profile_parts parts;
};

static const struct gt_profile_function_sums nothing = {
    .total_min = UINT64_MAX, .self_min = INT64_MAX, .self_max = INT64_MIN};

static bool reserve(struct sums *s, size_t n)
{
    size_t before = s->n;
    if (!GT_ARRAY_GROW(&s->of, &s->n, n))
        return false;
    for (size_t i = before; i < s->n; i++)
        s->of[i] = nothing;
    return true;
}

static void add_bounds(struct gt_profile_function_sums *s, uint64_t total, int64_t self)
{
    s->total_min = total < s->total_min ? total : s->total_min;
    s->total_max = total > s->total_max ? total : s->total_max;
    s->self_min = self < s->self_min ? self : s->self_min;
    s->self_max = self > s->self_max ? self : s->self_max;
}

static void add(struct gt_profile_function_sums *s, const struct gt_profile_function_sums *more)
{
    s->calls += more->calls;
    s->open += more->open;
    s->total += more->total;
    s->nested += more->nested;
    s->slept += more->slept;
    s->self += more->self;
    s->total_min = more->total_min < s->total_min ? more->total_min : s->total_min;
    s->total_max = more->total_max > s->total_max ? more->total_max : s->total_max;
    s->self_min = more->self_min < s->self_min ? more->self_min : s->self_min;
    s->self_max = more->self_max > s->self_max ? more->self_max : s->self_max;
}

/* ---- a share ------------------------------------------------------------------------------- */

static void clear_share(struct share *s)
{
    free(s->sums.of);
    gt_profile_parts_clear(&s->parts);
    *s = (struct share){0};
}

static void *make_share(void *self)
{
    struct share *s = calloc(1, sizeof *s);
    const struct share *all = self;
    if (s)
        *s = (struct share){.calls = all->calls, .wall = all->wall};
    return s;
}

/* An EXIT or a SPLIT. */
static void take_part(struct gt_profile_function_sums *s, const struct gt_call *e)
{
    const bool exits = e->kind == GT_CALL_EXIT;
    const uint64_t ran = exits ? gt_call_ran(e) : 0 - e->slept;
    s->calls += exits;
    s->self += e->self;
    if (e->flags & GT_CALL_RECURSIVE) {
        s->nested += ran;
    } else {
        s->total += ran;
        s->slept += e->slept;
    }
    if (exits && !(e->flags & GT_CALL_PART))
        add_bounds(s, ran, e->self);
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    const uint64_t first_end = gt_calls_first_end(s->calls, b->task);
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if ((e->kind != GT_CALL_EXIT && e->kind != GT_CALL_SPLIT) ||
            (!s->wall && gt_call_suspends(e->function)))
            continue;
        if (e->function >= s->sums.n && !reserve(&s->sums, (size_t)e->function + 1))
            return GT_E_NOMEM;
        take_part(&s->sums.of[e->function], e);
        if (gt_call_may_be_open(e, first_end))
            s->sums.of[e->function].open += gt_calls_is_open(s->calls, e);
        if ((e->kind == GT_CALL_SPLIT || e->flags & GT_CALL_PART) &&
            gt_profile_parts_add(&s->parts, e) < 0)
            return GT_E_NOMEM;
    }
    return 0;
}

static int merge_sums(struct sums *to, const struct sums *from)
{
    if (from->n > to->n && !reserve(to, from->n))
        return GT_E_NOMEM;
    for (size_t i = 0; i < from->n; i++)
        if (from->of[i].calls || from->of[i].self || from->of[i].slept)
            add(&to->of[i], &from->of[i]);
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *all = self;
    int status = 0;
    if (all)
        status = merge_sums(&all->sums, &((struct share *)share)->sums);
    if (all && status == 0)
        status = gt_profile_parts_merge(&all->parts, &((struct share *)share)->parts);
    clear_share(share);
    free(share);
    return status;
}

/* ---- the result ---------------------------------------------------------------------------- */

static void add_part(void *self, const struct gt_profile_part *p)
{
    struct sums *s = self;
    if (p->function < s->n && p->ended)
        add_bounds(&s->of[p->function], p->end - p->begin - p->slept, p->self);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
    const struct gt_profile_function_row *a = pa, *b = pb;
    const struct gt_calls_function *fa = gt_calls_function(arg, a->function);
    const struct gt_calls_function *fb = gt_calls_function(arg, b->function);
    int order = strcmp(fa->name, fb->name);
    return order ? order : strcmp(fa->module, fb->module);
}

static int make_rows(const struct gt_calls *c, struct sums *s,
                     struct gt_profile_function_table *out)
{
    uint32_t *first;
    bool any;
    int status = gt_profile_same_names(c, &first, &any);
    if (status < 0)
        return status;
    size_t n = gt_calls_n_functions(c);
    for (size_t i = 0; any && i < n && i < s->n; i++)
        if (first[i] != i && s->of[i].calls) {
            if (first[i] >= s->n && !reserve(s, (size_t)first[i] + 1)) {
                free(first);
                return GT_E_NOMEM;
            }
            add(&s->of[first[i]], &s->of[i]);
            s->of[i] = nothing;
        }
    free(first);
    out->row = malloc((s->n + 1) * sizeof *out->row);
    if (!out->row)
        return GT_E_NOMEM;
    for (size_t i = 0; i < s->n && i < n; i++)
        if (s->of[i].calls)
            out->row[out->n++] = (struct gt_profile_function_row){s->of[i], (uint32_t)i};
    qsort_r(out->row, out->n, sizeof *out->row, compare_rows, (void *)(uintptr_t)c);
    return 0;
}

int gt_profile_function_table_make(struct gt_calls *c, const struct gt_calls_window *w,
                                   unsigned threads, struct gt_profile_function_table *out,
                                   struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    struct share all = {.calls = c, .wall = w && w->wall};
    struct gt_error scan_err = {0};
    *out = (struct gt_profile_function_table){0};
    int status = gt_calls_scan(c, w, &consumer, &all, threads, &scan_err);
    if (status >= 0) {
        gt_profile_parts_each(&all.parts, add_part, &all.sums);
        status = make_rows(c, &all.sums, out);
    }
    if (status < 0)
        gt_error_set(err, status, "%s", scan_err.status ? scan_err.text : "out of memory");
    clear_share(&all);
    return status < 0 ? status : 0;
}

void gt_profile_function_table_clear(struct gt_profile_function_table *f)
{
    free(f->row);
    *f = (struct gt_profile_function_table){0};
}
