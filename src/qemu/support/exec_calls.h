/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls by which a recorded program executes another one, for recorders that have a file
 * a program (user mode). A program that can be followed (execs.h) is executed by another QEMU,
 * whose recording is OUTPUT.PID.N (gt_execs_own_path); others run outside and are named. A forked
 * process need not be recorded itself. Nothing before gt_exec_calls_begin.
 */
#ifndef GT_QEMU_SUPPORT_EXEC_CALLS_H
#define GT_QEMU_SUPPORT_EXEC_CALLS_H

#include "base/error.h"
#include "guest/arch/arch.h"
#include "qemu/host.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_exec_calls {
    const struct gt_arch_syscalls *sys; /* NULL: nothing is done */
    const struct gt_arch *arch;         /* NULL: no program is followed */
    const char *output;                 /* no absolute path: the same */
    bool follow;
    bool children; /* forked processes are recorded themselves */
};

/* At load; the tables must last. GT_E_NOMEM. */
int gt_exec_calls_begin(const struct gt_exec_calls *given, struct gt_error *err);
/* A block is translated: it says where the guest's memory is. */
void gt_exec_calls_translated(const struct gt_host_block *block);
/* A system call begins, and all that is recorded is written: it may not return. One ends, so that
 * no program was executed. */
void gt_exec_calls_on_syscall(int64_t number, const uint64_t args[8]);
void gt_exec_calls_on_return(void);
/* At the end: prints what forked processes have executed outside. */
void gt_exec_calls_report(void);

/* How many processes a recorded program forks that are not recorded themselves: its children, and
 * theirs. User mode. */

/* Counts from now on; the tool's handlers are called around each fork (pthread_atfork).
 * GT_E_NOMEM, GT_E_IO. */
int gt_support_forks_watch(void (*before)(void), void (*parent)(void), void (*child)(void),
                           struct gt_error *err);
/* After a fork, in the process that forked: in a child as well. */
void gt_support_forks_add(void);
/* Adds to the number of those that go on as a program that is recorded. */
void gt_support_forks_executed(int more);
/* Prints how many forks were counted since the last report, if any. */
void gt_support_forks_report(void);

#endif
