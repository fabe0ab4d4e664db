/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of trace records as text, put where the caller made room; each function returns where the
 * text ends. How much room: a number 32 bytes, a string what its function says.
 */
#ifndef GT_ANALYSIS_SIMPLETRACE_PUT_H
#define GT_ANALYSIS_SIMPLETRACE_PUT_H

#include "base/output.h"

#include <glib.h>

enum { GT_PUT_NUMBER = 32 };

/* now - before, as microseconds with three decimals, as Python shows the quotient. */
char *gt_put_delta(char *p, uint64_t before, uint64_t now);

/* As Python shows bytes: b'...', or b"..." where that saves escapes. 4 * n + 3 bytes. */
char *gt_put_python_bytes(char *p, const char *text, size_t n);
/* Room for a line of any length: the output's buffer, or one of its own. */
struct gt_put_line {
    struct gt_output *out;
    GString *big; /* made when the first line needs it */
};

char *gt_put_line_begin(struct gt_put_line *l, size_t room);
/* What begin gave, and where the text in it ends. */
void gt_put_line_end(struct gt_put_line *l, const char *begin, const char *end);
void gt_put_line_free(struct gt_put_line *l);

static inline char *gt_put_bytes(char *p, const void *data, size_t n)
{
    memcpy(p, data, n);
    return p + n;
}

#endif
