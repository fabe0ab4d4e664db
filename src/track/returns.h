/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to track/: where control came back to, when that is not where the top frame returns. */
#ifndef GT_TRACK_RETURNS_H
#define GT_TRACK_RETURNS_H

#include "track/track.h"

/* A return has landed at the code. */
void gt_return_resolve(struct gt_thread *t, const struct gt_code *from, const struct gt_code *code,
                       uint64_t time);

/* How control came back. */
enum gt_back {
    GT_BACK_RETURN = 1,   /* by a return */
    GT_BACK_SWITCHED = 2, /* the stack pointer was loaded on the way */
    GT_BACK_FAR = 4,      /* the same, into another file's code without symbols */
};
/* Closes the frames that control has left, and goes on with another stack if it is there. False:
 * nothing is known to go on at the code; nothing was done. */
bool gt_return_back(struct gt_thread *t, const struct gt_code *code, enum gt_back how,
                    uint64_t time);

/* Closes frames until `depth` are left, and forgets the handlers among them. */
void gt_return_close(struct gt_thread *t, uint32_t depth, uint64_t time);
/* The context goes on at that depth: the thread's own, or another one. */
void gt_return_resume(struct gt_thread *t, struct gt_stack *s, uint32_t depth, uint64_t time);

#endif
