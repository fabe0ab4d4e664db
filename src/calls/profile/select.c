/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a tree of calls: see select.h. */
#include "calls/profile/select.h"

#include "calls/profile/tree_nodes.h"

#include <stdlib.h>

static void add(struct gt_profile_tree_found *sum, const struct gt_profile_tree_node *node,
                uint64_t total, uint64_t slept)
{
    sum->calls += node->calls;
    sum->open += node->open;
    sum->total += total;
    sum->slept += slept;
    sum->self += node->self;
    sum->first = node->first < sum->first ? node->first : sum->first;
}

static bool is_chosen(const struct gt_profile_tree_node *node, const bool *chosen)
{
    return node->parent != GT_TREE_NONE && chosen[node->function];
}

static int finish(struct gt_profile_tree_nodes *nodes, int status, const struct gt_calls *c,
                  enum gt_profile_tree_order order, struct gt_profile_tree *out)
{
    *out = (struct gt_profile_tree){0};
    if (status == 0)
        status = gt_profile_tree_nodes_finish(nodes, c, order, out);
    gt_profile_tree_nodes_clear(nodes);
    return status;
}

/* ---- below --------------------------------------------------------------------------------- */

/* Copies a node and all below it; `to`, by node, is where the copies are. */
static int copy_below(const struct gt_profile_tree *t, uint32_t from,
                      struct gt_profile_tree_nodes *nodes, uint32_t *to)
{
    uint32_t root = gt_profile_tree_nodes_find(nodes, GT_TREE_NONE, 0);
    for (uint32_t i = from; i < t->node[from].end; i++) {
        const struct gt_profile_tree_node *node = &t->node[i];
        uint32_t parent = i == from ? root : to[node->parent];
        if (parent != GT_TREE_NONE)
            parent = gt_profile_tree_nodes_child(nodes, parent, node->function);
        if (parent == GT_TREE_NONE)
            return GT_E_RANGE;
        to[i] = parent;
        add(&nodes->node[to[i]], node, node->total, node->slept);
    }
    return 0;
}

int gt_profile_tree_below(const struct gt_profile_tree *t, const struct gt_calls *c,
                          const bool *chosen, enum gt_profile_tree_order order,
                          struct gt_profile_tree *out)
{
    struct gt_profile_tree_nodes nodes = {0};
    uint32_t *to = malloc((t->n + 1) * sizeof *to);
    int status = to ? 0 : GT_E_NOMEM;
    for (uint32_t i = 0; status == 0 && i < t->n;)
        if (is_chosen(&t->node[i], chosen)) {
            status = copy_below(t, i, &nodes, to);
            i = t->node[i].end;
        } else {
            i++;
        }
    free(to);
    return finish(&nodes, status, c, order, out);
}

/* ---- callers ------------------------------------------------------------------------------- */

/* Of each function how many calls are open on the way to the node that a loop has come to. */
struct way_down {
    uint32_t *open;
    uint32_t *node; /* the way, by depth */
    uint32_t depth; /* nodes of it */
};

static bool way_init(struct way_down *w, const struct gt_profile_tree *t, const struct gt_calls *c)
{
    uint32_t deepest = 0;
    for (size_t i = 0; i < t->n; i++)
        deepest = t->node[i].depth > deepest ? t->node[i].depth : deepest;
    *w = (struct way_down){.open = calloc(gt_calls_n_functions(c) + 1, sizeof *w->open),
                           .node = malloc((deepest + 1) * sizeof *w->node)};
    return w->open && w->node;
}

static void way_clear(struct way_down *w)
{
    free(w->open);
    free(w->node);
}

/* Goes on to the next node of the tree, in its order. True: its function is open above it. */
static bool way_go(struct way_down *w, const struct gt_profile_tree *t, uint32_t i)
{
    const struct gt_profile_tree_node *node = &t->node[i];
    while (w->depth > node->depth) {
        const struct gt_profile_tree_node *last = &t->node[w->node[--w->depth]];
        if (last->parent != GT_TREE_NONE)
            w->open[last->function]--;
    }
    w->node[w->depth++] = i;
    return node->parent != GT_TREE_NONE && w->open[node->function]++ > 0;
}

/* `again`: another call of the function, further out, has its time. */
static int add_callers(const struct gt_profile_tree *t, uint32_t from, bool again,
                       struct gt_profile_tree_nodes *nodes, bool *cut)
{
    const struct gt_profile_tree_node *called = &t->node[from];
    const uint64_t total = again ? 0 : called->total, slept = again ? 0 : called->slept;
    uint32_t at = gt_profile_tree_nodes_find(nodes, GT_TREE_NONE, 0), n = 0;
    for (const struct gt_profile_tree_node *node = called; node->parent != GT_TREE_NONE;
         node = &t->node[node->parent]) {
        if (n++ == GT_TREE_CALLERS) {
            *cut = true;
            return 0;
        }
        if (at != GT_TREE_NONE)
            at = gt_profile_tree_nodes_child(nodes, at, node->function);
        if (at == GT_TREE_NONE)
            return GT_E_RANGE;
        add(&nodes->node[at], called, total, slept);
    }
    return 0;
}

int gt_profile_tree_callers(const struct gt_profile_tree *t, const struct gt_calls *c,
                            const bool *chosen, enum gt_profile_tree_order order,
                            struct gt_profile_tree *out)
{
    struct gt_profile_tree_nodes nodes = {0};
    struct way_down way;
    int status = way_init(&way, t, c) ? 0 : GT_E_NOMEM;
    bool cut = false;
    for (uint32_t i = 0; status == 0 && i < t->n; i++) {
        const bool again = way_go(&way, t, i);
        if (is_chosen(&t->node[i], chosen))
            status = add_callers(t, i, again, &nodes, &cut);
    }
    way_clear(&way);
    status = finish(&nodes, status, c, order, out);
    out->is_cut = cut;
    return status;
}

/* ---- inverse ------------------------------------------------------------------------------- */

/* How far a node's way to the root is. */
struct way {
    uint32_t at; /* node of the inverse tree; GT_TREE_NONE: it ends here */
    uint32_t up; /* node of the tree that comes next */
};

/* One more caller of each node. */
static int add_level(const struct gt_profile_tree *t, struct way *way,
                     struct gt_profile_tree_nodes *nodes)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct way *w = &way[i];
        if (w->at == GT_TREE_NONE || t->node[w->up].parent == GT_TREE_NONE) {
            w->at = GT_TREE_NONE;
            continue;
        }
        w->at = gt_profile_tree_nodes_child(nodes, w->at, t->node[w->up].function);
        if (w->at == GT_TREE_NONE)
            return GT_E_RANGE;
        add(&nodes->node[w->at], &t->node[i], (uint64_t)t->node[i].self, 0);
        w->up = t->node[w->up].parent;
    }
    return 0;
}

int gt_profile_tree_inverse(const struct gt_profile_tree *t, const struct gt_calls *c,
                            uint32_t depth, uint64_t least, struct gt_profile_tree *out)
{
    struct gt_profile_tree_nodes nodes = {0};
    struct way *way = malloc((t->n + 1) * sizeof *way);
    const uint32_t root = gt_profile_tree_nodes_find(&nodes, GT_TREE_NONE, 0);
    int status = way && root != GT_TREE_NONE ? 0 : GT_E_NOMEM;
    for (uint32_t i = 0; status == 0 && i < t->n; i++)
        way[i] = (struct way){root, i};
    for (uint32_t level = 0; status == 0 && level < depth; level++) {
        status = add_level(t, way, &nodes);
        for (uint32_t i = 0; status == 0 && i < t->n; i++)
            if (way[i].at != GT_TREE_NONE && nodes.node[way[i].at].total < least)
                way[i].at = GT_TREE_NONE;
    }
    free(way);
    return finish(&nodes, status, c, GT_TREE_BY_TOTAL, out);
}
