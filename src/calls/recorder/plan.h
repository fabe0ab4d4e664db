/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How calls are recorded, decided once, at load: which callback a block has when it begins, which
 * of them may read registers, and what receives the tracker's call events. The table is in plan.c.
 */
#ifndef GT_CALLS_RECORDER_PLAN_H
#define GT_CALLS_RECORDER_PLAN_H

#include "qemu/host.h"
#include "track/sink.h"

struct gt_recorder;

/* Where a block's callback stands, and who counts its instructions: the callback or, in the COUNTED
 * rows, the block itself. run/transfer.h says what each is passed. */
enum gt_recorder_entry {
    GT_ENTRY_BLOCK, /* a call, a return or a jump may arrive when the block begins */
    GT_ENTRY_BLOCK_COUNTED,
    GT_ENTRY_INSIDE,  /* another function begins inside the block */
    GT_ENTRY_SLOW,    /* no transfer is plain there */
    GT_ENTRY_UNKNOWN, /* no code leads there: it may be a handler's first block */
    GT_ENTRY_UNKNOWN_COUNTED,
    GT_ENTRY_VALUED, /* it enters a function with arguments */
    GT_ENTRY_RESULT, /* it ends in the return of a function with a result */
    GT_ENTRIES,
};

struct gt_recorder_plan_entry {
    gt_host_exec_fn fn; /* NULL: there is no such place */
    bool registers;     /* it may read them */
};

struct gt_recorder_plan {
    struct gt_recorder_plan_entry entry[GT_ENTRIES];
    const struct gt_track_sink *sink;
    bool asks; /* filters decide on each call: no transfer is plain (GT_VCPU_ASKS) */
};

/* At load, when filters and values are known: r->plan, with a scoreboard and without, and how deep
 * calls are recorded. */
void gt_recorder_plan_choose(struct gt_recorder *r);

/* At load, before: the clock, and whether there is a scoreboard. */
void gt_recorder_plan_clock(struct gt_recorder *r);

#endif
