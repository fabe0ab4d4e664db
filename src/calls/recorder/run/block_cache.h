/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of blocks (struct gt_code), found by their address and content, so that a block that
 * is translated again gets its old one. They live as long as the recorder, since a last exit may
 * point to one at any time. All functions are called with the lock held.
 */
#ifndef GT_CALLS_RECORDER_RUN_BLOCK_CACHE_H
#define GT_CALLS_RECORDER_RUN_BLOCK_CACHE_H

#include "qemu/support/arena.h"
#include "track/track.h"

struct gt_uftrace_recorder;

/* A description in the list of its place (page.h). */
struct gt_cached_block {
    uint64_t pc;
    struct gt_code *code;
    struct gt_cached_block *next; /* in the place */
};

/* Memory of descriptions. Zero: no description yet. */
struct gt_block_cache {
    struct gt_arena cached;   /* of struct gt_cached_block */
    struct gt_code *at, *end; /* free descriptions of the newest allocation, two in a cache line */
    struct gt_code *half; /* the free one of a line whose other one is in use; NULL: no such line */
};

/* The first description at the address, and the next one at the same address; NULL: no more. */
struct gt_cached_block *gt_cached_block_at(struct gt_uftrace_recorder *r, uint64_t pc);
struct gt_cached_block *gt_cached_block_next(const struct gt_cached_block *cached);

/* The cached description that is equal to `want`; made at its first use. NULL: out of memory, the
 * block stays uninstrumented. */
struct gt_code *gt_cache_block(struct gt_uftrace_recorder *r, const struct gt_code *want);

/* Marks the function as a signal handler, with its blocks that were translated before. */
void gt_code_is_handler(struct gt_uftrace_recorder *r, struct gt_func *fn);

#endif
