/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of trace records as text, put where the caller made room; each function returns where the
 * text ends. How much room: a number 32 bytes, a string what its function says.
 */
#ifndef GT_ANALYSIS_SIMPLETRACE_PUT_H
#define GT_ANALYSIS_SIMPLETRACE_PUT_H

#include "base/output.h"

#include <glib.h>
#include <guesttrace/simpletrace.h>
#include <stdbool.h>

enum { GT_PUT_NUMBER = 32 };

char *gt_put_decimal(char *p, uint64_t v);
char *gt_put_signed(char *p, int64_t v);
/* The first three digits of `ns` after the point: microseconds. */
char *gt_put_us(char *p, uint64_t ns);
/* now - before, as microseconds with three decimals, as Python shows the quotient. */
char *gt_put_delta(char *p, uint64_t before, uint64_t now);

/* As Python shows bytes: b'...', or b"..." where that saves escapes. 4 * n + 3 bytes. */
char *gt_put_python_bytes(char *p, const char *text, size_t n);
/* As JSON shows a string, with its quotes; what is no UTF-8 becomes U+DC80 to U+DCFF, byte by byte.
 * 6 * n + 2 bytes. */
char *gt_put_json_string(char *p, const char *text, size_t n);

/* {"name":value,...}: numbers as declared, pointers as "0x...". */
size_t gt_put_args_room(const struct gt_trace_record *r);
char *gt_put_args(char *p, const struct gt_trace_record *r);

/* Room for a line of any length: the output's buffer, or one of its own. */
struct gt_line {
    struct gt_output *out;
    GString *big; /* made when the first line needs it */
};

char *gt_line_begin(struct gt_line *l, size_t room);
/* What begin gave, and where the text in it ends. */
void gt_line_end(struct gt_line *l, const char *begin, const char *end);
void gt_line_free(struct gt_line *l);

static inline char *gt_put_bytes(char *p, const void *data, size_t n)
{
    memcpy(p, data, n);
    return p + n;
}

static inline char *gt_put_text(char *p, const char *text)
{
    return gt_put_bytes(p, text, strlen(text));
}

#endif
