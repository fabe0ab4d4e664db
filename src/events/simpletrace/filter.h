/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An expression that selects records of a trace:
 *
 *     any        = all ("||" all)*
 *     all        = not ("&&" not)*
 *     not        = "!" not | "(" any ")" | PATTERN | comparison
 *     comparison = value [("==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "=~" | "!~") value]
 *     value      = (ARGUMENT | FIELD) ["&" NUMBER] | NUMBER | STRING
 *
 * PATTERN is the name of an event, with * and ?; it stands alone. ARGUMENT is the name of an
 * argument; a comparison is false for events without it, and for events where it has another type.
 * FIELD is @event, @pid, @tid, @time or @delta (ns). NUMBER is decimal, or hex after 0x, with an
 * optional k, M, G (of 1024), us, ms, s (of ns). STRING stands between " or ', with the escapes \\
 * \" \' \n \t \xHH. ~ matches a glob, =~ a regular expression; !~ is the negation of =~. A masked
 * value alone is true if any of its bits is set.
 */
#ifndef GT_EVENTS_SIMPLETRACE_FILTER_H
#define GT_EVENTS_SIMPLETRACE_FILTER_H

#include "base/error.h"

#include <guesttrace/simpletrace.h>

struct gt_simpletrace_filter;

/* Parses an expression. GT_E_USAGE: *at is the offset of the error in the text. `d` must outlive
 * the filter. */
int gt_simpletrace_filter_parse(struct gt_simpletrace_filter **out, const char *text,
                                const struct gt_trace_declarations *d, size_t *at,
                                struct gt_error *err);
void gt_simpletrace_filter_free(struct gt_simpletrace_filter *f);

/* True if the filter selects the record; `before` is the timestamp of the previous record. */
bool gt_simpletrace_filter_match(struct gt_simpletrace_filter *f, const struct gt_trace_record *r,
                                 uint64_t before);

/* For how many texts a regular expression was too much: they are taken as not matching. */
uint64_t gt_simpletrace_filter_undecided(const struct gt_simpletrace_filter *f);

#endif
