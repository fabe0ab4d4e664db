/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory a machine's code is in: the address that the code counts as having, and what leads
 * to it from the same page of memory. Programs of a machine have different code at the same
 * addresses. All functions run during a translation, with the lock held.
 */
#ifndef GT_PLUGIN_UFTRACE_MEMORY_H
#define GT_PLUGIN_UFTRACE_MEMORY_H

#include "qemu/host.h"

/* The value to add to the addresses of the block that is being translated. It belongs to that block
 * for the calls below. */
uint64_t gt_memory_shift(struct gt_block *block);

/* Notes that code of the block's page of memory leads to the address in that page, from the
 * instruction before or by a branch. */
void gt_memory_note_flow(uint64_t pc);

/* True where code of that page was noted to lead to the address, and where the page is not known.
 */
bool gt_memory_has_flow(uint64_t pc);

#endif
