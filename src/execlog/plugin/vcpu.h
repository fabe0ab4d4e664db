/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs: which lines of each have begun, and which are delivered. Only a callback that has entered
 * (gt_exlog_enter) uses a vCPU, or a thread that holds
 * them back (gt_exlog_hold).
 */
#ifndef GT_EXECLOG_PLUGIN_VCPU_H
#define GT_EXECLOG_PLUGIN_VCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_exlog;
struct gt_exlog_block;
struct gt_exlog_watched;

enum { GT_EXLOG_MAX_VCPUS = 65536 };

struct gt_exlog_vcpu {
    uint32_t busy; /* a callback uses the vCPU; atomic */
    uint32_t index;
    const struct gt_exlog_block *block; /* the current block; NULL: none */
    uint64_t *started; /* how many of its lines have begun: a scoreboard entry, or: */
    uint64_t counted;
    uint64_t delivered; /* how many of its lines the sink has */
    bool known;         /* vcpu_init was seen, and the sink accepted the vCPU */
    bool open;  /* the newest line may get more; else it is complete, or there is no line yet */
    void *sink; /* the sink's own */
    struct gt_exlog_watched *watched; /* registers; NULL: none */
    size_t n_watched;
    bool muted;          /* the newest line is not delivered, nor what belongs to it */
    uint64_t until_next; /* every=N: lines to leave out before the next one */
    uint64_t handed;     /* when whole lines were handed over early, monotonic ns */
    struct gt_exlog *recorder;
} __attribute__((aligned(64)));

/* By the vCPU's thread, or, while the scoreboard may move, by the thread of another vCPU that
 * begins. */
static inline void gt_exlog_set_started(struct gt_exlog_vcpu *v, uint64_t *at)
{
    __atomic_store_n(&v->started, at, __ATOMIC_RELAXED);
}

#endif
