/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: the trees of calls/profile, whose nodes have the same shape. */
#include "calls/profile/select.h"
#include "gtrace/private.h"

#include <stddef.h>
#include <stdlib.h>

#define SAME(member)                                                                               \
    _Static_assert(offsetof(struct gtrace_node, member) ==                                         \
                       offsetof(struct gt_profile_tree_node, member),                              \
                   "a node is passed as it is")
SAME(calls);
SAME(open);
SAME(total);
SAME(slept);
SAME(self);
SAME(first);
SAME(function);
SAME(parent);
SAME(end);
SAME(depth);
_Static_assert(sizeof(struct gtrace_node) == sizeof(struct gt_profile_tree_node) &&
                   GTRACE_NONE == GT_TREE_NONE && (int)GTRACE_TREE == (int)GT_TREE_WHOLE &&
                   (int)GTRACE_TREE_TASKS == (int)GT_TREE_OF_TASKS &&
                   (int)GTRACE_TREE_PROCESSES == (int)GT_TREE_OF_PROCESSES,
               "the same");

static enum gt_profile_tree_order order_of(const struct gtrace_tree_options *o)
{
    return o->by_first ? GT_TREE_BY_FIRST : GT_TREE_BY_TOTAL;
}

/* The nodes, which are the caller's then. */
static int64_t give(struct gt_profile_tree *tree, struct gtrace_node **out, size_t *stride)
{
    const size_t n = tree->n;
    for (size_t i = 0; i < tree->n_roots; i++)
        tree->node[tree->root[i].node].function = tree->root[i].group;
    *out = (struct gtrace_node *)(void *)tree->node;
    *stride = sizeof **out;
    tree->node = NULL;
    gt_profile_tree_clear(tree);
    return (int64_t)n;
}

API int64_t gtrace_tree(struct gtrace *t, const struct gtrace_window *w,
                        const struct gtrace_tree_options *o, struct gtrace_node **out,
                        size_t *stride, struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gtrace_tree_options asked;
    struct gt_profile_tree tree;
    struct gt_error e = {0};
    *out = NULL;
    gt_gtrace_get(&asked, sizeof asked, o);
    if (asked.kind > GTRACE_TREE_PROCESSES)
        return gt_gtrace_usage(err, "gtrace_tree: no such kind of tree");
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    const struct gt_profile_tree_options how = {.window = &pass.window,
                                                .groups = (enum gt_profile_tree_groups)asked.kind,
                                                .order = order_of(&asked),
                                                .by_name = true};
    status = gt_profile_tree_make(t->calls, &how, &tree, &e);
    gt_gtrace_pass_finish(&pass);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : give(&tree, out, stride);
}

API int64_t gtrace_tree_of(struct gtrace *t, const struct gtrace_node *tree, size_t n,
                           const bool *chosen, const struct gtrace_tree_options *o,
                           struct gtrace_node **out, size_t *stride, struct gtrace_error *err)
{
    struct gtrace_tree_options asked;
    /* It is only read. */
    const struct gt_profile_tree from = {.node = (struct gt_profile_tree_node *)(uintptr_t)tree,
                                         .n = n};
    struct gt_profile_tree part;
    *out = NULL;
    gt_gtrace_get(&asked, sizeof asked, o);
    const int status = (asked.callers ? gt_profile_tree_callers : gt_profile_tree_below)(
        &from, t->calls, chosen, order_of(&asked), &part);
    if (status < 0)
        return gt_gtrace_fail(err, status, NULL);
    if (part.is_cut && t->notice) {
        g_autofree char *line =
            g_strdup_printf("%s: calls are deep; of each the nearest %d callers are shown",
                            gt_calls_facts(t->calls)->path, GT_TREE_CALLERS);
        t->notice(t->user, line);
    }
    return give(&part, out, stride);
}
