/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A condition on the values of a call:
 *
 *     any        = all ("||" all)*
 *     all        = not ("&&" not)*
 *     not        = "!" not | "(" any ")" | comparison
 *     comparison = value [("==" | "!=" | "<" | "<=" | ">" | ">=") value]
 *     value      = NAME ["&" NUMBER] | NUMBER | STRING
 *
 * A value alone is true if it is not 0. A comparison whose value is not known is false. Strings are
 * equal or not; a string and a number are not. NUMBER may have a unit, STRING stands in quotes: see
 * expr.h. The user of a condition says which names there are; others may be values of a call: argN,
 * fpargN, retval, or the name of an argument.
 *
 * A parsed condition does not change, except that it notes which values of calls were known:
 * several threads may evaluate it. That allocates nothing.
 */
#ifndef GT_FILTER_CONDITION_H
#define GT_FILTER_CONDITION_H

#include "base/call_value.h"
#include "base/expr.h"

#include <stddef.h>

struct gt_filter_condition;

/* A value's number is its index in the table. */
struct gt_filter_condition_name {
    const char *name;
    bool at_return; /* known when the call returns, not before */
};

/* A value of a call that the condition names. */
struct gt_filter_condition_value {
    struct gt_base_call_value_name name;
    size_t at;         /* its offset in the text */
    bool as_text;      /* it is compared with a string */
    bool asked, known; /* it was asked for; and was known then. Atomic */
};

/* `names` ends with a NULL name; it is not kept. `values`: other names are values of calls.
 * GT_E_USAGE: *at is the offset of the error in the text. GT_E_NOMEM. */
int gt_filter_condition_parse(const char *text, const struct gt_filter_condition_name *names,
                              bool values, struct gt_filter_condition **out, size_t *at,
                              struct gt_error *err);
void gt_filter_condition_free(struct gt_filter_condition *c); /* NULL is fine */

/* True: some of its values are known at the return only. */
bool gt_filter_condition_at_return(const struct gt_filter_condition *c);
/* Its values of calls. */
const struct gt_filter_condition_value *
gt_filter_condition_values(const struct gt_filter_condition *c, size_t *n);

/* Who knows values. Each sets *out; false: it is not known. */
struct gt_filter_condition_source {
    bool (*named)(const void *self, unsigned number, struct gt_base_expr_number *out);
    /* NULL: no value of a call is known */
    bool (*of_call)(const void *self, const struct gt_base_call_value_name *name,
                    struct gt_base_call_value *out);
    const void *self;
};
bool gt_filter_condition_holds(struct gt_filter_condition *c,
                               const struct gt_filter_condition_source *source);

#endif
