/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of addresses, coarse enough to be small: of grains of 2^shift bytes. It holds each address
 * that was put, and others.
 *
 *   u8 shift, number n, n numbers: the first grain, then the differences to the next ones
 */
#ifndef GT_FORMAT_EXECLOG_SET_H
#define GT_FORMAT_EXECLOG_SET_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GT_EXECLOG_GRAINS = 512,      /* of a set that is put */
    GT_EXECLOG_COLLECTED = 16384, /* of one that is collected */
    GT_EXECLOG_RECENT = 64,
    GT_EXECLOG_SET_SIZE = 8 + GT_EXECLOG_GRAINS * 10, /* bytes, at most */
};

struct gt_execlog_set {
    unsigned shift;
    size_t n;
    uint64_t recent[GT_EXECLOG_RECENT]; /* 1 + a grain that is among them */
    uint64_t grains[GT_EXECLOG_COLLECTED];
};

void gt_execlog_set_clear(struct gt_execlog_set *s, unsigned shift);
/* lo..hi, however far they are apart. */
void gt_execlog_set_add_range(struct gt_execlog_set *s, uint64_t lo, uint64_t hi);
/* The cold side of gt_execlog_set_add: makes room. */
void gt_execlog_set_shrink(struct gt_execlog_set *s, size_t most);
/* Puts the set, as at most GT_EXECLOG_GRAINS grains; returns how many bytes. */
size_t gt_execlog_set_put(struct gt_execlog_set *s, uint8_t *out);
/* Whether an encoded set may have an address of lo..hi; consumes it. What is no set has all. */
bool gt_execlog_set_meets(struct gt_reader *r, uint64_t lo, uint64_t hi);

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

#endif
