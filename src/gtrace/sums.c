/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: sums of calls by function, task and module; counts of tasks; and what functions of one
 * recording gained from another. */
#include "calls/profile/counts.h"
#include "calls/profile/groups.h"
#include "calls/profile/match.h"
#include "gtrace/private.h"

#include <stdlib.h>

static struct gtrace_sum *sums_of_functions(const struct gt_gtrace_pass *pass, struct gtrace *t,
                                            size_t *n, int *status, struct gt_error *e)
{
    struct gt_gtrace_choice choice;
    struct gt_profile_function_table table;
    *status = gt_profile_function_table_make(t->calls, &pass->window, 0, &table, e);
    struct gtrace_sum *sum = *status < 0 ? NULL : calloc(table.n + 1, sizeof *sum);
    gt_gtrace_choice_init(&choice, &pass->asked);
    for (size_t i = 0; sum && i < table.n; i++) {
        const struct gt_profile_function_sums *s = &table.row[i].sums;
        if (gt_gtrace_chosen(&choice, t, table.row[i].function))
            sum[(*n)++] = (struct gtrace_sum){.calls = s->calls,
                                              .open = s->open,
                                              .total = s->total,
                                              .self = (uint64_t)s->self,
                                              .slept = s->slept,
                                              .mean = gt_profile_function_total_avg(s),
                                              .longest = s->total_max,
                                              .shortest = s->total_min,
                                              .self_longest = (uint64_t)s->self_max,
                                              .self_shortest = (uint64_t)s->self_min,
                                              .index = table.row[i].function};
    }
    gt_gtrace_choice_finish(&choice);
    gt_profile_function_table_clear(&table);
    return sum;
}

static struct gtrace_sum *sums_of_groups(const struct gt_gtrace_pass *pass, const struct gtrace *t,
                                         enum gtrace_by by, size_t *n, int *status,
                                         struct gt_error *e)
{
    struct gt_profile_groups g;
    *status = (by == GTRACE_BY_TASK ? gt_profile_groups_of_tasks
                                    : gt_profile_groups_of_modules)(t->calls, &pass->window, &g, e);
    struct gtrace_sum *sum = *status < 0 ? NULL : calloc(g.n + 1, sizeof *sum);
    for (; sum && *n < g.n; (*n)++) {
        const struct gt_profile_group_row *row = &g.row[*n];
        sum[*n] = (struct gtrace_sum){.calls = row->calls,
                                      .open = row->open,
                                      .total = row->total,
                                      .self = (uint64_t)row->self,
                                      .slept = row->slept,
                                      .index = row->index,
                                      .functions = row->functions};
    }
    gt_profile_groups_clear(&g);
    return sum;
}

API int64_t gtrace_sums(struct gtrace *t, const struct gtrace_window *w, enum gtrace_by by,
                        struct gtrace_sum **out, size_t *stride, struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gt_error e = {0};
    size_t n = 0;
    *out = NULL;
    *stride = sizeof **out;
    if ((unsigned)by > GTRACE_BY_MODULE)
        return gt_gtrace_usage(err, "gtrace_sums: no such kind of sums");
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    *out = by == GTRACE_BY_FUNCTION ? sums_of_functions(&pass, t, &n, &status, &e)
                                    : sums_of_groups(&pass, t, by, &n, &status, &e);
    gt_gtrace_pass_finish(&pass);
    if (status >= 0 && !*out)
        status = GT_E_NOMEM;
    return status < 0 ? gt_gtrace_fail(err, status, &e) : (int64_t)n;
}

API int gtrace_counts(struct gtrace *t, struct gtrace_counts **out, size_t *stride,
                      struct gtrace_error *err)
{
    const size_t n = gt_calls_n_tasks(t->calls);
    struct gt_profile_counts counts;
    struct gt_error e = {0};
    *out = NULL;
    *stride = sizeof **out;
    int status = gt_profile_counts_make(t->calls, &counts, &e);
    struct gtrace_counts *rows = status < 0 ? NULL : calloc(n + 1, sizeof *rows);
    if (status >= 0 && !rows)
        status = GT_E_NOMEM;
    for (size_t i = 0; rows && i < n; i++) {
        const struct gt_profile_task_counts *of = &counts.task[i];
        struct gtrace_counts *all = &rows[n];
        rows[i] = (struct gtrace_counts){.calls = of->calls,
                                         .events = of->events,
                                         .lost = of->lost,
                                         .first = of->first,
                                         .last = of->last,
                                         .deepest = of->deepest};
        all->calls += of->calls;
        all->events += of->events;
        all->lost += of->lost;
        all->first = i ? MIN(all->first, of->first) : of->first;
        all->last = MAX(all->last, of->last);
        all->deepest = MAX(all->deepest, of->deepest);
    }
    if (rows)
        rows[n].functions = (uint32_t)counts.functions;
    gt_profile_counts_clear(&counts);
    if (status < 0)
        return gt_gtrace_fail(err, status, &e);
    *out = rows;
    return 0;
}

/* ---- two recordings ------------------------------------------------------------------------ */

struct both {
    struct gt_profile_function_table table[GT_MATCH_SIDES];
    struct gt_profile_function_match match;
    struct gt_profile_change *change; /* by number */
};

/* Both passes come first: they meet the functions that are matched. */
static int read_both(struct both *b, struct gtrace *const t[2], const struct gtrace_window *w,
                     struct gt_error *e)
{
    struct gt_calls *const side[GT_MATCH_SIDES] = {t[0]->calls, t[1]->calls};
    const struct gt_calls_window window = {.wall = w->wall};
    int status = 0;
    for (int k = 0; k < GT_MATCH_SIDES && status == 0; k++)
        status = gt_profile_function_table_make(side[k], &window, 0, &b->table[k], e);
    if (status < 0)
        return status;
    gt_profile_function_match_make(&b->match, side);
    b->change = calloc(b->match.names->len + 1, sizeof *b->change);
    for (int k = 0; b->change && k < GT_MATCH_SIDES; k++)
        gt_profile_changes_add(b->change, &b->match, k, &b->table[k]);
    return b->change ? 0 : GT_E_NOMEM;
}

static void clear_both(struct both *b)
{
    for (int k = 0; k < GT_MATCH_SIDES; k++)
        gt_profile_function_table_clear(&b->table[k]);
    gt_profile_function_match_clear(&b->match);
    free(b->change);
}

/* An index of each number, with its side: of the first recording where both have it. */
static void name_functions(const struct gt_profile_function_match *m, struct gtrace_change *of)
{
    for (uint32_t side = GT_MATCH_SIDES; side-- > 0;)
        for (size_t i = m->n[side]; i-- > 0;) {
            of[m->id[side][i]].function = (uint32_t)i;
            of[m->id[side][i]].side = side;
        }
}

static struct gtrace_change *rows_of(const struct both *b, size_t *n)
{
    struct gtrace_change *row = calloc(b->match.names->len + 1, sizeof *row);
    *n = 0;
    if (row)
        name_functions(&b->match, row);
    for (guint i = 0; row && i < b->match.names->len; i++) {
        const struct gt_profile_change *c = &b->change[i];
        size_t length;
        if (!gt_profile_change_is_one(c))
            continue;
        struct gtrace_change r = row[i];
        r.file = gt_profile_function_match_file(
            g_array_index(b->match.names, const struct gt_calls_function *, i), &length);
        r.n_file = (uint32_t)length;
        for (int k = 0; k < GT_MATCH_SIDES; k++) {
            r.calls[k] = c->calls[k];
            r.total[k] = c->total[k];
            r.self[k] = c->self[k];
        }
        row[(*n)++] = r;
    }
    return row;
}

API int64_t gtrace_changes(struct gtrace *const t[2], const struct gtrace_window *w,
                           struct gtrace_change **out, size_t *stride, struct gtrace_error *err)
{
    struct gtrace_window asked;
    struct both both = {0};
    struct gt_error e = {0};
    size_t n = 0;
    *out = NULL;
    *stride = sizeof **out;
    gt_gtrace_get(&asked, sizeof asked, w);
    int status = read_both(&both, t, &asked, &e);
    if (status == 0) {
        *out = rows_of(&both, &n);
        status = *out ? 0 : GT_E_NOMEM;
    }
    clear_both(&both);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : (int64_t)n;
}
