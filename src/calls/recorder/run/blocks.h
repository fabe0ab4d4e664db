/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What translation has learned about the guest's code, a page at a time: how control reaches each
 * address, and the descriptions of blocks that begin there (struct gt_code), found by their content
 * as well, so that a block that is translated again gets its old one. Addresses are the guest's.
 * All lives as long as the recorder, since a last exit may point to a description at any time. All
 * functions are called with the recorder's lock held, unless noted.
 */
#ifndef GT_CALLS_RECORDER_RUN_BLOCKS_H
#define GT_CALLS_RECORDER_RUN_BLOCKS_H

#include "base/page.h"
#include "qemu/support/pages.h"
#include "track/track.h"

struct gt_recorder;

/* Bytes of code that one struct gt_run_granule describes. */
enum { GT_GRANULE = 64 };

/* GT_GRANULE bytes of code. Each word has a bit for each address: see gt_run_granule_bit. */
struct gt_run_granule {
    uint64_t by_predecessor;            /* reached from the instruction before, or by a branch */
    uint64_t call;                      /* reached by a call */
    uint64_t otherwise;                 /* reached in another way, too */
    struct gt_run_cached_block *blocks; /* descriptions of blocks that begin here; NULL: none */
};

struct gt_run_page {
    struct gt_run_granule granule[GT_PAGE / GT_GRANULE];
};

/* The bit of the address in the words of its struct gt_run_granule. */
static inline uint64_t gt_run_granule_bit(uint64_t pc)
{
    return UINT64_C(1) << pc % GT_GRANULE;
}

/* The granule of the address. The page is created at its first use; never NULL. */
struct gt_run_granule *gt_run_granule_at(struct gt_recorder *r, uint64_t pc);

/* True where translated code leads to the address. */
bool gt_run_block_entry_is_known(struct gt_recorder *r, uint64_t pc);

/* A description in the list of its place (struct gt_run_granule). */
struct gt_run_cached_block {
    uint64_t pc;
    struct gt_code *code;
    struct gt_run_cached_block *next; /* in the place */
};

/* Memory of descriptions. Zero: no description yet. */
struct gt_run_block_cache {
    struct gt_support_arena cached; /* of struct gt_run_cached_block */
    struct gt_code *at, *end; /* free descriptions of the newest allocation, two in a cache line */
    struct gt_code *half; /* the free one of a line whose other one is in use; NULL: no such line */
};

/* The first description at the address, and the next one at the same address; NULL: no more. */
struct gt_run_cached_block *gt_run_cached_block_at(struct gt_recorder *r, uint64_t pc);
struct gt_run_cached_block *gt_run_cached_block_next(const struct gt_run_cached_block *cached);

/* The cached description that is equal to `want`; made at its first use. NULL: out of memory, the
 * block stays uninstrumented. */
struct gt_code *gt_run_cache_block(struct gt_recorder *r, const struct gt_code *want);

/* Marks the function as a signal handler, with its blocks that were translated before. */
void gt_run_code_is_handler(struct gt_recorder *r, struct gt_track_func *fn);

/* Adds to each module the addresses without a symbol that were called. Takes the lock. */
void gt_run_blocks_collect_entered(struct gt_recorder *r);

#endif
