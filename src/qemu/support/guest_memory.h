/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of the guest, as code of the calling vCPU addresses it, and of this process. That of a
 * user-mode guest is both: QEMU maps it at the guest's address + guest_base.
 *
 * QEMU's read by virtual address goes by the vCPU's mode. A kernel of riscv64 has its programs'
 * pages only while it copies, so that strings of programs could not be read where its functions
 * begin: there the page tables are read, on hosts with reads of physical memory (QEMU 10.1).
 */
#ifndef GT_QEMU_SUPPORT_GUEST_MEMORY_H
#define GT_QEMU_SUPPORT_GUEST_MEMORY_H

#include "guest/arch/arch.h"

/* Pages that are not there stay so: false, as for n bytes of which some are in such a page. `base`:
 * guest_base, for hosts that read no memory for plugins; NULL: a machine, or it is not known. */
bool gt_support_guest_memory_read(const struct gt_arch *arch, const uint64_t *base, uint64_t addr,
                                  void *out, size_t n);

/* Copies the n bytes at an address of this process, which may not be there: another thread of
 * QEMU's, and the guest, may move or unmap them. 0; EFAULT: some are not there; another errno: the
 * host forbids the system call. */
int gt_support_own_memory_read(uint64_t at, void *out, size_t n);

#endif
