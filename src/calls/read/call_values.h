/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to calls/: values of calls that are kept until their call is given. */
#ifndef GT_CALLS_READ_CALL_VALUES_H
#define GT_CALLS_READ_CALL_VALUES_H

#include "recording/values/payload.h"

/* A copy with its bytes, to be freed with free(). NULL is fine, and the copy of NULL. NULL: no
 * memory: the call is shown without its values. */
struct gt_value_list *gt_call_values_copy(const struct gt_value_list *list);

/* Values by the depth of their call. { 0 }: none. */
struct gt_call_values {
    struct gt_value_list **at;
    size_t n;
};

/* The call at that depth has these values, or (NULL) none. They are copied. */
void gt_call_values_set(struct gt_call_values *v, size_t depth, const struct gt_value_list *list);
void gt_call_values_finish(struct gt_call_values *v);

static inline const struct gt_value_list *gt_call_values_at(const struct gt_call_values *v,
                                                            size_t depth)
{
    return depth < v->n ? v->at[depth] : NULL;
}

#endif
