/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callbacks from translated code: control has arrived at a block. The hot path of the recorder.
 *
 * Each takes the vCPU's index and, as `data`, the block's struct gt_code, where nothing else is
 * said. They run on the vCPU's thread without the lock.
 */
#ifndef GT_PLUGIN_UFTRACE_TRANSFER_H
#define GT_PLUGIN_UFTRACE_TRANSFER_H

#include "format/uftrace/uftrace.h"
#include "plugin/uftrace/vcpu.h"
#include "track/transfer.h"

/* Hosts with cells. A block begins, whose instructions the callback counts; `data` is that of
 * gt_landing_data. */
void gt_on_landing(unsigned vcpu, void *data);
/* A second function begins inside a block; the callback counts. */
void gt_on_landing_inside(unsigned vcpu, void *code);
/* A block begins that counts its instructions by inline operations. */
void gt_on_counted_landing(unsigned vcpu, void *code);

/* Hosts without cells. A block begins; the callback counts, and keeps the mark. */
void gt_on_block(unsigned vcpu, void *code);

/* Any host. A block begins that may be a handler's first; the callback counts. */
void gt_on_unknown_block(unsigned vcpu, void *code);
/* The same for a block that counts its instructions by inline operations. */
void gt_on_counted_unknown_block(unsigned vcpu, void *code);
/* A block begins at which no landing is plain; the callback counts. */
void gt_on_special_block(unsigned vcpu, void *code);

enum { GT_LANDING_SHIFT = 48 };

/* The description's address, and its number of instructions in the bits above GT_LANDING_SHIFT.
 * NULL: the address needs those bits. */
static inline void *gt_landing_data(const struct gt_code *code)
{
    uint64_t p = (uint64_t)(uintptr_t)code, insns = code->insns;
    return p >> GT_LANDING_SHIFT ? NULL : (void *)(uintptr_t)(p | insns << GT_LANDING_SHIFT);
}

/* The second word of the record of a plain landing. */
static inline uint64_t gt_landed_word(const struct gt_landed *found)
{
    return found->leaves ? gt_uftrace_exit(found->depth, found->addr)
                         : gt_uftrace_entry(found->depth, found->addr);
}

/* Slow path for one landing of a recorded vCPU at `time`; returns the new mark. */
uint64_t gt_land_slowly(struct gt_vcpu *v, struct gt_code *code, uint64_t mark, uint64_t time);

/* Where the tracker's findings go: a task for each stack. */
extern const struct gt_sink gt_uftrace_sink;

#endif
