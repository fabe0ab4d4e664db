/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables of riscv64: Sv39, Sv48, Sv57 (privileged specification), with Svnapot.
 *
 * A kernel there cannot read its programs' pages but while it copies (sstatus.SUM), and a host's
 * reads by virtual address go by that. This is the other way: from satp to the physical address.
 */
#ifndef GT_GUEST_ARCH_RISCV64_PAGES_H
#define GT_GUEST_ARCH_RISCV64_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Reads 8 bytes of the guest's physical memory, little-endian. False: there is none. */
typedef bool gt_arch_read_physical_u64(void *self, uint64_t physical, uint64_t *out);

/* The physical address of a byte in a program's readable page (U, R). False: it is in no such page,
 * or the page is of a type that is not memory's (Svpbmt). */
bool gt_arch_riscv64_user_page(uint64_t satp, uint64_t addr, gt_arch_read_physical_u64 *read,
                               void *self, uint64_t *physical);

#endif
