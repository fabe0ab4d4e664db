/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each address of some programs ran.
 *
 * A region is a stretch of code. While counting it holds differences: an entry adds one where it
 * begins and takes one where it ends, so it costs the same however long it is and memory is that of
 * the regions. gt_coverage_finish sums them up: from then on they are counts.
 */
#ifndef GT_ANALYSIS_COVERAGE_COUNT_H
#define GT_ANALYSIS_COVERAGE_COUNT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_coverage_region {
    uint64_t lo, size; /* run-time address, bytes: at least 1 */
    unsigned shift;    /* counted in steps of 1 << shift bytes, from lo on */
    uint64_t *count;   /* (size >> shift) + 2 of them */
    const char *name;  /* of its file, the caller's */
};

struct gt_coverage {
    struct gt_coverage_region *region; /* sorted by lo once counting began, not overlapping */
    size_t n;
    struct gt_coverage_region *last;
    uint64_t entries;   /* that ran something */
    uint64_t elsewhere; /* of those: the ones that no region has any of */
    uint64_t added;     /* of gt_coverage_add's times, all of them: no count is greater */
};

/* lo + size must not wrap. GT_E_NOMEM. `name` is for messages. */
int gt_coverage_add_region(struct gt_coverage *c, const char *name, uint64_t lo, uint64_t size,
                           unsigned shift, struct gt_error *err);
/* All regions are there. GT_E_RANGE: two overlap. */
int gt_coverage_begin(struct gt_coverage *c, struct gt_error *err);

/* [start, end) ran once more; nothing where start is not below end. */
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
/* [start, end) ran so many times more. GT_E_RANGE: more than 64 bits hold. */
int gt_coverage_add_times(struct gt_coverage *c, uint64_t start, uint64_t end, uint64_t times);

/* A region has some of [start, end). */
bool gt_coverage_has(const struct gt_coverage *c, uint64_t start, uint64_t end);
/* As if nothing had run. */
void gt_coverage_reset(struct gt_coverage *c);

void gt_coverage_finish(struct gt_coverage *c);
/* How often the code at the run-time address ran; 0 where no region has it. */
uint64_t gt_coverage_at(const struct gt_coverage *c, uint64_t addr);
/* The greatest count in [lo, hi). */
uint64_t gt_coverage_most(const struct gt_coverage *c, uint64_t lo, uint64_t hi);

void gt_coverage_free(struct gt_coverage *c);

#endif
