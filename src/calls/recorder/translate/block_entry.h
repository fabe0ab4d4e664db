/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks need a callback when they begin, decided at translation from the code that was
 * translated before. All functions are called with the lock held.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_BLOCK_ENTRY_H
#define GT_CALLS_RECORDER_TRANSLATE_BLOCK_ENTRY_H

#include "calls/recorder/translate/code.h"
#include "track/track.h"

enum gt_translate_block_entry {
    GT_BLOCK_ENTRY_NONE,    /* reached from its own function only: no callback */
    GT_BLOCK_ENTRY_LOOK,    /* a call, a return or a jump may arrive: a callback each time */
    GT_BLOCK_ENTRY_MIXED,   /* the same, but often reached from its own function: a callback unless
                             * the last exit is that function */
    GT_BLOCK_ENTRY_JUMP,    /* reached by an indirect jump, whose last exit has a tag: a callback
                             * unless the last exit is that of a jump in its own function */
    GT_BLOCK_ENTRY_UNKNOWN, /* no translated code leads there: it may be a handler's first block */
};

/* Returns how control may arrive at the block. Sets code->vector to GT_VECTOR_NO where no handler
 * can begin. */
enum gt_translate_block_entry gt_translate_block_entry_of(const struct gt_translate_block *t,
                                                          struct gt_code *code);

/* Notes the addresses that the block leads to. `known`: its last instruction is in a function with
 * a symbol. */
void gt_translate_block_entries_note(const struct gt_translate_block *t, bool known);

/* True where a direct call of code that was translated before leads there. */
bool gt_translate_block_is_called(struct gt_recorder *r, uint64_t pc);

#endif
