/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to track/: which call stack a program's stack pointer is on. A program that loads it may
 * continue another call stack (a coroutine, a fiber, a goroutine), begin one, leave frames of its
 * own (longjmp, an exception), or just have moved it (alloca). Values decide.
 *
 * Call stacks lie apart in memory: of those whose stack pointers are at or below the new one, the
 * nearest is the one that it is on. Of the running one's frames those are gone whose return
 * addresses lie in memory below the new stack pointer.
 */
#ifndef GT_TRACK_SWITCHES_H
#define GT_TRACK_SWITCHES_H

#include "track/track.h"

/* Control has arrived at the code by a return or, if `from` is NULL, a jump, after the stack
 * pointer was loaded. True: its value has decided where. */
bool gt_track_switch_decide(struct gt_track_thread *t, const struct gt_code *from,
                            const struct gt_code *code, uint64_t time);
/* The same by a call out of `from`, which the caller records: closes frames that were left before,
 * and notes other memory. True: it is on another stack. */
bool gt_track_switch_before_call(struct gt_track_thread *t, const struct gt_code *from,
                                 uint64_t time);

#endif
