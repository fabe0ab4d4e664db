/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats values of trace records in memory that the caller provides; each function returns the end
 * of the text. A number needs 32 bytes of room, a string the bytes given at its function.
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
/* Formats `ns` as microseconds with three decimals. */
char *gt_put_us(char *p, uint64_t ns);
/* Formats now - before as microseconds with three decimals, rounded like Python's quotient. */
char *gt_put_delta(char *p, uint64_t before, uint64_t now);

/* Formats bytes like Python: b'...', or b"..." if that saves escapes. 4 * n + 3 bytes. */
char *gt_put_python_bytes(char *p, const char *text, size_t n);
/* Formats a JSON string with its quotes; each byte that is not UTF-8 becomes one of U+DC80 to
 * U+DCFF. 6 * n + 2 bytes. */
char *gt_put_json_string(char *p, const char *text, size_t n);

/* Formats the arguments as {"name":value,...}: numbers as declared, pointers as "0x...". */
size_t gt_put_args_room(const struct gt_trace_record *r);
char *gt_put_args(char *p, const struct gt_trace_record *r);

/* Room for a line of any length: in the output's buffer, or in a buffer of its own. */
struct gt_line {
    struct gt_output *out;
    GString *big; /* made for the first line that needs it */
};

char *gt_line_begin(struct gt_line *l, size_t room);
/* `begin` is the result of gt_line_begin, `end` the end of the text. */
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
