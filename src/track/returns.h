/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to track/: control came back to another address than the top frame's return address. */
#ifndef GT_TRACK_RETURNS_H
#define GT_TRACK_RETURNS_H

#include "track/track.h"

/* A return has arrived at the code. */
void gt_track_return_resolve(struct gt_track_thread *t, const struct gt_code *from,
                             const struct gt_code *code, uint64_t time);

/* How control came back. */
enum gt_track_back {
    GT_BACK_RETURN = 1,   /* by a return */
    GT_BACK_SWITCHED = 2, /* the stack pointer was loaded before */
    GT_BACK_FAR = 4,      /* the same, into another file's code without symbols */
};
/* Closes the frames that control has left, and switches to another stack if control is there.
 * False: no frame is known that continues at the code; nothing was done. */
bool gt_track_return_back(struct gt_track_thread *t, const struct gt_code *code,
                          enum gt_track_back how, uint64_t time);

/* Closes frames until `depth` are left, and forgets the handlers among them. */
void gt_track_return_close(struct gt_track_thread *t, uint32_t depth, uint64_t time);
/* Continues with the stack, the thread's own or another one, at that depth. */
void gt_track_return_resume(struct gt_track_thread *t, struct gt_stack *s, uint32_t depth,
                            uint64_t time);

#endif
