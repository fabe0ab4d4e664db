/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callbacks from translated code: control has arrived at a block. The hot path of the recorder.
 *
 * Each takes the vCPU's index and, unless noted, the block's struct gt_code as `data`. They run on
 * the vCPU's thread without the lock.
 */
#ifndef GT_CALLS_RECORDER_RUN_TRANSFER_H
#define GT_CALLS_RECORDER_RUN_TRANSFER_H

#include "base/stream/stream.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/values/arguments.h"
#include "recording/directory/uftrace.h"
#include "track/transfer.h"

/* Hosts with a scoreboard. A block begins; the callback counts its instructions. `data` is that of
 * gt_run_transfer_data. */
void gt_run_on_transfer(unsigned vcpu, void *data);
/* A second function begins inside a block; the callback counts instructions. */
void gt_run_on_transfer_inside(unsigned vcpu, void *code);
/* A block begins that counts its instructions by inline operations. */
void gt_run_on_counted_transfer(unsigned vcpu, void *code);

/* The same with filters. */
void gt_run_on_filtered_transfer(unsigned vcpu, void *data);
void gt_run_on_filtered_counted_transfer(unsigned vcpu, void *code);

/* A block begins that enters a function with arguments: data is a struct
 * gt_recorder_argument_point. The callback may read registers. */
void gt_run_on_valued_transfer(unsigned vcpu, void *data);
/* A return instruction of such a function is about to run; the same. */
void gt_run_on_valued_return(unsigned vcpu, void *data);

/* Hosts without a scoreboard. A block begins; the callback counts instructions and sets the last
 * exit. */
void gt_run_on_block(unsigned vcpu, void *code);

/* Any host. A block begins that may be a handler's first; the callback counts instructions. */
void gt_run_on_unknown_block(unsigned vcpu, void *code);
/* The same for a block that counts its instructions by inline operations. */
void gt_run_on_counted_unknown_block(unsigned vcpu, void *code);
/* A block begins at which no transfer is plain; the callback counts instructions. */
void gt_run_on_slow_block(unsigned vcpu, void *code);

enum { GT_TRANSFER_SHIFT = 48 };

/* The description's address, and its number of instructions in the bits above GT_TRANSFER_SHIFT.
 * NULL: the address needs those bits. */
static inline void *gt_run_transfer_data(const struct gt_code *code)
{
    uint64_t p = (uint64_t)(uintptr_t)code, insns = code->insns;
    return p >> GT_TRANSFER_SHIFT ? NULL : (void *)(uintptr_t)(p | insns << GT_TRANSFER_SHIFT);
}

/* The second word of the record of a plain transfer. */
static inline uint64_t gt_run_call_event_word(const struct gt_track_call_event *found)
{
    return found->leaves ? gt_uftrace_exit(found->depth, found->addr)
                         : gt_uftrace_entry(found->depth, found->addr);
}

/* Puts a record, with its values where it has some. */
static inline void gt_run_transfer_put(struct gt_stream *out, uint64_t time, uint64_t word,
                                       const struct gt_recorder_argument_slot *values)
{
    if (values && values->n)
        gt_stream_put_more(out, time, word | GT_UFTRACE_MORE, values->words, values->n);
    else
        gt_stream_put(out, time, word);
}

/* Slow path for one transfer of a recorded vCPU; returns the new last exit. */
uint64_t gt_run_transfer_slowly(struct gt_recorder_transfer *t);

/* Receives the tracker's call events: a task for each stack. */
extern const struct gt_track_sink gt_run_sink;

#endif
