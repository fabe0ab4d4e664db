/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are sought by a text: a part of the name, in any case; with * or ? a glob of the
 * whole name; MODULE:NAME, each of them such a text; /EXPRESSION/ or /EXPRESSION, PCRE2's, for any
 * part of the name. The page of `guesttrace view` has the same rules in its own language, since a
 * page in one file has nothing to ask.
 */
#ifndef GT_CALLS_PROFILE_FIND_H
#define GT_CALLS_PROFILE_FIND_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct gt_profile_find;

enum gt_profile_found {
    GT_FOUND_NOT,
    GT_FOUND,
    GT_FOUND_EXACTLY, /* the text is this very name, or MODULE:NAME */
};

/* GT_E_USAGE: not an expression; GT_E_RANGE: the text is longer than one may be; the message has
 * the place in it. GT_E_NOMEM. */
int gt_profile_find_parse(const char *text, struct gt_profile_find **out, struct gt_error *err);
void gt_profile_find_free(struct gt_profile_find *f); /* NULL is fine */

/* `name` as it is shown; of the module's path the last part counts; NULL: it is in none. One
 * thread at a time. */
enum gt_profile_found gt_profile_find_match(const struct gt_profile_find *f, const char *name,
                                            const char *module);

#endif
