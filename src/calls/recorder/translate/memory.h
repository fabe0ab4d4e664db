/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory a machine's code is in: the address that the code has in the recording, and the
 * addresses to which code of the same page of memory leads. Programs of a machine have different
 * code at the same addresses. All functions run during a translation, with the lock held.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_MEMORY_H
#define GT_CALLS_RECORDER_TRANSLATE_MEMORY_H

#include "qemu/host.h"

#include <glib.h>

struct gt_recorder;

struct gt_translate_memory_page;

struct gt_translate_memory {
    GHashTable *pages; /* the host's address of a page -> struct gt_translate_memory_page */
    struct gt_translate_memory_page *here; /* the one in which the block being translated begins;
                                            * NULL: its address identifies the code */
};

/* Returns the value to add to the addresses of the block that is being translated. The calls below
 * are about that block. */
uint64_t gt_translate_memory_shift(struct gt_recorder *r, struct gt_host_block *block);

/* Notes that code of the block's page of memory leads to the address in that page, from the
 * instruction before or by a branch. */
void gt_translate_memory_note_predecessor(struct gt_recorder *r, uint64_t pc);

/* True where code of that page leads to the address, or the page is not known. */
bool gt_translate_memory_has_predecessor(const struct gt_recorder *r, uint64_t pc);

#endif
