/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libgtrace: calls as one array, from scans on all processors.
 *
 * A call that began in another stretch of time than that in which it ends comes in parts; they are
 * kept by call until all are there (calls/profile/parts.h).
 */
#include "base/array.h"
#include "calls/profile/parts.h"
#include "gtrace/private.h"

#include <stdlib.h>
#include <string.h>

struct rows {
    struct gtrace_row *row;
    size_t n, room;
};

struct share {
    struct gtrace *t;
    const struct gtrace_window *asked;
    struct gt_gtrace_choice choice;
    struct rows rows;
    struct gt_profile_parts parts;
};

static bool reserve(struct rows *r, size_t n)
{
    return GT_ARRAY_GROW(&r->row, &r->room, r->n + n);
}

static void clear_share(struct share *s)
{
    free(s->rows.row);
    gt_profile_parts_clear(&s->parts);
    gt_gtrace_choice_finish(&s->choice);
}

static void *make_share(void *self)
{
    const struct share *all = self;
    struct share *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->t = all->t;
    s->asked = all->asked;
    gt_gtrace_choice_init(&s->choice, s->asked);
    return s;
}

static int take(struct share *s, const struct gt_call *e)
{
    if ((e->kind != GT_CALL_EXIT && e->kind != GT_CALL_SPLIT) ||
        (!s->asked->wall && gt_call_suspends(e->function)) ||
        !gt_gtrace_chosen(&s->choice, s->t, e->function))
        return 0;
    if (e->kind == GT_CALL_SPLIT || e->flags & GT_CALL_PART) {
        int status = gt_profile_parts_add(&s->parts, e);
        if (status < 0 || e->kind == GT_CALL_SPLIT)
            return status;
    }
    if (!reserve(&s->rows, 1))
        return GT_E_NOMEM;
    s->rows.row[s->rows.n++] = (struct gtrace_row){.begin = e->begin,
                                                   .end = e->time,
                                                   .self = e->self,
                                                   .slept = e->slept,
                                                   .task = e->task,
                                                   .function = e->function,
                                                   .depth = e->depth,
                                                   .flags = gt_gtrace_flags(s->t, e)};
    return 0;
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        int status = take(share, &b->call[i]);
        if (status < 0)
            return status;
    }
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *all = self, *s = share;
    int status = 0;
    if (all && !reserve(&all->rows, s->rows.n))
        status = GT_E_NOMEM;
    if (all && status == 0) {
        if (s->rows.n)
            memcpy(all->rows.row + all->rows.n, s->rows.row, s->rows.n * sizeof *s->rows.row);
        all->rows.n += s->rows.n;
        status = gt_profile_parts_merge(&all->parts, &s->parts);
    }
    clear_share(s);
    free(s);
    return status;
}

/* Where a call that never ended has the times of its beginning, the outer one comes first. */
static int compare(const void *pa, const void *pb)
{
    const struct gtrace_row *a = pa, *b = pb;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

/* The row of a call that came in parts has the last one's times: adds all. */
static void add_part(void *self, const struct gt_profile_part *p)
{
    const struct rows *r = self;
    const struct gtrace_row key = {.begin = p->begin, .task = p->task, .depth = p->depth};
    struct gtrace_row *row = r->n ? bsearch(&key, r->row, r->n, sizeof *r->row, compare) : NULL;
    if (row && p->ended) {
        row->self = p->self;
        row->slept = p->slept;
        row->flags &= ~(uint32_t)GTRACE_PART;
    }
}

API int64_t gtrace_collect(struct gtrace *t, const struct gtrace_window *w, struct gtrace_row **out,
                           struct gtrace_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    struct gt_gtrace_pass pass;
    struct share all = {.t = t};
    struct gt_error e = {0};
    *out = NULL;
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    all.asked = &pass.asked;
    status = gt_calls_scan(t->calls, &pass.window, &consumer, &all, 0, &e);
    gt_gtrace_pass_finish(&pass);
    if (status < 0) {
        clear_share(&all);
        return gt_gtrace_fail(err, status, &e);
    }
    if (all.rows.n)
        qsort(all.rows.row, all.rows.n, sizeof *all.rows.row, compare);
    gt_profile_parts_each(&all.parts, add_part, &all.rows);
    gt_profile_parts_clear(&all.parts);
    *out = all.rows.row;
    return (int64_t)all.rows.n;
}

API void gtrace_free(void *rows)
{
    free(rows);
}
