/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions and globs over bytes, matched in bounded time: a step for each byte of the
 * text and each instruction of the program, whatever the expression. The expressions are POSIX's
 * extended ones, which uftrace's options have:
 *
 *     any        = all ("|" all)*
 *     all        = (ANCHOR | atom repeat*)*
 *     repeat     = "*" | "+" | "?" | "{" N "}" | "{" [N] "," [M] "}"
 *     atom       = "(" any ")" | "." | SET | "\" CHARACTER | CHARACTER
 *
 * SET is [abc], [a-z], [^abc], with [:alpha:] and the like. ANCHOR is ^ or $ (the text's beginning
 * and end), or \< \> \b \B (a word's), also \` \'. \w \W \s \S are sets. There are no
 * back-references. A glob has * ? and SET, also [!abc]; it matches the whole text, an expression
 * any part of it.
 *
 * A parsed expression does not change: several threads may match it. Matching allocates nothing.
 */
#ifndef GT_FILTER_REGEX_H
#define GT_FILTER_REGEX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct gt_regex;

/* GT_E_USAGE: *at is the offset of the error in the text, err has the cause. GT_E_RANGE: the
 * expression needs more than GT_REGEX_PROGRAM instructions. GT_E_NOMEM. */
int gt_regex_parse(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err);
int gt_regex_parse_glob(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err);
void gt_regex_free(struct gt_regex *r); /* NULL is fine */

bool gt_regex_match(const struct gt_regex *r, const char *text);

enum {
    GT_REGEX_PROGRAM = 2048, /* instructions: about one a character, a repeated part counts again */
    GT_REGEX_DEPTH = 100,    /* nested parentheses */
};

#endif
