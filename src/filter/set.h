/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: the parts of a set that its files share. */
#ifndef GT_FILTER_SET_H
#define GT_FILTER_SET_H

#include "filter/rule.h"
#include "filter/source.h"

/* The rules of calls, by the names that they are for. */
bool gt_filter_index_add(struct gt_filter_index *x, struct gt_filter_rule *r);
void gt_filter_index_finish(struct gt_filter_index *x);
/* Calls `found` for each rule whose pattern matches, in no order. */
void gt_filter_index_find(const struct gt_filter_index *x, const struct gt_filter_function *f,
                          void (*found)(void *self, struct gt_filter_rule *r), void *self);

/* rule.c: what the item, of any option with a pattern, says: a trigger of a call, too. */
int gt_filter_rule_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                         const struct gt_filter_source *s, struct gt_filter_span item);

/* cause.c: a trigger that no call sets off: console:REGEX, exit!=0, signal. Sets r->cause, and
 * parses all of the item if it is one. */
int gt_filter_cause_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                          const struct gt_filter_source *s, struct gt_filter_span item);
/* What the trigger is about, as "event of QEMU"; NULL: calls. */
const char *gt_filter_cause_subject(const struct gt_filter_rule *r);

/* Internal to filter/: lists of rules, which live as long as their set. */

struct gt_filter_lists *gt_filter_lists_new(void);    /* NULL: no memory */
void gt_filter_lists_free(struct gt_filter_lists *l); /* NULL is fine */
/* Returns a list of the n rules that ends with NULL: one that is there already, where it is among
 * the last ones. Thread-safe. NULL: no memory. */
const struct gt_filter_rule *const *
gt_filter_lists_add(struct gt_filter_lists *l, struct gt_filter_rule *const *rule, size_t n);

#endif
