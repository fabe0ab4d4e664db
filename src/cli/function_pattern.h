/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a user names: NAME, a glob of names (*, ?), or MODULE:NAME, where MODULE is the
 * base name of a module, or a glob of that.
 *
 * NAME is the function's name as it is shown or as its symbol has it, with or without the
 * parameters: "ns::f", "ns::f(int)" and "_ZN2ns1fEi" name the same. A name itself may have a colon
 * ("vmlinux:schedule").
 */
#ifndef GT_CLI_FUNCTION_PATTERN_H
#define GT_CLI_FUNCTION_PATTERN_H

#include "calls/read/calls.h"
#include "names/image/demangle.h"

/* `shown`: the function's demangled name. */
bool gt_function_pattern_matches(const char *pattern, const struct gt_calls_function *f,
                                 const char *shown);

/* The last part of the path of a module; "" for none. Part of `module`. */
const char *gt_function_module(const struct gt_calls_function *f);

/* Sets chosen[i] of each of the first n functions that match. GT_E_NOT_FOUND: none does; err has
 * the names nearest to it. `d` may be NULL: names are shown as they are. */
int gt_function_pattern_choose(const struct gt_calls *c, size_t n, struct gt_demangler *d,
                               const char *pattern, bool *chosen, struct gt_error *err);

#endif
