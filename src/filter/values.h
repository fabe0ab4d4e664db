/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: what triggers say of values of calls. */
#ifndef GT_FILTER_VALUES_H
#define GT_FILTER_VALUES_H

#include "filter/rule.h"
#include "filter/source.h"

/* "arg1/s", "fparg1/32", "retval/x": values to record, uftrace's words. */
bool gt_trigger_is_value(struct gt_filter_span word);
/* Adds it to the rule's. */
int gt_trigger_add_value(struct gt_filter_set *set, struct gt_filter_rule *r,
                         const struct gt_filter_source *s, struct gt_filter_span word);
/* Checks the values that the rule's condition names; its text begins at `at`. */
int gt_trigger_check_values(struct gt_filter_set *set, const struct gt_filter_rule *r,
                            const struct gt_filter_source *s, const char *at);
/* A value of the rule's condition that no call has had; NULL: none, or it was not asked for. */
const char *gt_rule_unknown_value(const struct gt_filter_rule *r);

#endif
