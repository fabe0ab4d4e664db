/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks need a callback when they begin, decided at translation from the code that was
 * translated before. All functions are called with the lock held.
 */
#ifndef GT_PLUGIN_UFTRACE_BLOCK_ENTRY_H
#define GT_PLUGIN_UFTRACE_BLOCK_ENTRY_H

#include "plugin/uftrace/code.h"
#include "track/track.h"

enum gt_arrival {
    GT_ARRIVAL_NONE,    /* control comes from its own function only: no callback */
    GT_ARRIVAL_LOOK,    /* a call, a return or a jump may arrive: a callback each time */
    GT_ARRIVAL_MIXED,   /* the same, and as often control comes from its own function: a callback
                         * unless the mark is that function's */
    GT_ARRIVAL_JUMP,    /* control comes by an indirect jump, which leaves a mark of its own: a
                         * callback unless the mark is that of a jump in its own function */
    GT_ARRIVAL_UNKNOWN, /* no translated code leads there: it may be a handler's first block */
};

/* How control may arrive at the block. Sets code->vector to GT_VECTOR_NO where it finds out. */
enum gt_arrival gt_arrival_of(const struct gt_translation *t, struct gt_code *code);

/* Notes where the block leads to. `known`: its last instruction is in a function with a symbol. */
void gt_arrivals_note(const struct gt_translation *t, bool known);

#endif
