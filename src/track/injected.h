/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to track/: calls that a signal's handler has the interrupted code make. It changes the
 * interrupted program counter to a function's entry, and puts the old one where that function finds
 * its return address: on top of the stack, or in its register. Go preempts goroutines so, and turns
 * faults into panics.
 *
 * The interruption may come within a call or a return that has not arrived. Its last exit is kept
 * with the stack, which another thread may continue, and is restored when the injected call
 * returns. That may be to anywhere in a function, where the block has no callback: then the next
 * transfer shows it, as it comes from another function than that which was called. So transfers are
 * slow while a stack has such calls.
 */
#ifndef GT_TRACK_INJECTED_H
#define GT_TRACK_INJECTED_H

#include "track/track.h"

/* A handler ends. Returns what it has the interrupted code call; else the transfer that was to
 * arrive before the signal did. */
struct gt_track_injection gt_track_injected_by(struct gt_track_thread *t,
                                               const struct gt_track_signal_entry *e);

/* Control arrives at the code, with GT_SLOW_INJECTED. Closes injected calls that have returned, and
 * sets *last_exit to that of what they had interrupted. True: an injected call has arrived, and is
 * recorded. */
bool gt_track_injected_transfer(struct gt_track_thread *t, const struct gt_code *code,
                                uint64_t *last_exit, uint64_t time);

#endif
