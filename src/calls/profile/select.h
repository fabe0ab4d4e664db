/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a tree of calls, as trees: what some functions call, and who calls them. */
#ifndef GT_CALLS_PROFILE_SELECT_H
#define GT_CALLS_PROFILE_SELECT_H

#include "calls/profile/tree.h"

/* The calls of the chosen functions and all below them: a tree of one root with one group, whose
 * children are the chosen functions. A call of one of them below another, or below itself, is only
 * there, in its place. `chosen` is by index of functions. GT_E_NOMEM, GT_E_RANGE. */
int gt_profile_tree_below(const struct gt_profile_tree *t, const struct gt_calls *c,
                          const bool *chosen, enum gt_profile_tree_order order,
                          struct gt_profile_tree *out);

/* Callers of a call that are followed: all of a deep stack would be its depth squared. */
enum { GT_TREE_CALLERS = 1000 };

/* The callers: children of the root are the chosen functions, a node's children are those that
 * called it. Each node has the sums of the calls of the chosen function that were made through it
 * and all nodes above it, back to the root. The time of a recursive call, below a chosen function
 * of the same kind, is not added to totals twice; its self time is its own. */
int gt_profile_tree_callers(const struct gt_profile_tree *t, const struct gt_calls *c,
                            const bool *chosen, enum gt_profile_tree_order order,
                            struct gt_profile_tree *out);

/* The callers of what took the time: children of the root are all functions, a node's children are
 * those that called it, down to `depth`. Totals are the own time of the root's child on that path,
 * and `calls` its calls. A node whose total is below `least` has no children.
 * GT_E_NOMEM, GT_E_RANGE. */
int gt_profile_tree_inverse(const struct gt_profile_tree *t, const struct gt_calls *c,
                            uint32_t depth, uint64_t least, struct gt_profile_tree *out);

#endif
