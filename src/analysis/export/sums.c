/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that sums are exported of: see sums.h. */
#include "analysis/export/sums.h"

int gt_sums_make(struct gt_calls *c, const struct gt_sums_options *o, enum gt_tree_order order,
                 struct gt_tree *out, struct gt_error *err)
{
    const struct gt_tree_options how = {
        .window = o->window, .groups = GT_TREE_OF_TASKS, .order = order};
    return gt_tree_make(c, &how, out, err);
}
