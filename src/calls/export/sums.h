/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of `guesttrace export` for other tools that have sums over paths of calls: a function
 * and a file for each. As recording.h, which is about those that have each call.
 */
#ifndef GT_CALLS_EXPORT_SUMS_H
#define GT_CALLS_EXPORT_SUMS_H

#include "base/output.h"
#include "calls/profile/tree.h"
#include "calls/read/calls.h"

struct gt_export_sums_options {
    const struct gt_calls_window *window; /* NULL: all */
    bool counts;                          /* folded: values are numbers of calls, not times */
    double least; /* paths below this share of all are their callers', where a format has paths */
    struct gt_error_notices notices;
};

typedef int gt_export_sums_fn(struct gt_calls *c, const struct gt_export_sums_options *o,
                              struct gt_output *out, struct gt_error *err);

gt_export_sums_fn gt_export_firefox;
gt_export_sums_fn gt_export_folded;
gt_export_sums_fn gt_export_perf;
gt_export_sums_fn gt_export_speedscope;
gt_export_sums_fn gt_export_callgrind;
gt_export_sums_fn gt_export_pprof;

enum { GT_SUMS_DEPTH = 1000 };

/* The same for formats in which each path has all of its calls: what they write grows with the
 * square of the depth. Where the window has no depth, paths are cut at GT_SUMS_DEPTH calls, which a
 * notice says: the time of deeper ones is their caller's. Small ones are left out by `least`, which
 * another notice says. */
int gt_export_sums_make_paths(struct gt_calls *c, const struct gt_export_sums_options *o,
                              enum gt_profile_tree_order order, struct gt_profile_tree *out,
                              struct gt_error *err);
/* Makes the tree of each task. Errors of gt_profile_tree_make; the caller clears it. */
int gt_export_sums_make(struct gt_calls *c, const struct gt_export_sums_options *o,
                        enum gt_profile_tree_order order, struct gt_profile_tree *out,
                        struct gt_error *err);

#endif
