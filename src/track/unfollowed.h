/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder does not follow control for a time. What a thread has called or left in between is
 * not known, so none of its frames is kept. From then on contexts of the guest may be unknown:
 * gt_track.unfollowed.
 */
#ifndef GT_TRACK_UNFOLLOWED_H
#define GT_TRACK_UNFOLLOWED_H

#include "track/track.h"

/* At the beginning, while no thread makes transfers. The frames of a thread that goes on are closed
 * and forgotten; so are the frames of all stacks that no thread runs. */
void gt_track_stop_following(struct gt_track_thread *t, uint64_t time);
void gt_track_end_suspended(struct gt_track *k, uint64_t time);
/* At the end: the thread continues, at a place that is not known: its last exit is 0. */
void gt_track_follow_again(struct gt_track_thread *t, uint64_t time);
/* The guest switches to another of its threads, whose context is not known: the stack is suspended,
 * and that thread's calls go to one of which nothing is known. */
void gt_track_go_on_unknown(struct gt_track_thread *t, uint64_t time);
/* The thread of a machine was reset: its calls end, and it continues where nothing is open: its
 * last exit is 0. */
void gt_track_begin_again(struct gt_track_thread *t, uint64_t time);

#endif
