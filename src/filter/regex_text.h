/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read off the text of an expression, before PCRE2 has it. */
#ifndef GT_FILTER_REGEX_TEXT_H
#define GT_FILTER_REGEX_TEXT_H

#include <stddef.h>

enum { GT_REGEX_PART = 32 }; /* its most bytes, the NUL included */

/* Why the expression is refused though PCRE2 would take it, and where: see regex.h. NULL: it is
 * not. */
const char *gt_regex_refused(const char *text, size_t *at);

/* The expression of a glob: at most 2 bytes for each of its, 2 more and the NUL. What is wrong with
 * the glob, at *at, or NULL; with `most` *at is the place in the glob that the byte `most` of the
 * expression comes from. */
const char *gt_regex_from_glob(const char *glob, char *to, size_t most, size_t *at);

/* A text that is part of whatever the expression matches; "" where none is known. */
void gt_regex_find_part(const char *text, char part[GT_REGEX_PART]);

#endif
