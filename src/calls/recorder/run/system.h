/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines: passes handlers that begin and end, system calls, and loads and stores of stack
 * pointers from the host to the tracker (track/machine.h).
 */
#ifndef GT_CALLS_RECORDER_RUN_SYSTEM_H
#define GT_CALLS_RECORDER_RUN_SYSTEM_H

#include "calls/recorder/run/vcpu.h"
#include "qemu/host.h"

#include <glib.h>

struct gt_run_system {
    struct gt_host_register sp, returned_sp, first_argument; /* as struct gt_arch names them */
    /* Addresses after blocks that ended with a load of the stack pointer, as hosts that count
     * instructions end blocks anywhere. NULL: none so far. With the lock. */
    GHashTable *splits;
};

/* A handler begins with the block. On the vCPU's thread, which is recorded. */
void gt_run_machine_enter_at(struct gt_vcpu *v, struct gt_recorder_score *score,
                             struct gt_code *code);

/* Event of the host: an interrupt or an exception. `self` is the recorder. Takes the lock. */
void gt_run_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to);

/* Callbacks, which may read registers: a program's system call, or an exception return, is about to
 * run; data: the struct gt_code that ends with it. That of gt_run_on_world_return may lead to
 * another world (select/level.h). */
void gt_run_before_system_call(unsigned vcpu, void *code);
void gt_run_on_exception_return(unsigned vcpu, void *code);
void gt_run_on_world_return(unsigned vcpu, void *code);

/* The stack pointer is about to be loaded, and was loaded; `kept`: not NULL where another register
 * has the one that is left. */
void gt_run_before_sp_load(unsigned vcpu, void *kept);
void gt_run_after_sp_load(unsigned vcpu, void *data);
/* The stack pointer was stored; `resumes`: where its context continues; NULL: not known. A word was
 * loaded before the stack pointer was, or is the stack pointer itself; gt_run_on_last_sp_loaded:
 * the block ends with that. */
void gt_run_on_sp_stored(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *resumes);
void gt_run_on_sp_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data);
void gt_run_on_last_sp_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data);

/* After each transfer on the slow path: the vCPU's stack may be another one now. */
void gt_run_machine_transferred(struct gt_vcpu *v, uint64_t time);

#endif
