/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the Linux system calls of each target. Their arguments are in the registers that
 * guest/abi/abi.h names (struct gt_abi, `syscall`). */
#ifndef GT_GUEST_ABI_SYSCALL_NAMES_H
#define GT_GUEST_ABI_SYSCALL_NAMES_H

#include <stdint.h>

/* NULL: no such call, or an unknown target. Searches linearly: index the table once on hot paths.
 */
const char *gt_syscall_name(const char *target, uint64_t number);
/* -1: no such call, or an unknown target. */
int gt_syscall_number(const char *target, const char *name);

#endif
