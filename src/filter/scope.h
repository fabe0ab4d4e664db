/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: tasks, processes and vCPUs that a rule or a set is limited to. */
#ifndef GT_FILTER_SCOPE_H
#define GT_FILTER_SCOPE_H

#include "filter/rule.h"
#include "filter/source.h"

/* Adds the scope to the set, unless it is there, and its bit to *bits. GT_E_USAGE and others: err
 * is filled. */
int gt_scope_add(struct gt_filter_set *set, enum gt_scope_kind kind,
                 const struct gt_filter_source *s, struct gt_filter_span value, uint64_t *bits);
/* A glob of privilege levels. */
int gt_level_parse(struct gt_filter_set *set, const struct gt_filter_source *s,
                   struct gt_filter_span value, struct gt_regex **out);
/* Parses a glob; its errors are about the source. */
int gt_glob_parse(const struct gt_filter_source *s, struct gt_filter_span value,
                  struct gt_regex **out);
/* The set uses that; what its user has not got is refused: `what` is that. */
int gt_filter_need(struct gt_filter_set *set, enum gt_filter_need need,
                   const struct gt_filter_source *s, const char *at, const char *what);
void gt_scope_finish(struct gt_filter_scope *scope);

#endif
