/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A task for each privilege level of each vCPU (trace-privilege-level=on), and which level code
 * has. All functions need that option, except gt_levels_init, gt_level_is_user and
 * gt_level_leaves_world. Levels are numbers of guest/arch/privilege.h.
 */
#ifndef GT_PLUGIN_UFTRACE_LEVEL_H
#define GT_PLUGIN_UFTRACE_LEVEL_H

#include "base/error.h"
#include "base/stream/stream.h"
#include "guest/arch/privilege.h"
#include "plugin/uftrace/vcpu.h"

struct gt_uftrace_recorder;

/* How levels are read. */
struct gt_level_reader {
    const struct gt_privilege *privilege; /* NULL: not known yet, or not at all */
    struct gt_register registers[GT_PRIVILEGE_REGISTERS];
    struct gt_register world;
    bool reported;              /* a register cannot be read: reported once */
    struct gt_stream no_stream; /* for a stack whose level is refused: it never has room, so that no
                                 * transfer is plain */
};

/* At load. GT_E_UNSUPPORTED: the host cannot read registers, or the guest's levels are not known.
 */
int gt_levels_init(struct gt_uftrace_recorder *r, struct gt_error *err);

/* True where the block that is being translated is a user program's; false where that is not known.
 * With the lock. */
bool gt_level_is_user(struct gt_uftrace_recorder *r);

/* The level of the block that is being translated. With the lock. */
unsigned gt_level_translated(struct gt_uftrace_recorder *r);

/* A vCPU begins with the block. Call it before gt_thread_init. */
void gt_levels_begin(struct gt_vcpu *v, const struct gt_code *code);

/* Follows the level at a transfer. True: a handler has begun there, and the transfer is done. */
bool gt_level_transfer(struct gt_vcpu *v, struct gt_code *code, uint64_t last_exit, uint64_t time);

/* A handler is about to begin with the block, or (NULL) where the vCPU is now; the latter takes the
 * lock. */
void gt_level_enter(struct gt_vcpu *v, const struct gt_code *code, uint64_t time);

/* True where the exception return at the block's end may lead to another world (aarch64). */
bool gt_level_leaves_world(const struct gt_uftrace_recorder *r, const struct gt_code *code);

/* That exception return is about to run, and its handler, if any, has ended. If it leads to another
 * world, *last_exit becomes that world's. In a callback that may read registers. */
void gt_level_change_world(struct gt_vcpu *v, const struct gt_code *code, uint64_t *last_exit,
                           uint64_t time);

/* Ends the calls of the worlds in which the vCPU does not run. */
void gt_levels_end(struct gt_vcpu *v, uint64_t time);

/* Receives the tracker's call events with the option: a task for each level. */
extern const struct gt_sink gt_level_sink;

#endif
