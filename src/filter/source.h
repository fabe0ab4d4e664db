/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: an option's text while it is parsed, and messages about it. */
#ifndef GT_FILTER_SOURCE_H
#define GT_FILTER_SOURCE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_filter_source {
    const char *option, *text;
    struct gt_error *err;
};

/* Some bytes of the text. */
struct gt_filter_span {
    const char *at;
    size_t n;
};

/* "-T f@depth=x: character 9: MESSAGE". Returns status. */
int gt_filter_source_fail(const struct gt_filter_source *s, const char *at, int status,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A copy; NULL: no memory. */
char *gt_filter_span_copy(struct gt_filter_span span);
/* Without regard to case. */
bool gt_filter_span_is(struct gt_filter_span span, const char *word);
/* The rest after the prefix, without regard to case; .at NULL: it does not begin so. */
struct gt_filter_span gt_filter_span_after(struct gt_filter_span span, const char *prefix);
/* The bytes up to the first of the characters that is not escaped, in brackets or (`quotes`)
 * quoted. */
struct gt_filter_span gt_filter_span_until(struct gt_filter_span span, const char *stops,
                                           bool quotes);

/* A number, decimal or hex after 0x. False: it is not a number, or does not fit. */
bool gt_filter_span_number(struct gt_filter_span span, uint64_t *out);
/* 5us, 1.5ms, 5000insn: ns (or instructions). Units: ns nsec us usec ms msec s sec m min insn;
 * none: ns. False: it is not a number, or does not fit. */
bool gt_filter_span_time(struct gt_filter_span span, uint64_t *out, bool *insns);

#endif
