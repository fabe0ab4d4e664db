/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes of a tree of calls in depth-first order, siblings in theirs: see tree.h. */
#include "calls/profile/tree_nodes.h"

#include <stdlib.h>
#include <string.h>

void gt_profile_tree_clear(struct gt_profile_tree *t)
{
    free(t->node);
    free(t->root);
    *t = (struct gt_profile_tree){0};
}

struct sorting {
    const struct gt_profile_tree_nodes *nodes;
    const struct gt_calls *calls;
    enum gt_profile_tree_order order;
    uint32_t *child;   /* nodes, a parent's side by side */
    uint32_t *begin;   /* where the children of each node begin in `child`; one more at the end */
    size_t first_root; /* in `child`: roots stand at its end */
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_functions(const struct gt_calls *c, uint32_t a, uint32_t b)
{
    const struct gt_calls_function *fa = gt_calls_function(c, a), *fb = gt_calls_function(c, b);
    int order = strcmp(fa->name, fb->name);
    if (order == 0)
        order = strcmp(fa->module, fb->module);
    return order ? order : compare_u64(fa->address, fb->address);
}

static int compare(const void *pa, const void *pb, void *arg)
{
    const struct sorting *s = arg;
    const struct gt_profile_tree_found *a = &s->nodes->node[*(const uint32_t *)pa];
    const struct gt_profile_tree_found *b = &s->nodes->node[*(const uint32_t *)pb];
    if (a->parent == GT_TREE_NONE)
        return compare_u64(a->function, b->function);
    int order = s->order == GT_TREE_BY_FIRST ? compare_u64(a->first, b->first)
                                             : compare_u64(b->total, a->total);
    if (order == 0 && s->order == GT_TREE_BY_TOTAL)
        order = compare_u64(b->calls, a->calls);
    return order ? order : compare_functions(s->calls, a->function, b->function);
}

/* Groups the nodes by parent, roots last. */
static void group(struct sorting *s)
{
    const struct gt_profile_tree_nodes *t = s->nodes;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].parent != GT_TREE_NONE)
            s->begin[t->node[i].parent + 1]++;
    for (size_t i = 0; i < t->n; i++)
        s->begin[i + 1] += s->begin[i];
    s->first_root = s->begin[t->n];
    size_t root = s->first_root;
    for (size_t i = t->n; i-- > 0;) { /* begin[p + 1], the end of p's, becomes its begin */
        uint32_t p = t->node[i].parent;
        if (p == GT_TREE_NONE)
            s->child[root++] = (uint32_t)i;
        else
            s->child[--s->begin[p + 1]] = (uint32_t)i;
    }
}

/* After group() the children of i begin at begin[i + 1] and end where the children of i + 1 begin.
 */
static size_t children(const struct sorting *s, size_t i, const uint32_t **first)
{
    size_t begin = s->begin[i + 1];
    size_t end = i + 1 < s->nodes->n ? s->begin[i + 2] : s->first_root;
    *first = s->child + begin;
    return end - begin;
}

static void sort(struct sorting *s)
{
    for (size_t i = 0; i < s->nodes->n; i++) {
        const uint32_t *first;
        size_t n = children(s, i, &first);
        if (n > 1)
            qsort_r(s->child + (first - s->child), n, sizeof *first, compare, s);
    }
    qsort_r(s->child + s->first_root, s->nodes->n - s->first_root, sizeof *s->child, compare, s);
}

static void put_node(const struct sorting *s, uint32_t found, uint32_t parent,
                     struct gt_profile_tree *out)
{
    const struct gt_profile_tree_found *f = &s->nodes->node[found];
    struct gt_profile_tree_node *to = &out->node[out->n++];
    *to = (struct gt_profile_tree_node){
        .calls = f->calls,
        .open = f->open,
        /* below 0: of a call whose end is damaged only what it slept is known */
        .total = (int64_t)f->total < 0 ? 0 : f->total,
        .slept = f->slept,
        .self = f->self,
        .first = f->first,
        .function = parent == GT_TREE_NONE ? GT_TREE_NONE : f->function,
        .parent = parent,
        .depth = f->depth};
}

/* A root and all below it. `stack` has room for all nodes: those that come, the next one last; of
 * each also its parent in `out`. */
static void put_tree(const struct sorting *s, uint32_t root, uint32_t (*stack)[2],
                     struct gt_profile_tree *out)
{
    size_t left = 1;
    stack[0][0] = root;
    stack[0][1] = GT_TREE_NONE;
    while (left) {
        uint32_t at = (uint32_t)out->n, found = stack[--left][0];
        put_node(s, found, stack[left][1], out);
        const uint32_t *first;
        for (size_t n = children(s, found, &first); n-- > 0; left++) {
            stack[left][0] = first[n];
            stack[left][1] = at;
        }
    }
}

/* Ends of subtrees; sums of roots. */
static void complete(struct gt_profile_tree *out)
{
    for (size_t i = out->n; i-- > 0;) {
        struct gt_profile_tree_node *node = &out->node[i];
        if (node->end == 0)
            node->end = (uint32_t)i + 1;
        if (node->parent == GT_TREE_NONE)
            continue;
        struct gt_profile_tree_node *parent = &out->node[node->parent];
        if (parent->end < node->end)
            parent->end = node->end;
        if (parent->parent == GT_TREE_NONE) {
            parent->calls += node->calls;
            parent->open += node->open;
            parent->total += node->total;
            parent->slept += node->slept;
            parent->first = node->first < parent->first ? node->first : parent->first;
        }
    }
}

static int fill(struct sorting *s, struct gt_profile_tree *out)
{
    size_t n = s->nodes->n;
    uint32_t(*stack)[2] = malloc((n + 1) * sizeof *stack);
    if (!stack)
        return GT_E_NOMEM;
    group(s);
    sort(s);
    for (size_t i = s->first_root; i < n; i++) {
        uint32_t root = s->child[i], at = (uint32_t)out->n;
        const uint32_t *first;
        if (children(s, root, &first) == 0)
            continue;
        out->root[out->n_roots++] =
            (struct gt_profile_tree_root){at, s->nodes->node[root].function};
        put_tree(s, root, stack, out);
    }
    free(stack);
    complete(out);
    return 0;
}

int gt_profile_tree_nodes_finish(const struct gt_profile_tree_nodes *t, const struct gt_calls *c,
                                 enum gt_profile_tree_order order, struct gt_profile_tree *out)
{
    struct sorting s = {.nodes = t, .calls = c, .order = order};
    size_t roots = 0;
    for (size_t i = 0; i < t->n; i++)
        roots += t->node[i].parent == GT_TREE_NONE;
    *out = (struct gt_profile_tree){.node = malloc((t->n + 1) * sizeof *out->node),
                                    .root = malloc((roots + 1) * sizeof *out->root)};
    s.child = malloc((t->n + 1) * sizeof *s.child);
    s.begin = calloc(t->n + 2, sizeof *s.begin);
    int status = GT_E_NOMEM;
    if (out->node && out->root && s.child && s.begin)
        status = fill(&s, out);
    free(s.child);
    free(s.begin);
    if (status < 0)
        gt_profile_tree_clear(out);
    return status;
}
