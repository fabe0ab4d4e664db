/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that sums are exported of: see sums.h. */
#include "calls/export/sums.h"

int gt_export_sums_make(struct gt_calls *c, const struct gt_export_sums_options *o,
                        enum gt_profile_tree_order order, struct gt_profile_tree *out,
                        struct gt_error *err)
{
    const struct gt_profile_tree_options how = {
        .window = o->window, .groups = GT_TREE_OF_TASKS, .order = order};
    return gt_profile_tree_make(c, &how, out, err);
}

static uint32_t deepest(const struct gt_profile_tree *t)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < t->n; i++)
        depth = t->node[i].depth > depth ? t->node[i].depth : depth;
    return depth;
}

static int prune(const struct gt_calls *c, const struct gt_export_sums_options *o,
                 struct gt_profile_tree *out, struct gt_error *err)
{
    const size_t paths = out->n - out->n_roots;
    const struct gt_profile_tree_least least = {o->least, o->counts};
    if (gt_profile_tree_prune(out, &least) < 0) {
        gt_profile_tree_clear(out);
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    }
    const size_t left_out = paths - (out->n - out->n_roots);
    if (left_out)
        gt_error_notice(&o->notices,
                        "%s: %zu of %zu paths, which have less than %g%% of all %s each, are added "
                        "to their callers' (--min SHARE chooses, --all shows all)",
                        gt_calls_facts(c)->path, left_out, paths, o->least * 100,
                        o->counts ? "calls" : "time");
    return 0;
}

static int make_cut(struct gt_calls *c, const struct gt_export_sums_options *o,
                    enum gt_profile_tree_order order, struct gt_profile_tree *out,
                    struct gt_error *err)
{
    static const struct gt_calls_window all = {0};
    struct gt_calls_window window = o->window ? *o->window : all;
    struct gt_export_sums_options cut = *o;
    int status = gt_export_sums_make(c, o, order, out, err);
    const uint32_t depth = status == 0 && window.depth == 0 ? deepest(out) : 0;
    if (depth <= GT_SUMS_DEPTH)
        return status;
    gt_profile_tree_clear(out);
    window.depth = GT_SUMS_DEPTH;
    cut.window = &window;
    gt_error_notice(
        &o->notices,
        "%s: calls are up to %u deep; paths are cut at %d, the time of deeper calls is their "
        "caller's (--depth N cuts elsewhere)",
        gt_calls_facts(c)->path, depth, GT_SUMS_DEPTH);
    return gt_export_sums_make(c, &cut, order, out, err);
}

int gt_export_sums_make_paths(struct gt_calls *c, const struct gt_export_sums_options *o,
                              enum gt_profile_tree_order order, struct gt_profile_tree *out,
                              struct gt_error *err)
{
    const int status = make_cut(c, o, order, out, err);
    return status == 0 && o->least > 0 ? prune(c, o, out, err) : status;
}
