/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records of a trace are wanted, as an expression:
 *
 *     any        = all ("||" all)*
 *     all        = not ("&&" not)*
 *     not        = "!" not | "(" any ")" | PATTERN | comparison
 *     comparison = value [("==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "=~" | "!~") value]
 *     value      = (ARGUMENT | FIELD) ["&" NUMBER] | NUMBER | STRING
 *
 * PATTERN is the name of an event, with * and ?; it stands alone. ARGUMENT is the name of an
 * argument; a comparison is false for events that do not have it, and for those that have it with
 * another type. FIELD is @event, @pid, @tid, @time or @delta (ns). NUMBER is decimal, or hex
 * after 0x, with an optional k, M, G (of 1024), us, ms, s (of ns). STRING stands between " or ',
 * with the escapes \\ \" \' \n \t \xHH. ~ matches a glob, =~ a regular expression, !~ none. A
 * masked value alone means that any of the bits is set.
 */
#ifndef GT_ANALYSIS_SIMPLETRACE_FILTER_H
#define GT_ANALYSIS_SIMPLETRACE_FILTER_H

#include "base/error.h"

#include <guesttrace/simpletrace.h>

struct gt_trace_filter;

/* GT_E_USAGE: *at is the byte of the text where the error is. `d` must outlive the filter. */
int gt_trace_filter_parse(struct gt_trace_filter **out, const char *text,
                          const struct gt_trace_declarations *d, size_t *at, struct gt_error *err);
void gt_trace_filter_free(struct gt_trace_filter *f);

/* `before`: the timestamp of the record before. */
bool gt_trace_filter_match(struct gt_trace_filter *f, const struct gt_trace_record *r,
                           uint64_t before);

#endif
