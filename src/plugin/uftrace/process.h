/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a user-mode guest does to itself: threads, signal handlers, fork, exec, mappings. */
#ifndef GT_PLUGIN_UFTRACE_PROCESS_H
#define GT_PLUGIN_UFTRACE_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* At load: handlers of fork (user mode). False: *err says why. */
bool gt_process_init(struct gt_error *err);

/* Events of the host: a system call is about to run, and has returned `result` (a negative errno
 * where it failed). On the vCPU's thread; both may take the lock. */
void gt_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);

#endif
