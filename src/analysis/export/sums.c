/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that sums are exported of: see sums.h. */
#include "analysis/export/sums.h"

#include <string.h>

static bool is_suspension(const struct gt_calls *c, uint32_t function)
{
    if (function == GT_TREE_NONE)
        return false;
    const struct gt_calls_function *f = gt_calls_function(c, function);
    return strcmp(f->name, "linux:schedule") == 0 && !*f->module;
}

/* The nodes stay, with nothing in them: formats leave out what is 0. */
static void drop_suspensions(const struct gt_calls *c, struct gt_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct gt_tree_node *n = &t->node[i];
        if (!is_suspension(c, n->function))
            continue;
        for (uint32_t at = n->parent; at != GT_TREE_NONE; at = t->node[at].parent)
            t->node[at].total -= n->total;
        n->calls = n->total = 0;
        n->self = 0;
    }
}

int gt_sums_make(struct gt_calls *c, const struct gt_sums_options *o, enum gt_tree_order order,
                 struct gt_tree *out, struct gt_error *err)
{
    const struct gt_tree_options how = {
        .window = o->window, .groups = GT_TREE_OF_TASKS, .order = order};
    int status = gt_tree_make(c, &how, out, err);
    if (status == 0 && o->running)
        drop_suspensions(c, out);
    return status;
}
