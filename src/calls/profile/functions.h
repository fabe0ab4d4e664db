/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of each function, summed up: how often, how long. Functions of one name and module are
 * one.
 *
 * As uftrace counts: the total of a function is the time in its calls, those not counted twice that
 * it made of itself, at once or through others (recursive ones). Averages, minima and maxima are of
 * all its calls. Self is the time in the function without what it called. All are times that the
 * task ran; in a window of `wall` they have the time in which it was suspended as well, and
 * gt_call_suspends is a function.
 */
#ifndef GT_CALLS_PROFILE_FUNCTIONS_H
#define GT_CALLS_PROFILE_FUNCTIONS_H

#include "calls/read/calls.h"

/* Times of calls in ns. */
struct gt_profile_function_sums {
    uint64_t calls;
    uint64_t open;   /* of these: that did not return */
    uint64_t total;  /* of calls that were not recursive */
    uint64_t nested; /* of recursive ones */
    uint64_t slept;  /* that the task was suspended in calls that were not recursive */
    uint64_t total_min, total_max;
    int64_t self, self_min, self_max;
};

struct gt_profile_function_row {
    struct gt_profile_function_sums sums;
    uint32_t function; /* index, the lowest address of the name and module */
};

struct gt_profile_function_table {
    struct gt_profile_function_row *row; /* functions that were called, by name, then module */
    size_t n;
};

/* Reads the calls of a window (NULL: all). Errors of gt_calls_scan. After an error *out is empty.
 */
int gt_profile_function_table_make(struct gt_calls *c, const struct gt_calls_window *w,
                                   unsigned threads, struct gt_profile_function_table *out,
                                   struct gt_error *err);
void gt_profile_function_table_clear(struct gt_profile_function_table *f); /* { 0 } is fine */

/* 0 where there are no calls. */
static inline uint64_t gt_profile_function_total_avg(const struct gt_profile_function_sums *s)
{
    return s->calls ? (s->total + s->nested) / s->calls : 0;
}

static inline uint64_t gt_profile_function_self_avg(const struct gt_profile_function_sums *s)
{
    return s->calls ? (uint64_t)s->self / s->calls : 0;
}

/* Functions of one name and module that have several addresses (same_names.c).
 * *first: for each function the one of its name and module that has the lowest address; the caller
 * frees it. *any: it is another one for some function. GT_E_NOMEM. */
int gt_profile_same_names(const struct gt_calls *c, uint32_t **first, bool *any);

#endif
