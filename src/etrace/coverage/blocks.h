/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The basic blocks of a function and the arcs between them, from its code and its counts.
 *
 * Blocks begin at targets of branches, after branches and calls, and where the count changes: at
 * targets of jump tables. The counts of arcs follow from the counts of blocks: the arcs into a
 * block add up to its count, and so do the arcs out of it. A call may not return.
 */
#ifndef GT_ETRACE_COVERAGE_BLOCKS_H
#define GT_ETRACE_COVERAGE_BLOCKS_H

#include "etrace/coverage/program.h"

#include <glib.h>

struct gt_coverage_arc {
    uint32_t from, to; /* blocks */
    uint64_t count;    /* how often it was taken, if `known` */
    uint64_t left;     /* for the caller's use */
    bool known;
};

struct gt_coverage_block {
    uint64_t lo, hi; /* run-time addresses */
    uint64_t count;
    uint32_t arc, n_arcs; /* first arc that leaves the block, and their number */
    uint8_t kind;         /* enum gt_arch_insn_kind of its last instruction */
    uint64_t target;      /* target of a branch, else 0 */
    uint32_t last_line;   /* last_line and row are for the caller's use */
    uint32_t row;
};

struct gt_coverage_blocks {
    const struct gt_coverage_program *p;
    const struct gt_coverage *c;
    uint64_t lo, hi;
    GArray *blocks, *arcs; /* struct gt_coverage_block, sorted by address; struct gt_coverage_arc */
    bool indirect;         /* there are jumps to unknown addresses */
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

/* Reads the function at [lo, hi), whose code is `bytes`; release *out with
 * gt_coverage_blocks_clear. The program's architecture must be supported (guest/arch/insn_size.h),
 * and c finished. */
void gt_coverage_blocks_read(const struct gt_coverage_program *p, const struct gt_coverage *c,
                             const uint8_t *bytes, uint64_t lo, uint64_t hi,
                             struct gt_coverage_blocks *out);
void gt_coverage_blocks_clear(struct gt_coverage_blocks *b);

#endif
