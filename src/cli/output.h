/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text on its way to a descriptor, formatted by our own hands into one large buffer: for commands
 * that print tens of millions of lines a second.
 *
 * It latches: after a write that failed everything is discarded, and gt_output_finish says why.
 */
#ifndef GT_CLI_OUTPUT_H
#define GT_CLI_OUTPUT_H

#include "base/error.h"

#include <endian.h>
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

/* 8 hex digits as 8 bytes, the first one lowest. */
static inline uint64_t gt_output_digits(uint32_t x)
{
    uint64_t v = x;
    v = (v << 32 | v >> 16) & UINT64_C(0x0000ffff0000ffff); /* halves swapped, and so on down */
    v = ((v & UINT64_C(0x000000ff000000ff)) << 16) | ((v >> 8) & UINT64_C(0x000000ff000000ff));
    v = ((v & UINT64_C(0x000f000f000f000f)) << 8) | ((v >> 4) & UINT64_C(0x000f000f000f000f));
    uint64_t letter = ((v + UINT64_C(0x0606060606060606)) >> 4) & UINT64_C(0x0101010101010101);
    return v + UINT64_C(0x3030303030303030) + letter * ('a' - '0' - 10);
}

static inline char *gt_output_put8(char *p, uint64_t digits)
{
    digits = htole64(digits);
    memcpy(p, &digits, sizeof digits);
    return p + sizeof digits;
}

/* In hex without leading zeros; up to 16 bytes are written. Returns where it ends. */
static inline char *gt_output_hex(char *p, uint64_t v)
{
    uint32_t high = (uint32_t)(v >> 32), first = high ? high : (uint32_t)v;
    unsigned skipped = (unsigned)__builtin_clz(first | 1) / 4;
    p = gt_output_put8(p, gt_output_digits(first) >> (8 * skipped)) - skipped;
    return high ? gt_output_put8(p, gt_output_digits((uint32_t)v)) : p;
}

#endif
