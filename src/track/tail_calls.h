/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tail calls. A jump to another function's entry is a call in the jumper's place: that one's frame
 * is closed, and the new one has its return address.
 *
 * A function whose result is recorded (GT_FUNC_RESULT) stays open instead: the result of the
 * function that it jumped to is its own, too. The frame above it is of GT_FRAME_TAIL and has no
 * return address, so that no return of it is plain; where it returns to says the frame below. Of
 * functions that jump in a loop GT_TAIL_MOST stay open.
 */
#ifndef GT_TRACK_TAIL_CALLS_H
#define GT_TRACK_TAIL_CALLS_H

#include "track/track.h"

enum { GT_TAIL_MOST = 15 };

/* The frame that the top frame's return ends last: itself, or the one that was called by a call. */
static inline const struct gt_track_frame *gt_track_tail_called(const struct gt_stack *s)
{
    const struct gt_track_frame *f = s->top;
    while (f->kind == GT_FRAME_TAIL)
        f--;
    return f;
}

/* The number of frames without those that the top frame's return ends. */
static inline uint32_t gt_track_tail_below(const struct gt_stack *s)
{
    return (uint32_t)(gt_track_tail_called(s) - s->base) - 1;
}

/* True where it is not known where the top frame's return leads to, nor which frame is below it. */
static inline bool gt_track_tail_called_by_unknown(const struct gt_stack *s)
{
    const struct gt_track_frame *f = gt_track_tail_called(s);
    return s->cut && (f == s->base || f->kind == GT_FRAME_ROOT);
}

/* True: the function of the frame has jumped to another one, and runs no more. */
static inline bool gt_track_tail_has_jumped(const struct gt_stack *s,
                                            const struct gt_track_frame *f)
{
    return f < s->top && f[1].kind == GT_FRAME_TAIL;
}

#endif
