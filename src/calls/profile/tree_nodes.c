/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes of a tree of calls, found by hash: see tree_nodes.h. */
#include "calls/profile/tree_nodes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_NODES = 1024 };

void gt_profile_tree_nodes_clear(struct gt_profile_tree_nodes *t)
{
    free(t->node);
    free(t->slot);
    *t = (struct gt_profile_tree_nodes){0};
}

static size_t slot_of(const struct gt_profile_tree_nodes *t, uint32_t parent, uint32_t function)
{
    uint64_t key = (uint64_t)parent << 32 | function;
    key = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(key >> 20 ^ key >> 43) & (t->slots - 1);
}

static void fill_slots(struct gt_profile_tree_nodes *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t s = slot_of(t, t->node[i].parent, t->node[i].function);
        while (t->slot[s])
            s = (s + 1) & (t->slots - 1);
        t->slot[s] = (uint32_t)i + 1;
    }
}

/* Half of the slots stay free. */
static bool grow(struct gt_profile_tree_nodes *t)
{
    size_t cap = t->cap ? 2 * t->cap : FIRST_NODES;
    if (cap > GT_TREE_NONE)
        return false;
    struct gt_profile_tree_found *node = realloc(t->node, cap * sizeof *node);
    if (!node)
        return false;
    t->node = node;
    uint32_t *slot = calloc(2 * cap, sizeof *slot);
    if (!slot)
        return false;
    free(t->slot);
    t->slot = slot;
    t->slots = 2 * cap;
    t->cap = cap;
    fill_slots(t);
    return true;
}

uint32_t gt_profile_tree_nodes_find(struct gt_profile_tree_nodes *t, uint32_t parent,
                                    uint32_t function)
{
    if (t->n == t->cap && !grow(t))
        return GT_TREE_NONE;
    size_t s = slot_of(t, parent, function);
    uint32_t i;
    for (; t->slot[s]; s = (s + 1) & (t->slots - 1)) {
        i = t->slot[s] - 1;
        if (t->node[i].parent == parent && t->node[i].function == function)
            break;
    }
    if (!t->slot[s]) {
        i = (uint32_t)t->n++;
        t->slot[s] = i + 1;
        t->node[i] = (struct gt_profile_tree_found){
            .first = UINT64_MAX,
            .function = function,
            .parent = parent,
            .depth = parent == GT_TREE_NONE ? 0 : t->node[parent].depth + 1,
            .recent = GT_TREE_NONE,
        };
    }
    if (parent != GT_TREE_NONE)
        t->node[parent].recent = i;
    return i;
}

int gt_profile_tree_nodes_add(struct gt_profile_tree_nodes *t,
                              const struct gt_profile_tree_nodes *from, const uint32_t *map)
{
    uint32_t *to = malloc((from->n + 1) * sizeof *to);
    if (!to)
        return GT_E_NOMEM;
    for (size_t i = 0; i < from->n; i++) {
        const struct gt_profile_tree_found *f = &from->node[i];
        bool root = f->parent == GT_TREE_NONE;
        to[i] = gt_profile_tree_nodes_find(t, root ? GT_TREE_NONE : to[f->parent],
                                           map && !root ? map[f->function] : f->function);
        if (to[i] == GT_TREE_NONE) {
            free(to);
            return GT_E_RANGE;
        }
        struct gt_profile_tree_found *sum = &t->node[to[i]];
        sum->calls += f->calls;
        sum->open += f->open;
        sum->total += f->total;
        sum->slept += f->slept;
        sum->self += f->self;
        sum->first = f->first < sum->first ? f->first : sum->first;
    }
    free(to);
    return 0;
}
