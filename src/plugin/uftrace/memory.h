/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory a machine's code is in: the address that the code counts as having, and what leads
 * to it from the same page of memory. Programs of a machine have different code at the same
 * addresses. All functions run during a translation, with the lock held.
 */
#ifndef GT_PLUGIN_UFTRACE_MEMORY_H
#define GT_PLUGIN_UFTRACE_MEMORY_H

#include "qemu/host.h"

#include <glib.h>

struct gt_uftrace_recorder;

struct gt_memory_page;

struct gt_memory {
    GHashTable *pages;           /* the host's address of a page -> struct gt_memory_page */
    struct gt_memory_page *here; /* the one that the block being translated begins in; NULL: the
                                  * block's address says where it is */
};

/* The value to add to the addresses of the block that is being translated. It belongs to that block
 * for the calls below. */
uint64_t gt_memory_shift(struct gt_uftrace_recorder *r, struct gt_block *block);

/* Notes that code of the block's page of memory leads to the address in that page, from the
 * instruction before or by a branch. */
void gt_memory_note_flow(struct gt_uftrace_recorder *r, uint64_t pc);

/* True where code of that page was noted to lead to the address, and where the page is not known.
 */
bool gt_memory_has_flow(const struct gt_uftrace_recorder *r, uint64_t pc);

#endif
