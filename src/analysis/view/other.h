/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording that a view's own is compared with. A function of one is that of the other with the
 * same name, in a file of the same name: two builds need not lie in the same folder. Functions of
 * both have numbers together.
 */
#ifndef GT_ANALYSIS_VIEW_OTHER_H
#define GT_ANALYSIS_VIEW_OTHER_H

#include "analysis/view/private.h"

enum { GT_VIEW_SIDES = 2 }; /* 0: the view's own recording, 1: the other one */

struct gt_view_other {
    struct gt_calls *calls;
    char *title;
    pthread_mutex_t lock; /* until is_made */
    bool is_made[2];      /* of times that ran; of times from calls to returns */
    struct gt_tree tree[2][GT_VIEW_SIDES];
    uint32_t *id[GT_VIEW_SIDES]; /* the number of each function */
    size_t n[GT_VIEW_SIDES];     /* functions */
    GArray *names;               /* of each number: const struct gt_calls_function * */
};

/* Reads both recordings, the first time. GT_E_NOT_FOUND: there is no other one; errors of
 * gt_calls_scan. */
int gt_view_other_make(struct gt_view *v, bool wall, struct gt_error *err);
struct gt_calls *gt_view_side(const struct gt_view *v, int side);
/* "names": number, name, file, of the functions that are named. */
void gt_view_put_names(struct gt_view *v, const bool *is_named, struct gt_json *j);

#endif
