/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of open calls under filters: an entry that is held back is written with the values
 * of the call's beginning, and one that is written again, where recording is switched on, too.
 *
 * A call is known by its depth, all open calls below it counted. Those that have arguments are in
 * that order, so that the memory is bounded by the depth; and by GT_FILTERED_VALUES_MOST: a call
 * for which there is no room has none.
 */
#ifndef GT_CALLS_RECORDER_SELECT_FILTERED_VALUES_H
#define GT_CALLS_RECORDER_SELECT_FILTERED_VALUES_H

#include "calls/recorder/values/arguments.h"

enum { GT_FILTERED_VALUES_MOST = 1 << 22 }; /* words of one task */

/* A call that has arguments. */
struct gt_select_filtered_call {
    uint32_t depth;
    uint32_t at, n; /* words */
    const struct gt_recorder_argument_function *of;
};

/* { 0 }: none. */
struct gt_select_filtered_values {
    struct gt_select_filtered_call *call;
    uint64_t *words;
    uint32_t n, used; /* calls, words */
    uint32_t room_calls, room_words;
    uint64_t dropped; /* calls for which there was no room */
};

/* Calls of that depth and deeper have ended. */
void gt_select_filtered_values_trim(struct gt_select_filtered_values *v, uint32_t depth);
/* The call of that depth begins, with these arguments. */
void gt_select_filtered_values_push(struct gt_select_filtered_values *v, uint32_t depth,
                                    const struct gt_recorder_argument_slot *slot);
/* NULL: the open call of that depth has none. */
const struct gt_select_filtered_call *
gt_select_filtered_values_find(const struct gt_select_filtered_values *v, uint32_t depth);
void gt_select_filtered_values_free(struct gt_select_filtered_values *v);

#endif
