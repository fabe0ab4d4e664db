/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls of a recording, summed up: a node is a path of functions, outermost first, and
 * has the sums of all calls on that path. gt_call_suspends is a function in a window of `wall`
 * only. Views (graph, folded stacks, pprof, callgrind, speedscope) are made from it.
 *
 * Nodes are in depth-first order: a node, its first child with all below that, its second child.
 * So a loop over the array meets each node after its parent, and node[i + 1] to node[node[i].end -
 * 1] are all nodes below node i. Each group (the whole recording, a task, a process) has a root.
 * The result does not depend on the number of threads that made it.
 *
 * Memory is bounded by the number of different paths, not by calls.
 */
#ifndef GT_CALLS_PROFILE_TREE_H
#define GT_CALLS_PROFILE_TREE_H

#include "calls/read/calls.h"

#define GT_TREE_NONE UINT32_MAX

/* What has a tree of its own. */
enum gt_profile_tree_groups { GT_TREE_WHOLE, GT_TREE_OF_TASKS, GT_TREE_OF_PROCESSES };

/* Which of a node's children is the first. */
enum gt_profile_tree_order {
    GT_TREE_BY_TOTAL, /* the one with the largest total, then calls, then name */
    GT_TREE_BY_FIRST, /* the one whose first call began first, then name */
};

struct gt_profile_tree_node {
    uint64_t calls;    /* that ended on this path; root: of its children */
    uint64_t open;     /* of these: that did not return; root: of its children */
    uint64_t total;    /* ns that these calls ran, all that they called included (in a window of
                        * `wall`: that they took); root: of its children */
    uint64_t slept;    /* ns that the task was suspended in them; root: of its children */
    int64_t self;      /* ns in the function itself, not below 0; root: 0 */
    uint64_t first;    /* when the first of them began */
    uint32_t function; /* index; GT_TREE_NONE: a root */
    uint32_t parent;   /* node; GT_TREE_NONE: a root */
    uint32_t end;      /* node after the last one below this one */
    uint32_t depth;    /* root: 0 */
};

struct gt_profile_tree_root {
    uint32_t node;
    uint32_t group; /* index of the task or process; GT_TREE_WHOLE: 0 */
};

struct gt_profile_tree {
    struct gt_profile_tree_node *node;
    size_t n;
    struct gt_profile_tree_root *root; /* in order of `group`; a group without calls has none */
    size_t n_roots;
    bool is_cut; /* of callers: GT_TREE_CALLERS was not enough */
};

struct gt_profile_tree_options {
    const struct gt_calls_window *window; /* NULL: all */
    enum gt_profile_tree_groups groups;
    enum gt_profile_tree_order order;
    bool by_name;     /* functions of one name and module are one */
    unsigned threads; /* 0: as many as there are processors */
};

/* Reads the calls and makes their tree; `o` may be NULL. Errors of gt_calls_scan; GT_E_RANGE: more
 * than 4 thousand million paths. After an error *out is empty. */
int gt_profile_tree_make(struct gt_calls *c, const struct gt_profile_tree_options *o,
                         struct gt_profile_tree *out, struct gt_error *err);
void gt_profile_tree_clear(struct gt_profile_tree *t); /* { 0 } is fine */

/* Which paths are too small to be shown. */
struct gt_profile_tree_least {
    double share; /* of the sum of all paths, 0 to 1 */
    bool counts;  /* a path's value is its number of calls, not its own time */
};
/* Takes out nodes that have, with all below them, less than this share; the node above gets
 * their values. So the sum of a tree does not change. Roots and their children stay.
 * `calls`, or `self`, are the only members that it changes. GT_E_NOMEM: *t is as it was. */
int gt_profile_tree_prune(struct gt_profile_tree *t, const struct gt_profile_tree_least *least);

#endif
