/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program's system calls as calls (argument syscalls=on): each is a function of the module
 * GT_SYSCALLS_MODULE, at the number of the call times GT_SYSCALLS_STEP. The host reports the
 * arguments and the result; a values file says what they are.
 */
#ifndef GT_CALLS_RECORDER_RUN_SYSTEM_CALLS_H
#define GT_CALLS_RECORDER_RUN_SYSTEM_CALLS_H

#include "base/error.h"
#include "guest/abi/syscall_names.h"

#include <stdint.h>

struct gt_support_module;
struct gt_run_system_call;
struct gt_recorder;
struct gt_recorder_score;
struct gt_vcpu;

/* With r->lock; unused without syscalls=on. */
struct gt_run_system_calls {
    struct gt_support_module *module;                         /* NULL: none was made so far */
    struct gt_run_system_call *known[GT_SYSCALLS_NUMBER + 1]; /* the last one: unknown numbers */
};

/* At load. GT_E_USAGE, GT_E_UNSUPPORTED: the guest has none. */
int gt_run_system_calls_check(const struct gt_recorder *r, struct gt_error *err);

/* A vCPU that is followed makes a system call; it has returned. Takes r->lock. */
void gt_run_system_call(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t number,
                        const uint64_t args[8]);
void gt_run_system_call_return(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t result);

#endif
