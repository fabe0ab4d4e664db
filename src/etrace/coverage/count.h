/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts how often each address of programs ran.
 *
 * A region is a range of code. During counting it holds differences: an entry adds one at its start
 * and subtracts one at its end, so its cost does not depend on its length, and memory is that of
 * the regions. gt_coverage_finish sums the differences: from then on they are counts.
 */
#ifndef GT_ETRACE_COVERAGE_COUNT_H
#define GT_ETRACE_COVERAGE_COUNT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_coverage_region {
    uint64_t lo, size; /* run-time address, bytes: at least 1 */
    unsigned shift;    /* counts are for steps of 1 << shift bytes, from lo on */
    uint64_t *count;   /* (size >> shift) + 2 counts */
    const char *name;  /* name of its file; the caller's string */
};

struct gt_coverage {
    struct gt_coverage_region *region; /* sorted by lo after gt_coverage_begin, not overlapping */
    size_t n;
    struct gt_coverage_region *last;
    uint64_t entries;   /* number of entries that were counted */
    uint64_t elsewhere; /* number of these that are outside all regions */
    uint64_t added;     /* sum of all counts added: an upper bound of each count */
};

/* Adds a region; lo + size must not wrap. `name` is for messages. GT_E_NOMEM. */
int gt_coverage_add_region(struct gt_coverage *c, const char *name, uint64_t lo, uint64_t size,
                           unsigned shift, struct gt_error *err);
/* Begins counting, after all regions were added. GT_E_RANGE: two regions overlap. */
int gt_coverage_begin(struct gt_coverage *c, struct gt_error *err);

/* Counts [start, end) once; does nothing if start is not below end. */
void gt_coverage_add_slowly(struct gt_coverage *c, uint64_t start, uint64_t end);
static inline void gt_coverage_add(struct gt_coverage *c, uint64_t start, uint64_t end)
{
    const struct gt_coverage_region *r = c->last;
    uint64_t from = start - r->lo, to = end - r->lo;
    if (from < to && to <= r->size) {
        r->count[from >> r->shift]++;
        r->count[(to + (UINT64_C(1) << r->shift) - 1) >> r->shift]--;
        c->entries++;
    } else {
        gt_coverage_add_slowly(c, start, end);
    }
}
/* Counts [start, end) `times` times. GT_E_RANGE: a count exceeds 64 bits. */
int gt_coverage_add_times(struct gt_coverage *c, uint64_t start, uint64_t end, uint64_t times);

/* True if a region has a part of [start, end). */
bool gt_coverage_has(const struct gt_coverage *c, uint64_t start, uint64_t end);
/* Sets all counts to 0. */
void gt_coverage_reset(struct gt_coverage *c);

void gt_coverage_finish(struct gt_coverage *c);
/* Returns how often the code at the run-time address ran; 0 outside all regions. */
uint64_t gt_coverage_at(const struct gt_coverage *c, uint64_t addr);
/* Returns the greatest count in [lo, hi). */
uint64_t gt_coverage_most(const struct gt_coverage *c, uint64_t lo, uint64_t hi);

void gt_coverage_free(struct gt_coverage *c);

#endif
