/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes of Linux's system calls, by the names of guest/abi/syscall_names.h.
 *
 * Types say how a value is to be shown: `umode_t` is octal; `bits_t` and `word_t` are hex; a `char
 * *` named `buf` has as many bytes as the parameter after it says, others end with a NUL; a `long`
 * result of Linux is an error's number below 0: enum gt_errno, which has the names.
 */
#ifndef GT_GUEST_TYPES_SYSCALLS_H
#define GT_GUEST_TYPES_SYSCALLS_H

#include "guest/types/prototypes.h"

/* The prototypes for a QEMU target; the caller frees *out. GT_E_UNSUPPORTED: an unknown target;
 * GT_E_NOMEM.
 */
int gt_type_syscall_prototypes(const char *target, struct gt_type_prototypes **out,
                               struct gt_error *err);

#endif
