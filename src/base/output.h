/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buffered text output to a descriptor, formatted without printf: for commands that print tens of
 * millions of lines a second.
 *
 * It latches: after a failed write all further output is discarded, and gt_output_finish reports
 * the error.
 */
#ifndef GT_BASE_OUTPUT_H
#define GT_BASE_OUTPUT_H

#include "base/error.h"
#include "base/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    GT_OUTPUT_SIZE = 256 << 10,
    GT_OUTPUT_SLACK = 64, /* a formatter may write this many bytes beyond the end of its text */
};

struct gt_output {
    int fd;
    int failed; /* errno of the first failed write; 0: none */
    size_t fill;
    char buf[GT_OUTPUT_SIZE + GT_OUTPUT_SLACK];
};

void gt_output_init(struct gt_output *o, int fd);
/* Writes the buffered text. */
void gt_output_flush(struct gt_output *o);
/* Flushes. GT_E_IO: a write failed; `name` is for the message. */
int gt_output_finish(struct gt_output *o, const char *name, struct gt_error *err);
/* Adds n bytes; n may exceed the buffer. */
void gt_output_bytes(struct gt_output *o, const void *data, size_t n);
/* Flushes and writes n bytes directly, without a copy into the buffer: for large pieces. */
void gt_output_through(struct gt_output *o, const void *data, size_t n);
void gt_output_text(struct gt_output *o, const char *text);
/* Adds n bytes; control characters other than tabs and newlines become '?'. */
void gt_output_clean(struct gt_output *o, const char *text, size_t n);
void gt_output_decimal(struct gt_output *o, uint64_t v);

/* Returns room for n bytes, at most GT_OUTPUT_SIZE. */
static inline char *gt_output_room(struct gt_output *o, size_t n)
{
    if (GT_OUTPUT_SIZE - o->fill < n)
        gt_output_flush(o);
    return o->buf + o->fill;
}

/* Adds the text that the caller wrote into the room, up to `end`. */
static inline void gt_output_end(struct gt_output *o, const char *end)
{
    o->fill = (size_t)(end - o->buf);
}

#endif
