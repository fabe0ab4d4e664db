/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs that begin and end, whole lines that are handed over early (a guest that waits, fork,
 * execve), and the end.
 */
#ifndef GT_EXECLOG_PLUGIN_FINISH_H
#define GT_EXECLOG_PLUGIN_FINISH_H

#include "base/error.h"

#include <stdint.h>

struct gt_exlog;

/* Callbacks of the host; `self` is the recorder. on_vcpu_init runs on the vCPU's thread before its
 * first block, and ends the process where a register of reg= is missing. on_exit ends the
 * recording; later calls do nothing. */
void gt_exlog_on_vcpu_init(void *self, unsigned vcpu);
void gt_exlog_on_vcpu_exit(void *self, unsigned vcpu);
void gt_exlog_on_vcpu_idle(void *self, unsigned vcpu);
void gt_exlog_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_exlog_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);
void gt_exlog_on_shutdown(void *self);
void gt_exlog_on_exit(void *self);
/* The same as on_exit, of the loaded plugin's recorder, where QEMU ends without it. */
void gt_exlog_on_abnormal_exit(int sig);

/* User mode: a child of fork() writes to QEMU's log only. The handlers act on the loaded plugin's
 * recorder. `follow`: the file of the first program, of which those that it executes have their
 * own; NULL: these run outside. GT_E_NOMEM, GT_E_IO. */
int gt_exlog_watch_forks(struct gt_exlog *e, const char *follow, struct gt_error *err);

#endif
