/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A user-mode guest's changes to its process: threads, signal handlers, fork, exec, mappings. */
#ifndef GT_CALLS_RECORDER_RUN_PROCESS_H
#define GT_CALLS_RECORDER_RUN_PROCESS_H

#include "base/error.h"
#include "calls/recorder/run/clones.h"

#include <stdbool.h>
#include <stdint.h>

/* The process that is recorded: QEMU's own, whatever it emulates. Set at load, unless
 * noted; the recorder owns texts. */
struct gt_run_process {
    uint32_t pid;         /* user mode: the guest's; machines: 1 */
    uint32_t forked_from; /* in a forked child: the parent; else 0 */
    bool first;           /* the recording's first process, whatever it executes */
    bool went_on;         /* it has executed the program that runs now */
    bool forked;          /* in a forked child, until its fork has returned */
    bool has_exit_status;
    int exit_status;   /* of the guest's exit_group */
    bool signalled;    /* the triggers of the signal that kills it have fired */
    bool sees_signals; /* at load: gt_recorder_killed is called when one kills it */
    bool dying;        /* the exit event has come; the signal will */
    char *cmdline, *exename;
    char first_name[16]; /* the process's name as it began: QEMU's own */
    struct gt_run_clones clones;
};

/* User mode, at load: the installed recorder follows forks from now on. GT_E_NOMEM, GT_E_IO. */
int gt_run_process_watch_forks(struct gt_error *err);

/* Events of the host: a system call is about to run, and has returned `result` (a negative errno
 * where it failed). `self` is the recorder. On the vCPU's thread; both may take the lock. */
void gt_run_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8]);
void gt_run_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result);

#endif
