/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes of a tree of calls while it is made: a parent precedes its children, otherwise they are in
 * the order in which they were found. A node is found by its parent and function. Private to the
 * tree's files.
 */
#ifndef GT_CALLS_PROFILE_TREE_NODES_H
#define GT_CALLS_PROFILE_TREE_NODES_H

#include "calls/profile/tree.h"

struct gt_profile_tree_found {
    uint64_t calls, open, total, slept;
    int64_t self;
    uint64_t first;    /* UINT64_MAX: no call ended yet */
    uint32_t function; /* root: the group */
    uint32_t parent;   /* GT_TREE_NONE: a root */
    uint32_t depth;    /* root: 0 */
    uint32_t recent;   /* the child that was asked for last, GT_TREE_NONE: none */
};

/* { 0 } is empty. */
struct gt_profile_tree_nodes {
    struct gt_profile_tree_found *node;
    size_t n, cap;
    uint32_t *slot; /* node + 1 by hash of (parent, function), 0: free */
    size_t slots;   /* power of two */
};

void gt_profile_tree_nodes_clear(struct gt_profile_tree_nodes *t);

/* Finds or makes a node that is not its parent's recent one; GT_TREE_NONE as parent finds the root
 * of group `function`. GT_TREE_NONE: no memory, or too many nodes. */
uint32_t gt_profile_tree_nodes_find(struct gt_profile_tree_nodes *t, uint32_t parent,
                                    uint32_t function);

static inline uint32_t gt_profile_tree_nodes_child(struct gt_profile_tree_nodes *t, uint32_t parent,
                                                   uint32_t function)
{
    uint32_t recent = t->node[parent].recent;
    if (recent != GT_TREE_NONE && t->node[recent].function == function)
        return recent;
    return gt_profile_tree_nodes_find(t, parent, function);
}

/* Adds all nodes of `from`. Functions are changed to map[function]; NULL: they are not. GT_E_RANGE:
 * no memory, or too many nodes. */
int gt_profile_tree_nodes_add(struct gt_profile_tree_nodes *t,
                              const struct gt_profile_tree_nodes *from, const uint32_t *map);

/* Makes the tree, in its order, of the nodes. GT_E_NOMEM. */
int gt_profile_tree_nodes_finish(const struct gt_profile_tree_nodes *t, const struct gt_calls *c,
                                 enum gt_profile_tree_order order, struct gt_profile_tree *out);

#endif
