/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags=coverage: numbers that translated code adds to. They lie close together, apart from their
 * blocks: those of code that runs often stay in the processor's cache.
 *
 * A counter is named by a number from 1 on. Counters are the host's memory and live as long as it
 * does; one that ended is given out again. All functions need the recorder's lock.
 */
#ifndef GT_ETRACE_PLUGIN_COUNTERS_H
#define GT_ETRACE_PLUGIN_COUNTERS_H

#include <glib.h>
#include <stdint.h>

struct gt_etrace;

enum { GT_ETRACE_COUNTERS = 4096 /* of each set */ };

struct gt_etrace_counters {
    GPtrArray *sets; /* of gt_counters_new(GT_ETRACE_COUNTERS) */
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
