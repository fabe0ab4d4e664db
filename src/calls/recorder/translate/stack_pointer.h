/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack pointer of a program where it is loaded, for the tracker (track/switches.h): from its
 * register where the host lets plugins read it, and else from the addresses of pushes,
 * pops, saves and restores by it around the load, in the same block.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_STACK_POINTER_H
#define GT_CALLS_RECORDER_TRANSLATE_STACK_POINTER_H

#include "calls/recorder/translate/code.h"
#include "track/track.h"

/* Instruments the block's loads of the stack pointer. With the lock. */
void gt_translate_stack_pointer_watch(const struct gt_translate_block *t);

/* True where the indirect jump at the end of [first, end) may be a return: it goes through what a
 * return address is kept in, or the stack pointer is moved up before it. */
bool gt_translate_stack_pointer_may_return(const struct gt_translate_block *t, size_t first,
                                           size_t end);

/* Callbacks where control arrives may read registers. */
bool gt_translate_stack_pointer_is_read(const struct gt_recorder *r);

/* Sets the tracker's view. At load. */
void gt_translate_stack_pointer_init(struct gt_recorder *r);

#endif
