/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of tasks and modules, from the tree of calls: see groups.h. */
#include "calls/profile/groups.h"

#include "calls/profile/tree.h"

#include <stdlib.h>
#include <string.h>

/* in[]: for each function the last row that has it, + 1. */
static void add(struct gt_profile_group_row *row, uint32_t number,
                const struct gt_profile_tree_node *node, uint32_t *in)
{
    row->calls += node->calls;
    row->open += node->open;
    row->self += node->self;
    if (in[node->function] != number + 1)
        row->functions++;
    in[node->function] = number + 1;
}

static int no_memory(struct gt_profile_groups *out, struct gt_error *err)
{
    gt_profile_groups_clear(out);
    return gt_error_set(err, GT_E_NOMEM, "out of memory");
}

/* ---- tasks --------------------------------------------------------------------------------- */

static int sum_tasks(const struct gt_calls *c, const struct gt_profile_tree *t,
                     struct gt_profile_groups *out)
{
    uint32_t *in = calloc(gt_calls_n_functions(c) + 1, sizeof *in);
    out->row = calloc(t->n_roots + 1, sizeof *out->row);
    if (in && out->row)
        out->n = t->n_roots;
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t root = t->root[i].node;
        out->row[i] = (struct gt_profile_group_row){
            .index = t->root[i].group, .total = t->node[root].total, .slept = t->node[root].slept};
        for (uint32_t k = root + 1; k < t->node[root].end; k++)
            add(&out->row[i], i, &t->node[k], in);
    }
    free(in);
    return in && out->row ? 0 : GT_E_NOMEM;
}

int gt_profile_groups_of_tasks(struct gt_calls *c, const struct gt_calls_window *w,
                               struct gt_profile_groups *out, struct gt_error *err)
{
    struct gt_profile_tree t;
    const struct gt_profile_tree_options o = {.window = w, .groups = GT_TREE_OF_TASKS};
    *out = (struct gt_profile_groups){0};
    int status = gt_profile_tree_make(c, &o, &t, err);
    if (status < 0)
        return status;
    status = sum_tasks(c, &t, out);
    gt_profile_tree_clear(&t);
    return status < 0 ? no_memory(out, err) : 0;
}

/* ---- modules ------------------------------------------------------------------------------- */

static int compare(const void *pa, const void *pb, void *arg)
{
    return strcmp(gt_calls_function(arg, *(const uint32_t *)pa)->module,
                  gt_calls_function(arg, *(const uint32_t *)pb)->module);
}

/* Numbers the modules by path; *of: that of each function. Returns how many, -1: no memory. */
static int64_t number_modules(const struct gt_calls *c, uint32_t *of,
                              struct gt_profile_group_row *row)
{
    size_t n = gt_calls_n_functions(c);
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    int64_t modules = 0;
    if (!sorted)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = i;
    qsort_r(sorted, n, sizeof *sorted, compare, (void *)(uintptr_t)c);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare(&sorted[i], &sorted[i - 1], (void *)(uintptr_t)c) != 0)
            row[modules++].index = sorted[i];
        of[sorted[i]] = (uint32_t)modules - 1;
    }
    free(sorted);
    return modules;
}

/* end[]: for each module the node after those that its calls lead to. */
static void sum_modules(const struct gt_profile_tree *t, const uint32_t *module, uint32_t *end,
                        uint32_t *in, struct gt_profile_group_row *row)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct gt_profile_tree_node *node = &t->node[i];
        if (node->parent == GT_TREE_NONE)
            continue;
        uint32_t m = module[node->function];
        add(&row[m], m, node, in);
        if (i < end[m])
            continue;
        row[m].total += node->total;
        row[m].slept += node->slept;
        end[m] = node->end;
    }
}

static void drop_empty(struct gt_profile_groups *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->row[i].calls)
            g->row[n++] = g->row[i];
    g->n = n;
}

int gt_profile_groups_of_modules(struct gt_calls *c, const struct gt_calls_window *w,
                                 struct gt_profile_groups *out, struct gt_error *err)
{
    struct gt_profile_tree t;
    const struct gt_profile_tree_options o = {.window = w};
    *out = (struct gt_profile_groups){0};
    int status = gt_profile_tree_make(c, &o, &t, err);
    if (status < 0)
        return status;
    size_t n = gt_calls_n_functions(c) + 1;
    uint32_t *of = calloc(n, sizeof *of), *end = calloc(n, sizeof *end),
             *in = calloc(n, sizeof *in);
    out->row = calloc(n, sizeof *out->row);
    int64_t modules = of && end && in && out->row ? number_modules(c, of, out->row) : -1;
    if (modules >= 0) {
        out->n = (size_t)modules;
        sum_modules(&t, of, end, in, out->row);
        drop_empty(out);
    }
    free(of);
    free(end);
    free(in);
    gt_profile_tree_clear(&t);
    return modules < 0 ? no_memory(out, err) : 0;
}

void gt_profile_groups_clear(struct gt_profile_groups *g)
{
    free(g->row);
    *g = (struct gt_profile_groups){0};
}
