/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of functions in two recordings: see changes.h. */
#include "calls/profile/changes.h"

#include "calls/profile/functions.h"

int gt_changes_add(struct gt_change *of, const struct gt_function_match *m,
                   struct gt_calls *const side[GT_MATCH_SIDES], int which,
                   const struct gt_calls_window *w, struct gt_error *err)
{
    struct gt_function_table f = {0};
    int status = gt_function_table_make(side[which], w, 0, &f, err);
    for (size_t i = 0; status == 0 && i < f.n; i++) {
        const struct gt_function_sums *s = &f.row[i].sums;
        if (f.row[i].function >= m->n[which])
            continue;
        struct gt_change *to = &of[m->id[which][f.row[i].function]];
        to->calls[which] += s->calls;
        to->total[which] += s->total;
        to->self[which] += (uint64_t)MAX(s->self, 0);
    }
    gt_function_table_clear(&f);
    return status;
}
