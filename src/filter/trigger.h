/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: parses what stands after the @ of a pattern. */
#ifndef GT_FILTER_TRIGGER_H
#define GT_FILTER_TRIGGER_H

#include "filter/rule.h"
#include "filter/source.h"

/* Adds the words, separated by commas or @, to the rule. A word that is not an action is the name
 * of a module, as in uftrace: *module; .at NULL: none. GT_E_USAGE and others: err is filled. */
int gt_filter_trigger_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                            const struct gt_filter_source *s, struct gt_filter_span words,
                            struct gt_filter_span *module);
/* The rule's condition. */
int gt_filter_trigger_parse_condition(struct gt_filter_set *set, struct gt_filter_rule *r,
                                      const struct gt_filter_source *s,
                                      struct gt_filter_span value);

/* Internal to filter/: tasks, processes and vCPUs that a rule or a set is limited to. */

/* Adds the scope to the set, unless it is there, and its bit to *bits. GT_E_USAGE and others: err
 * is filled. */
int gt_filter_scope_add(struct gt_filter_set *set, enum gt_filter_scope_kind kind,
                        const struct gt_filter_source *s, struct gt_filter_span value,
                        uint64_t *bits);
/* A glob of privilege levels. */
int gt_filter_level_parse(struct gt_filter_set *set, const struct gt_filter_source *s,
                          struct gt_filter_span value, struct gt_filter_regex **out);
/* Parses a glob; its errors are about the source. */
int gt_filter_glob_parse(const struct gt_filter_source *s, struct gt_filter_span value,
                         struct gt_filter_regex **out);
/* The set uses that; what its user has not got is refused: `what` is that. */
int gt_filter_need(struct gt_filter_set *set, enum gt_filter_need need,
                   const struct gt_filter_source *s, const char *at, const char *what);
void gt_filter_scope_finish(struct gt_filter_scope *scope);

/* Internal to filter/: what triggers say of values of calls. */

/* "arg1/s", "fparg1/32", "retval/x": values to record, uftrace's words. */
bool gt_filter_trigger_is_value(struct gt_filter_span word);
/* Adds it to the rule's. */
int gt_filter_trigger_add_value(struct gt_filter_set *set, struct gt_filter_rule *r,
                                const struct gt_filter_source *s, struct gt_filter_span word);
/* Checks the values that the rule's condition names; its text begins at `at`. */
int gt_filter_trigger_check_values(struct gt_filter_set *set, const struct gt_filter_rule *r,
                                   const struct gt_filter_source *s, const char *at);
/* A value of the rule's condition that no call has had; NULL: none, or it was not asked for. */
const char *gt_filter_rule_unknown_value(const struct gt_filter_rule *r);

#endif
