/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exec queue (clock=insn, EXEC alone): executed blocks of one host thread that are not entries
 * of a packet yet. The hot path only appends to it.
 *
 * Its thread appends without a lock; the queue is emptied with the buffer's lock, by its thread or
 * while its thread cannot run. Others may read the first `n` entries with the buffer's lock.
 */
#ifndef GT_ETRACE_PLUGIN_EXEC_QUEUE_H
#define GT_ETRACE_PLUGIN_EXEC_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct gt_etrace_block;
struct gt_etrace_buffer;

enum {
    GT_ETRACE_QUEUE = 1024,    /* entries */
    GT_ETRACE_QUEUE_VCPU = 48, /* bits of a block's address; the vCPU's index is above */
};

struct gt_etrace_queue {
    size_t n; /* entries; atomic */
    uint64_t entries[GT_ETRACE_QUEUE];
};

static inline const struct gt_etrace_block *gt_etrace_queued_block(uint64_t entry)
{
    const unsigned vcpu_bits = 64 - GT_ETRACE_QUEUE_VCPU;
    return (const struct gt_etrace_block *)(uintptr_t)(entry << vcpu_bits >> vcpu_bits);
}

/* Puts the queued blocks as entries and empties the queue. With the buffer's lock. */
void gt_etrace_put_queued(struct gt_etrace_buffer *buf);

#endif
