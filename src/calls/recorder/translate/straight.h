/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that runs straight on from one block into the next. Hosts may end a block anywhere: at a
 * page, where they count instructions, or after each one (one-insn-per-tb=on). Conclusions
 * from several instructions must not depend on that. All functions are called with the lock held.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_STRAIGHT_H
#define GT_CALLS_RECORDER_TRANSLATE_STRAIGHT_H

#include "calls/recorder/translate/code.h"

enum { GT_STRAIGHT_CACHED = 256 };

/* Copies of the stack pointer at the ends of blocks, by the address where they continue; a newer
 * entry replaces an older one in its slot. */
struct gt_translate_straight {
    struct {
        uint64_t pc;
        uint32_t copies; /* as gt_arch.stack_use has them */
    } cached[GT_STRAIGHT_CACHED];
};

/* The copies when the block begins; what they are when it has ended. */
uint32_t gt_translate_straight_copies(const struct gt_translate_block *t);
void gt_translate_straight_keep(const struct gt_translate_block *t, uint32_t copies);

/* True where the code after the block loads the stack pointer of another context, before control
 * goes elsewhere. It looks as far as the page. */
bool gt_translate_straight_switches(const struct gt_translate_block *t, uint32_t copies);

#endif
