/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Specs of system calls, from their prototypes (guest/types/syscalls.h): of those that QEMU
 * reports, whose registers are arg1 to arg6 and result, and of a kernel's functions that make them.
 */
#ifndef GT_CALLS_ARGUMENTS_SYSCALLS_H
#define GT_CALLS_ARGUMENTS_SYSCALLS_H

#include "calls/arguments/spec.h"

/* Where the six arguments of a call are: a piece each, whose size is set. */
struct gt_arguments_syscall_places {
    struct gt_value_piece argument[6], result;
};

/* Of a call that QEMU reports. */
extern const struct gt_arguments_syscall_places gt_arguments_syscall_reported;

/* The values of a call by its prototype. */
void gt_arguments_by_syscall(struct gt_arguments *a, const struct gt_abi *abi,
                             const struct gt_arguments_syscall_places *places,
                             const struct gt_type_prototypes *p,
                             const struct gt_type_prototype *item, struct gt_value_spec *out);

#endif
