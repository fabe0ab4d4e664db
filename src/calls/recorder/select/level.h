/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A task for each privilege level of each vCPU (trace-privilege-level=on). All functions need that
 * option, except gt_select_level_leaves_world. Levels are numbers of guest/arch/privilege.h.
 */
#ifndef GT_CALLS_RECORDER_SELECT_LEVEL_H
#define GT_CALLS_RECORDER_SELECT_LEVEL_H

#include "calls/recorder/select/level_reader.h"
#include "calls/recorder/vcpu.h"

struct gt_recorder;

/* A vCPU begins with the block. Call it before gt_track_thread_init. */
void gt_select_levels_begin(struct gt_vcpu *v, const struct gt_code *code);

/* Follows the level at a transfer. True: a handler has begun there, and the transfer is done. */
bool gt_select_level_transfer(const struct gt_recorder_transfer *t);

/* A handler is about to begin with the block, or (NULL) where the vCPU is now; the latter takes the
 * lock. */
void gt_select_level_enter(struct gt_vcpu *v, const struct gt_code *code, uint64_t time);

/* True where the exception return at the block's end may lead to another world (aarch64). */
bool gt_select_level_leaves_world(const struct gt_recorder *r, const struct gt_code *code);

/* That exception return is about to run, and its handler, if any, has ended. If it leads to another
 * world, *last_exit becomes that world's. In a callback that may read registers. */
void gt_select_level_change_world(struct gt_vcpu *v, const struct gt_code *code,
                                  uint64_t *last_exit, uint64_t time);

/* Ends the calls of the worlds in which the vCPU does not run. */
void gt_select_levels_end(struct gt_vcpu *v, uint64_t time);

/* Receives the tracker's call events with the option: a task for each level. */
extern const struct gt_track_sink gt_select_level_sink;

#endif
