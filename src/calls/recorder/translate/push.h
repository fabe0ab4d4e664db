/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines: calls without a call instruction. Code of BIOSes and boot loaders pushes a return
 * address as a constant and jumps or returns. All functions are called with the lock held.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_PUSH_H
#define GT_CALLS_RECORDER_TRANSLATE_PUSH_H

#include "calls/recorder/translate/code.h"

struct gt_recorder;

/* The constant that was pushed last and may be an address of code near it. */
struct gt_translate_pushed {
    struct gt_arch_push push; /* width 0: there is no such constant */
    int above;                /* values that were pushed after it; below 0: it was popped */
};

enum { GT_PUSHES_CACHED = 256 };

/* What blocks that did not end in a call, return or jump have pushed, by the address where they
 * continue; a newer entry replaces an older one in its slot. */
struct gt_translate_pushes {
    struct {
        uint64_t pc;
        struct gt_translate_pushed pushed;
    } cached[GT_PUSHES_CACHED];
};

/* Returns the constant that is on the stack when the block begins. */
struct gt_translate_pushed gt_translate_pushed_before(const struct gt_translate_block *t);

/* Updates *p for one instruction of the block. */
void gt_translate_pushed_see(const struct gt_recorder *r, struct gt_translate_pushed *p,
                             const struct gt_translate_decoded *d);

/* Changes the kind of the block's last instruction where the pushed address shows that it is a
 * call, or not an exception return; notes what the block has pushed for the one after it. */
void gt_translate_pushed_classify(struct gt_translate_block *t);

#endif
