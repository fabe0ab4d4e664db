/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What translation has learned about the guest's code, a page at a time: how control reaches each
 * address, and the descriptions of blocks that begin there. Addresses are the guest's. Pages live
 * as long as the recorder. All functions are called with the recorder's lock held.
 */
#ifndef GT_CALLS_RECORDER_RUN_PAGE_H
#define GT_CALLS_RECORDER_RUN_PAGE_H

#include "base/page.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_uftrace_recorder;
struct gt_cached_block;

/* Bytes of code that one struct gt_granule describes. */
enum { GT_GRANULE = 64 };

/* GT_GRANULE bytes of code. Each word has a bit for each address: see gt_granule_bit. */
struct gt_granule {
    uint64_t by_predecessor;        /* reached from the instruction before, or by a branch */
    uint64_t call;                  /* reached by a call */
    uint64_t otherwise;             /* reached in another way, too */
    struct gt_cached_block *blocks; /* descriptions of blocks that begin here; NULL: none */
};

struct gt_page {
    struct gt_granule granule[GT_PAGE / GT_GRANULE];
};

/* The bit of the address in the words of its struct gt_granule. */
static inline uint64_t gt_granule_bit(uint64_t pc)
{
    return UINT64_C(1) << pc % GT_GRANULE;
}

/* The granule of the address. The page is created at its first use; never NULL. */
struct gt_granule *gt_granule_at(struct gt_uftrace_recorder *r, uint64_t pc);

/* True where translated code leads to the address. */
bool gt_block_entry_is_known(struct gt_uftrace_recorder *r, uint64_t pc);

#endif
