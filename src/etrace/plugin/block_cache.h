/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block cache: one description for each different block of guest code, however often QEMU
 * translates it. Descriptions are grouped by pages of code: what QEMU translates is near what it
 * translated last, so that the page is at hand.
 *
 * The cache owns all blocks and pages. They live until QEMU throws all translated code away; with
 * GT_ETRACE_F_COVERAGE, whose counts stay, until the recorder ends.
 *
 * All functions need the recorder's lock.
 */
#ifndef GT_ETRACE_PLUGIN_BLOCK_CACHE_H
#define GT_ETRACE_PLUGIN_BLOCK_CACHE_H

#include "qemu/support/pages.h"

#include <glib.h>
#include <stdint.h>

struct gt_etrace;

enum { GT_ETRACE_CHAINS = 32 /* chains of a page's blocks */ };

/* A block of guest code, [start, end). Small: each block in use displaces something else from the
 * processor's caches. */
struct gt_etrace_block {
    uint64_t start, end;
    struct gt_etrace_block *next; /* in its chain */
    struct gt_etrace_cold *cold;  /* NULL: none */
    uint32_t counter;             /* with GT_ETRACE_F_COVERAGE: its number, from 1; 0: none */
    uint16_t insns;               /* instructions */
    uint8_t insn_size;            /* bytes of each instruction; 0: they differ: */
    uint8_t sizes[];              /* bytes of each one */
};

/* What few blocks have, with GT_ETRACE_F_COVERAGE. */
struct gt_etrace_cold {
    struct gt_etrace_block *same_range; /* next block that starts and ends here */
    struct gt_etrace_single *singles;   /* a machine's block of one instruction: translations */
    uint64_t early_exits;               /* times the block ended early */
    uint64_t extra_runs;                /* times a longer block ended early, where this one ends */
};

/* A page of code. */
struct gt_etrace_page {
    struct gt_etrace_block *chains[GT_ETRACE_CHAINS]; /* blocks that start there, by their start */
    uint64_t starts[GT_PAGE / 4 / 64];                /* a bit for each 4 bytes with a start */
    GArray *exit_points;                              /* early_exit.c; NULL: none */
};

struct gt_etrace_block_cache {
    struct gt_support_pages pages; /* of struct gt_etrace_page */
    struct gt_support_arena blocks;
    GPtrArray *ranges; /* with GT_ETRACE_F_COVERAGE: the first block of each address range, in the
                        * order of first translation */
};

/* The cached block that is equal to `want`; where there is none it is added. `sizes` has the
 * instructions' sizes where want->insn_size is 0. NULL: no memory. */
struct gt_etrace_block *gt_etrace_cache_block(struct gt_etrace *e,
                                              const struct gt_etrace_block *want,
                                              const uint8_t *sizes);
/* The block's cold data, allocated at the first call. */
struct gt_etrace_cold *gt_etrace_cold_of(struct gt_etrace_block *b);
/* The page of an address, added where there is none. */
struct gt_etrace_page *gt_etrace_page_at(struct gt_etrace *e, uint64_t addr);
/* Frees all blocks and pages; with GT_ETRACE_F_COVERAGE not their cold data. */
void gt_etrace_cache_clear(struct gt_etrace *e);

/* Bytes of instruction i < b->insns. */
static inline uint32_t gt_etrace_insn_size(const struct gt_etrace_block *b, uint32_t i)
{
    return b->insn_size ? b->insn_size : b->sizes[i];
}

/*
 * flags=coverage: numbers that translated code adds to. They lie close together, apart from their
 * blocks: the counters of code that runs often stay in the processor's cache.
 *
 * A counter is named by a number from 1 on. Counters are the host's memory and live as long as it
 * does; one that ended is given out again. All functions need the recorder's lock.
 */

struct gt_etrace;

enum { GT_ETRACE_COUNTERS = 4096 /* of each set */ };

struct gt_etrace_counters {
    GPtrArray *sets; /* of gt_host_counters_new(GT_ETRACE_COUNTERS) */
    uint32_t n;      /* counters given out so far */
    GArray *ended;   /* uint32_t: counters that may be given out again */
};

uint32_t gt_etrace_counter_new(struct gt_etrace *e);
/* The set that holds the counter, as number (counter - 1) % GT_ETRACE_COUNTERS. */
void *gt_etrace_counter_set(struct gt_etrace *e, uint32_t counter);
/* What the vCPU counted; where the host has no scoreboard, what all of them counted. */
uint64_t gt_etrace_counter_value(struct gt_etrace *e, uint32_t counter, unsigned vcpu);
/* Ends a counter: no translated code adds to it any more, and no vCPU runs. Returns its sum. */
uint64_t gt_etrace_counter_end(struct gt_etrace *e, uint32_t counter);

#endif
