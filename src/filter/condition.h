/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A condition on the values of a call:
 *
 *     any        = all ("||" all)*
 *     all        = not ("&&" not)*
 *     not        = "!" not | "(" any ")" | comparison
 *     comparison = value [("==" | "!=" | "<" | "<=" | ">" | ">=") value]
 *     value      = NAME ["&" NUMBER] | NUMBER
 *
 * A value alone is true if it is not 0. A comparison whose value is not known is false. NUMBER may
 * have a unit: see expr.h. The user of a condition says which names there are.
 *
 * A parsed condition does not change: several threads may evaluate it. That allocates nothing.
 */
#ifndef GT_FILTER_CONDITION_H
#define GT_FILTER_CONDITION_H

#include "filter/expr.h"

#include <stddef.h>

struct gt_condition;

/* A value's number is its index in the table. */
struct gt_condition_name {
    const char *name;
    bool at_return; /* known when the call returns, not before */
};

/* `names` ends with a NULL name; it is not kept. GT_E_USAGE: *at is the offset of the error in the
 * text. GT_E_NOMEM. */
int gt_condition_parse(const char *text, const struct gt_condition_name *names,
                       struct gt_condition **out, size_t *at, struct gt_error *err);
void gt_condition_free(struct gt_condition *c); /* NULL is fine */

/* True: some of its values are known at the return only. */
bool gt_condition_at_return(const struct gt_condition *c);

/* `value` sets *out to the value of that number; false: it is not known. */
bool gt_condition_holds(const struct gt_condition *c,
                        bool (*value)(const void *self, unsigned number,
                                      struct gt_expr_number *out),
                        const void *self);

#endif
