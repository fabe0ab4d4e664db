/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Basic blocks of a function and the arcs between them, from its code and its counts.
 *
 * Blocks begin where a branch goes, behind branches and calls, and where the count changes: there a
 * table of jumps leads. How often an arc was taken follows from how often blocks ran: what leaves a
 * branch is what reaches it, and what reaches a block is what ran of it. A call may not come back.
 */
#ifndef GT_ANALYSIS_COVERAGE_BLOCKS_H
#define GT_ANALYSIS_COVERAGE_BLOCKS_H

#include "analysis/coverage/program.h"

#include <glib.h>

struct gt_coverage_arc {
    uint32_t from, to; /* blocks */
    uint64_t count;    /* how often it was taken, where that is known */
    uint64_t left;     /* the caller's */
    bool known;
};

struct gt_coverage_block {
    uint64_t lo, hi; /* run-time addresses */
    uint64_t count;
    uint32_t arc, n_arcs; /* that leave it */
    uint8_t kind;         /* enum gt_insn_kind of its last instruction */
    uint64_t target;      /* of a branch, else 0 */
    uint32_t last_line;   /* these are the caller's */
    uint32_t row;
};

struct gt_coverage_blocks {
    const struct gt_coverage_program *p;
    const struct gt_coverage *c;
    uint64_t lo, hi;
    GArray *blocks, *arcs; /* struct gt_coverage_block, by address; struct gt_coverage_arc */
    bool indirect;         /* jumps to addresses that are not known */
};

static inline struct gt_coverage_block *gt_coverage_block_at(const struct gt_coverage_blocks *f,
                                                             uint32_t i)
{
    return &g_array_index(f->blocks, struct gt_coverage_block, i);
}

static inline struct gt_coverage_arc *gt_coverage_arc_at(const struct gt_coverage_blocks *f,
                                                         uint32_t i)
{
    return &g_array_index(f->arcs, struct gt_coverage_arc, i);
}

/* The function of `bytes` at [lo, hi); *out needs gt_coverage_blocks_clear. The instructions of the
 * program must be known (guest/arch/insn_size.h), and c finished. */
void gt_coverage_blocks_read(const struct gt_coverage_program *p, const struct gt_coverage *c,
                             const uint8_t *bytes, uint64_t lo, uint64_t hi,
                             struct gt_coverage_blocks *out);
void gt_coverage_blocks_clear(struct gt_coverage_blocks *b);

#endif
