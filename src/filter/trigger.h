/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: parses what stands after the @ of a pattern. */
#ifndef GT_FILTER_TRIGGER_H
#define GT_FILTER_TRIGGER_H

#include "filter/rule.h"
#include "filter/source.h"

/* Adds the words, separated by commas or @, to the rule. A word that is not an action is the name
 * of a module, as in uftrace: *module; .at NULL: none. GT_E_USAGE and others: err is filled. */
int gt_trigger_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                     const struct gt_filter_source *s, struct gt_filter_span words,
                     struct gt_filter_span *module);
/* The rule's condition. */
int gt_trigger_parse_condition(struct gt_filter_set *set, struct gt_filter_rule *r,
                               const struct gt_filter_source *s, struct gt_filter_span value);

#endif
