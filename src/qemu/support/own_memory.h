/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of this process that may not be there: that of a user-mode guest, which QEMU maps at
 * the guest's address + guest_base, and QEMU's own, which another thread may move.
 */
#ifndef GT_QEMU_SUPPORT_OWN_MEMORY_H
#define GT_QEMU_SUPPORT_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Copies the n bytes at the host's address. 0; EFAULT: some are not there; another errno: the host
 * forbids the system call. */
int gt_support_own_memory_read(uint64_t at, void *out, size_t n);

#endif
