/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: lists of rules, which live as long as their set. */
#ifndef GT_FILTER_LISTS_H
#define GT_FILTER_LISTS_H

#include "filter/rule.h"

struct gt_filter_lists *gt_filter_lists_new(void);    /* NULL: no memory */
void gt_filter_lists_free(struct gt_filter_lists *l); /* NULL is fine */
/* Returns a list of the n rules that ends with NULL: one that is there already, where it is among
 * the last ones. Thread-safe. NULL: no memory. */
const struct gt_filter_rule *const *
gt_filter_lists_add(struct gt_filter_lists *l, struct gt_filter_rule *const *rule, size_t n);

#endif
