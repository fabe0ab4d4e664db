/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls under filters. All calls are tracked, recorded or not; each task of the recording has a
 * state (filter/state.h) that decides which of them are recorded, and writes these. The depths of
 * its records count recorded calls.
 */
#ifndef GT_CALLS_RECORDER_SELECT_FILTERED_H
#define GT_CALLS_RECORDER_SELECT_FILTERED_H

#include "base/stream/stream.h"
#include "calls/recorder/select/filtered_values.h"
#include "filter/state.h"
#include "track/track.h"

struct gt_recorder;
struct gt_select_filter_current;
struct gt_recorder_transfer;

/* A task of the recording. Zero: not begun. */
struct gt_select_filtered {
    struct gt_filter_state state;
    struct gt_recorder *rec;
    struct gt_stream *out;                    /* NULL: not begun, or ended */
    struct gt_select_filter_current *current; /* what decides */
    struct gt_select_filter_current
        *asked; /* the newest; another than `current`: no memory for it */
    struct gt_stack *stack;
    unsigned level;            /* with privilege_levels: its own; else 0 */
    uint32_t at;               /* a frame of the stack, while the set is replaced */
    uint64_t last;             /* time of the last record */
    uint64_t resumed;          /* when it was last resumed */
    uint64_t recorded, beyond; /* calls: recorded; too deep for that */
    uint32_t id, pid, cpu;
    char name[16];
    struct gt_select_filtered_values values;        /* arguments of open calls */
    const struct gt_recorder_argument_slot *result; /* of the call that returns; NULL: none */
    uint32_t returns;                               /* its depth */
};

/* Its calls begin, or begin again, on the stack, in a stream that the caller owns. False: no
 * memory. */
bool gt_select_filtered_begin(struct gt_select_filtered *f, struct gt_recorder *r,
                              struct gt_stack *s, struct gt_stream *out, uint32_t id);
/* All its calls have ended. Not begun is fine. */
void gt_select_filtered_end(struct gt_select_filtered *f);
/* Its open calls end at that time without having returned: their leaves are next. Not begun is
 * fine. */
void gt_select_filtered_ends(struct gt_select_filtered *f, uint64_t time);
/* Recording was switched off: its open calls end now. Not begun is fine. */
void gt_select_filtered_stop(struct gt_select_filtered *f, uint64_t time);
/* It has another name. Not begun is fine. */
void gt_select_filtered_name(struct gt_select_filtered *f, const char *name, uint32_t pid);

/* A call of the tracker's, whose frame is given; the innermost call ends, with that result (NULL:
 * none). */
void gt_select_filtered_enter(struct gt_select_filtered *f, const struct gt_track_frame *frame,
                              uint64_t time);
void gt_select_filtered_leave(struct gt_select_filtered *f, uint64_t time,
                              const struct gt_recorder_argument_slot *result);
/* The same for a call that arrived at the code, and is not a handler. */
void gt_select_filtered_enter_code(struct gt_select_filtered *f, struct gt_code *code,
                                   const struct gt_track_frame *frame, uint64_t time);
/* The task is suspended, goes on. */
void gt_select_filtered_suspend(struct gt_select_filtered *f, uint64_t time);
void gt_select_filtered_resume(struct gt_select_filtered *f, uint64_t time);

/* ---- what the tracker does, under filters -------------------------------------------------- */

/* A transfer of a vCPU that has begun. True: it was a plain one, and is done. To run/transfer.c
 * none is plain then: GT_VCPU_ASKS. */
bool gt_select_filtered_transfer(const struct gt_recorder_transfer *t);

/* Receives the tracker's call events: a task for each stack. */
extern const struct gt_track_sink gt_select_filtered_sink;

/* At the end, when all calls have ended: counts the calls of stacks that no thread runs. */
void gt_select_filtered_end_all(struct gt_recorder *r);

/* In a forked child, before its own calls: what the parent's tasks have counted is the parent's. */
void gt_select_filtered_forked(struct gt_recorder *r);

/* Adds what tasks have counted that have not ended: calls that are recorded, and too deep for it.
 */
void gt_select_filtered_running(struct gt_recorder *r, uint64_t *recorded, uint64_t *beyond);

#endif
