/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the programs that a recorded program executes, for recorders that do not follow these: a
 * process goes on outside QEMU, and its recording ends there. User mode; nothing before
 * gt_exec_names_begin.
 */
#ifndef GT_QEMU_SUPPORT_EXEC_NAMES_H
#define GT_QEMU_SUPPORT_EXEC_NAMES_H

#include "guest/arch/syscalls.h"
#include "qemu/host.h"

#include <stdbool.h>
#include <stdint.h>

/* `children`: forked processes are recorded, too. The table must last. */
void gt_exec_names_begin(const struct gt_syscalls *sys, bool children);
/* A block is translated: it says where the guest's memory is. */
void gt_exec_names_translated(const struct gt_block *block);
/* A system call begins; one ends, so that no program was executed. */
void gt_exec_names_on_syscall(int64_t number, const uint64_t args[8]);
void gt_exec_names_on_return(void);

#endif
