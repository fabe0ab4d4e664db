/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a user names: NAME, a glob of names (*, ?), or MODULE:NAME, where MODULE is the
 * base name of a module, or a glob of that.
 *
 * NAME is the function's name as it is shown or as its symbol has it, with or without the
 * parameters: "ns::f", "ns::f(int)" and "_ZN2ns1fEi" name the same. A name itself may have a colon
 * ("vmlinux:schedule").
 */
#ifndef GT_CALLS_READ_FUNCTION_PATTERN_H
#define GT_CALLS_READ_FUNCTION_PATTERN_H

#include "calls/read/calls.h"

/* `shown`: the function's demangled name. */
bool gt_calls_function_pattern_matches(const char *pattern, const struct gt_calls_function *f,
                                       const char *shown);

/* The last part of the path of a module; "" for none. Part of `module`. */
const char *gt_calls_function_module(const struct gt_calls_function *f);

/* NAME of the pattern: a part of it. */
const char *gt_calls_function_pattern_name(const char *pattern);

#endif
