/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats values of trace records in memory that the caller provides; each function returns the end
 * of the text. A number needs 32 bytes of room, a string the bytes given at its function.
 */
#ifndef GT_EVENTS_SIMPLETRACE_PUT_H
#define GT_EVENTS_SIMPLETRACE_PUT_H

#include "base/output.h"

#include <glib.h>

enum { GT_PUT_NUMBER = 32 };

/* Formats now - before as microseconds with three decimals, rounded like Python's quotient. */
char *gt_put_delta(char *p, uint64_t before, uint64_t now);

/* Formats bytes like Python: b'...', or b"..." if that saves escapes. 4 * n + 3 bytes. */
char *gt_put_python_bytes(char *p, const char *text, size_t n);
/* Room for a line of any length: in the output's buffer, or in a buffer of its own. */
struct gt_put_line {
    struct gt_output *out;
    GString *big; /* made for the first line that needs it */
};

char *gt_put_line_begin(struct gt_put_line *l, size_t room);
/* `begin` is the result of gt_put_line_begin, `end` the end of the text. */
void gt_put_line_end(struct gt_put_line *l, const char *begin, const char *end);
void gt_put_line_free(struct gt_put_line *l);

static inline char *gt_put_bytes(char *p, const void *data, size_t n)
{
    memcpy(p, data, n);
    return p + n;
}

#endif
