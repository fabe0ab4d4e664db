/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An approximate set of addresses, in grains of 2^shift bytes: it contains every address that was
 * added, and possibly others.
 *
 *   u8 shift, number n, n numbers: the first grain, then the differences to the next ones
 */
#ifndef GT_EXECLOG_FORMAT_SET_H
#define GT_EXECLOG_FORMAT_SET_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GT_EXECLOG_GRAINS = 512,      /* grains of an encoded set, at most */
    GT_EXECLOG_COLLECTED = 16384, /* grains of a set in memory, at most */
    GT_EXECLOG_RECENT = 64,
    GT_EXECLOG_SET_SIZE = 8 + GT_EXECLOG_GRAINS * 10, /* bytes of an encoded set, at most */
};

struct gt_execlog_set {
    unsigned shift;
    size_t n;
    uint64_t recent[GT_EXECLOG_RECENT]; /* 1 + a grain that was added; 0: none */
    uint64_t grains[GT_EXECLOG_COLLECTED];
};

void gt_execlog_set_clear(struct gt_execlog_set *s, unsigned shift);
/* Adds the range from lo to hi, of any size. */
void gt_execlog_set_add_range(struct gt_execlog_set *s, uint64_t lo, uint64_t hi);
/* The slow path of gt_execlog_set_add: makes room. */
void gt_execlog_set_shrink(struct gt_execlog_set *s, size_t most);
/* Encodes the set with at most GT_EXECLOG_GRAINS grains; returns the number of bytes. */
size_t gt_execlog_set_put(struct gt_execlog_set *s, uint8_t *out);
/* Consumes an encoded set; true if it may contain an address from lo to hi. An invalid set contains
 * all addresses. */
bool gt_execlog_set_meets(struct gt_bytes_reader *r, uint64_t lo, uint64_t hi);

static inline void gt_execlog_set_add(struct gt_execlog_set *s, uint64_t address)
{
    uint64_t grain = address >> s->shift;
    uint64_t *recent = &s->recent[grain % GT_EXECLOG_RECENT];
    if (*recent == grain + 1)
        return;
    if (s->n == GT_EXECLOG_COLLECTED) {
        gt_execlog_set_shrink(s, GT_EXECLOG_COLLECTED / 2);
        grain = address >> s->shift;
        recent = &s->recent[grain % GT_EXECLOG_RECENT];
    }
    *recent = grain + 1;
    s->grains[s->n++] = grain;
}

/* Reads the numbers that gt_execlog_put_number writes: seven bits a byte, the low bits first. */

/* Latches if the bytes end, or the number exceeds 64 bits. */
static inline uint64_t gt_execlog_get_number(struct gt_bytes_reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = gt_bytes_read_u8(r);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    r->short_of = true;
    return 0;
}

#endif
