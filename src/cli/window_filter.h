/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to window.c: the set of filters that options name. */
#ifndef GT_CLI_WINDOW_FILTER_H
#define GT_CLI_WINDOW_FILTER_H

#include "cli/window.h"
#include "filter/filter.h"

/* Makes the set. With filters, depth and min_time of the window are theirs: -D counts from a -F,
 * and time= may change -t. The caller frees the set, also after an error. GT_E_USAGE and others. */
int gt_window_make_filter(const struct gt_window_options *o, const struct gt_calls *c,
                          struct gt_calls_window *w, struct gt_filter_set **out,
                          struct gt_error *err);

#endif
