/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs: their words, their time, and how they begin and end. Times are in ns: the host's clock, or
 * one ns for each retired instruction.
 */
#ifndef GT_CALLS_RECORDER_RUN_VCPU_H
#define GT_CALLS_RECORDER_RUN_VCPU_H

#include "calls/recorder/vcpu.h"

/* Events of the host: a vCPU exists, and it is gone. `self` is the recorder. */
void gt_run_on_vcpu_init(void *self, unsigned vcpu);
void gt_run_on_vcpu_exit(void *self, unsigned vcpu);

/* Returns the vCPU's words, which the host may move. */
struct gt_recorder_score *gt_run_vcpu_score(struct gt_recorder *r, struct gt_vcpu *v,
                                            unsigned index);
/* All translated code was discarded: the host does so before it moves a scoreboard. Callbacks from
 * code keep their vCPU's words in gt_vcpu.score until then. */
void gt_run_vcpus_forget_scores(struct gt_recorder *r);

/* The vCPU is not recorded: no transfer of it is plain, and none begins it. */
void gt_run_vcpu_refuse(struct gt_recorder *r, struct gt_vcpu *v);

/* What the vCPU does is not followed from now on (dormant.h), while none runs code; it is again. */
void gt_run_vcpu_stop_following(struct gt_vcpu *v, struct gt_recorder_score *score);
void gt_run_vcpu_follow_again(struct gt_vcpu *v, struct gt_recorder_score *score);

/* The vCPU was reset: its calls end, and it begins anew. On its thread. */
void gt_run_vcpu_begin_again(struct gt_vcpu *v, struct gt_recorder_score *score);

/* Begins the recording of a vCPU at its first transfer, on its thread, and the recording itself
 * with the first vCPU. v->begun stays false where there is no memory or room. */
void gt_run_vcpu_begin(struct gt_vcpu *v, struct gt_recorder_score *score,
                       const struct gt_code *code);

/* Ends the vCPU's calls, if it has begun, and reads its thread's name. Takes the lock. */
void gt_run_vcpu_end(struct gt_vcpu *v, struct gt_recorder_score *score);

/* In a forked child, which has no other thread: its vCPU alone goes on. */
void gt_run_vcpus_forked(struct gt_vcpu *v);

/* The calling thread's vCPU; NULL: the thread runs no vCPU of this recorder, or it has not begun.
 */
struct gt_vcpu *gt_run_vcpu_current(const struct gt_recorder *r);

/* The target of the call that the calling vCPU has under way; GT_NO_ADDR: not known. */
uint64_t gt_run_vcpu_expects(struct gt_recorder *r);

/* The vCPU's time at the beginning of the current block. */
uint64_t gt_run_vcpu_time(const struct gt_vcpu *v, const struct gt_recorder_score *score);

/* Its time in a system call: hosts without a scoreboard count a block when the next one begins. */
uint64_t gt_run_vcpu_time_after_block(const struct gt_vcpu *v,
                                      const struct gt_recorder_score *score);

/* The time of the calling thread's vCPU; the newest noted time on any other thread. */
uint64_t gt_run_process_time(struct gt_recorder *r);

/* The newest time of all vCPUs, which may run. */
uint64_t gt_run_vcpus_newest(struct gt_recorder *r);

/* Notes the time, if it is the newest so far. With the lock. */
void gt_run_vcpu_note_time(struct gt_recorder *r, uint64_t time);

/* The host's clock, in the recording's time. */
uint64_t gt_run_host_clock(const struct gt_recorder *r);

/* From now on times are the host's clock plus `offset`. With the lock. */
void gt_run_use_host_clock(struct gt_recorder *r, uint64_t offset);

#endif
