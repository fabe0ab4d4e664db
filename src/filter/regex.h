/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions and globs over bytes. Expressions are PCRE2's and match any part of a text; a
 * glob has * ? and SET, also [!abc], and matches the whole text. "." matches a newline, too, and
 * "$" is the text's end.
 *
 * Refused is what takes PCRE2 an unbounded time, as back-references, and what POSIX's extended
 * expressions have and PCRE2 understands in another way: \< \> \` \' {,M}.
 *
 * PCRE2 follows all branches of an expression at once (pcre2_dfa_match), so that the time to match
 * is bounded by the text and the expression. Lookarounds and recursion, which branch below that,
 * have limits; a text for which they do not suffice does not match, and is counted.
 *
 * Beside that count a parsed expression does not change: several threads may match it.
 */
#ifndef GT_FILTER_REGEX_H
#define GT_FILTER_REGEX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_filter_regex;

/* GT_E_USAGE: *at is the offset in the text where the error was seen, err has the cause.
 * GT_E_RANGE: the expression is longer, deeper, or as a program larger, than the limits below.
 * GT_E_NOMEM. */
int gt_filter_regex_parse(const char *text, struct gt_filter_regex **out, size_t *at,
                          struct gt_error *err);
int gt_filter_regex_parse_glob(const char *text, struct gt_filter_regex **out, size_t *at,
                               struct gt_error *err);
void gt_filter_regex_free(struct gt_filter_regex *r); /* NULL is fine */

bool gt_filter_regex_match(const struct gt_filter_regex *r, const char *text);
bool gt_filter_regex_match_bytes(const struct gt_filter_regex *r, const char *text, size_t n);

/* Of how many texts is not known whether they match. 0 for NULL. */
uint64_t gt_filter_regex_undecided(const struct gt_filter_regex *r);

enum {
    GT_REGEX_LENGTH = 2048, /* bytes of an expression */
    GT_REGEX_SIZE = 4096,   /* bytes of its program, repetitions counted out */
    GT_REGEX_DEPTH = 100,   /* nested parentheses */
};

#endif
