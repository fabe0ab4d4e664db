/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recording that a view's own is compared with. */
#ifndef GT_CALLS_VIEW_OTHER_H
#define GT_CALLS_VIEW_OTHER_H

#include "calls/profile/match.h"
#include "calls/view/private.h"

enum { GT_VIEW_SIDES = GT_MATCH_SIDES }; /* 0: the view's own recording, 1: the other one */

struct gt_view_other {
    struct gt_calls *calls;
    char *title;
    pthread_mutex_t lock; /* until is_made */
    bool is_made[2];      /* of times that ran; of times from calls to returns */
    struct gt_profile_tree tree[2][GT_VIEW_SIDES];
    struct gt_profile_function_match match;
};

/* Reads both recordings, the first time. GT_E_NOT_FOUND: there is no other one; errors of
 * gt_calls_scan. */
int gt_view_other_make(struct gt_view *v, bool wall, struct gt_error *err);
struct gt_calls *gt_view_side(const struct gt_view *v, int side);
/* "names": number, name, file, of the functions that are named. */
void gt_view_put_names(struct gt_view *v, const bool *is_named, struct gt_json *j);

#endif
