/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the Linux system calls of each target. Their arguments are in the registers that
 * guest/abi/abi.h names (struct gt_abi, `syscall`). */
#ifndef GT_GUEST_ABI_SYSCALL_NAMES_H
#define GT_GUEST_ABI_SYSCALL_NAMES_H

#include <stdint.h>

/* System calls as functions of a recording: of this module, at these addresses, of 48 bits, which
 * no program has: a host's programs end at 2^47. */
#define GT_SYSCALLS_MODULE  "syscalls"
#define GT_SYSCALLS_UNKNOWN "unknown_syscall" /* the one after the last number */
#define GT_SYSCALLS_BASE    UINT64_C(0xf00000000000)
enum { GT_SYSCALLS_STEP = 16, GT_SYSCALLS_NUMBER = 1024 };

/* NULL: no such call, or an unknown target. Searches linearly: index the table once on hot paths.
 */
const char *gt_abi_syscall_name(const char *target, uint64_t number);
/* -1: no such call, or an unknown target. */
int gt_abi_syscall_number(const char *target, const char *name);

#endif
