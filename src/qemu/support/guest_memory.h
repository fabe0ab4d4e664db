/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a machine, as code of the calling vCPU addresses it.
 *
 * QEMU's read by virtual address goes by the vCPU's mode. A kernel of riscv64 has its programs'
 * pages only while it copies, so that strings of programs could not be read where its functions
 * begin: there the page tables are read, on hosts with reads of physical memory (QEMU 10.1).
 */
#ifndef GT_QEMU_SUPPORT_GUEST_MEMORY_H
#define GT_QEMU_SUPPORT_GUEST_MEMORY_H

#include "guest/arch/arch.h"

/* Pages that are not there stay so: false, as for n bytes of which some are in such a page. */
bool gt_support_guest_memory_read(const struct gt_arch *arch, uint64_t addr, void *out, size_t n);

#endif
