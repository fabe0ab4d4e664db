/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags=coverage: translated code counts each block by itself; the counts are put on request and at
 * the end, as events (etrace/format/mapping.h): the value is how often a range of addresses ran
 * until now, and the previous value the one that this stream has of it.
 *
 * On request the counters are read on a thread that QEMU does not know: they may move meanwhile.
 * The kernel copies them, which survives an address that is gone; where they have moved it copies
 * again.
 */
#ifndef GT_ETRACE_PLUGIN_COUNT_H
#define GT_ETRACE_PLUGIN_COUNT_H

#include "etrace/plugin/block_cache.h"

#include <glib.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct gt_host_block;
struct gt_etrace;
struct gt_etrace_block;

/* What the stream has so far. */
struct gt_etrace_count {
    pthread_mutex_t lock; /* protects the members; taken before the recorder's lock */
    uint64_t numbers[GT_ETRACE_COUNTERS]; /* one vCPU's of one set */
    GArray *delivered; /* uint64_t: of each of cache.ranges, the count put last */
    unsigned streams;  /* streams begun when they were put; counts put before the first reader
                        * connects are delivered to it, so that this begins with 1 */
    uint64_t dropped;  /* bytes that the sink had dropped then */
};

/* Has the block under translation count its runs. With the recorder's lock. */
void gt_etrace_count_runs(struct gt_etrace *e, struct gt_host_block *block,
                          struct gt_etrace_block *b);
/* Puts the counts that differ from the delivered ones; where the sink dropped something since, all
 * of them. Returns how many. On any thread, without locks. */
size_t gt_etrace_put_counts(struct gt_etrace *e);

#endif
