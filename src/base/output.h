/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text on its way to a descriptor, formatted by our own hands into one large buffer: for commands
 * that print tens of millions of lines a second.
 *
 * It latches: after a write that failed everything is discarded, and gt_output_finish says why.
 */
#ifndef GT_BASE_OUTPUT_H
#define GT_BASE_OUTPUT_H

#include "base/error.h"
#include "base/hex.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    GT_OUTPUT_SIZE = 256 << 10,
    GT_OUTPUT_SLACK = 64, /* a number may be written this far beyond where it ends */
};

struct gt_output {
    int fd;
    int failed; /* errno of the first write that failed */
    size_t fill;
    char buf[GT_OUTPUT_SIZE + GT_OUTPUT_SLACK];
};

void gt_output_init(struct gt_output *o, int fd);
/* Writes what there is. */
void gt_output_flush(struct gt_output *o);
/* Flushes; GT_E_IO: something could not be written; `name` is for the message. */
int gt_output_finish(struct gt_output *o, const char *name, struct gt_error *err);
/* n bytes, however many. */
void gt_output_bytes(struct gt_output *o, const void *data, size_t n);
/* The same at once, where they are: for large pieces. */
void gt_output_through(struct gt_output *o, const void *data, size_t n);
void gt_output_text(struct gt_output *o, const char *text);
/* n bytes in which control characters other than tabs and newlines are shown as '?'. */
void gt_output_clean(struct gt_output *o, const char *text, size_t n);
void gt_output_decimal(struct gt_output *o, uint64_t v);

/* Room for n bytes, at most GT_OUTPUT_SIZE. */
static inline char *gt_output_room(struct gt_output *o, size_t n)
{
    if (GT_OUTPUT_SIZE - o->fill < n)
        gt_output_flush(o);
    return o->buf + o->fill;
}

/* The text that was put into the room ends here. */
static inline void gt_output_end(struct gt_output *o, const char *end)
{
    o->fill = (size_t)(end - o->buf);
}

#endif
