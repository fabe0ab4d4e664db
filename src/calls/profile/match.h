/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of two recordings. A function of one is that of the other with the same name, in a
 * file of the same name: two builds need not lie in the same folder, nor code at the same address.
 * Functions of both have numbers together.
 */
#ifndef GT_CALLS_PROFILE_MATCH_H
#define GT_CALLS_PROFILE_MATCH_H

#include "calls/read/calls.h"

#include <glib.h>

enum { GT_MATCH_SIDES = 2 };

struct gt_function_match {
    uint32_t *id[GT_MATCH_SIDES]; /* the number of each function, by its index */
    size_t n[GT_MATCH_SIDES];     /* functions */
    GArray *names;                /* of each number: const struct gt_calls_function * */
};

/* Of the functions that have been met: after passes over both. */
void gt_function_match_make(struct gt_function_match *m,
                            struct gt_calls *const side[GT_MATCH_SIDES]);
void gt_function_match_clear(struct gt_function_match *m); /* { 0 } is fine */

/* The name of a function's file without its folder, and how much of it says which file it is:
 * of code that is in a recording twice, its place comes behind that. */
const char *gt_function_match_file(const struct gt_calls_function *f, size_t *n);

#endif
