/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small paths of a tree are added to their callers': see tree.h. */
#include "calls/profile/tree.h"

#include <stdlib.h>

static uint64_t value_of(const struct gt_profile_tree_node *n, bool counts)
{
    return n->parent == GT_TREE_NONE ? 0 : counts ? n->calls : (uint64_t)n->self;
}

/* Of each node the sum with all below it; returns that of all. */
static uint64_t sum_up(const struct gt_profile_tree *t, bool counts, uint64_t *sum)
{
    uint64_t all = 0;
    for (size_t i = t->n; i-- > 0;) {
        const struct gt_profile_tree_node *n = &t->node[i];
        const uint64_t value = value_of(n, counts);
        sum[i] += value;
        all += value;
        if (n->parent != GT_TREE_NONE)
            sum[n->parent] += sum[i];
    }
    return all;
}

/* Moves the nodes that stay to the front; to[i] is where node i went. */
static void keep(struct gt_profile_tree *t, const struct gt_profile_tree_least *least,
                 const uint64_t *sum, double limit, uint32_t *to)
{
    const size_t before = t->n;
    t->n = 0;
    for (size_t i = 0; i < before;) {
        struct gt_profile_tree_node n = t->node[i];
        to[i] = (uint32_t)t->n;
        if (n.depth > 1 && (double)sum[i] < limit) {
            struct gt_profile_tree_node *parent = &t->node[to[n.parent]];
            parent->calls += least->counts ? sum[i] : 0;
            parent->self += least->counts ? 0 : (int64_t)sum[i];
            for (; i < n.end; i++)
                to[i] = (uint32_t)t->n;
            continue;
        }
        n.parent = n.parent == GT_TREE_NONE ? GT_TREE_NONE : to[n.parent];
        t->node[t->n++] = n;
        i++;
    }
    to[before] = (uint32_t)t->n;
    for (size_t i = 0; i < t->n; i++)
        t->node[i].end = to[t->node[i].end];
    for (size_t r = 0; r < t->n_roots; r++)
        t->root[r].node = to[t->root[r].node];
}

int gt_profile_tree_prune(struct gt_profile_tree *t, const struct gt_profile_tree_least *least)
{
    uint64_t *sum = calloc(t->n + 1, sizeof *sum);
    uint32_t *to = malloc((t->n + 1) * sizeof *to);
    int status = GT_E_NOMEM;
    if (sum && to) {
        keep(t, least, sum, least->share * (double)sum_up(t, least->counts, sum), to);
        status = 0;
    }
    free(sum);
    free(to);
    return status;
}
