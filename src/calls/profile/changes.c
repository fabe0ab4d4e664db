/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of functions in two recordings: see changes.h. */
#include "calls/profile/changes.h"

void gt_changes_add(struct gt_change *of, const struct gt_function_match *m, int which,
                    const struct gt_function_table *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_function_sums *s = &f->row[i].sums;
        if (f->row[i].function >= m->n[which])
            continue;
        struct gt_change *to = &of[m->id[which][f->row[i].function]];
        to->calls[which] += s->calls;
        to->open[which] += s->open;
        to->total[which] += s->total;
        to->self[which] += (uint64_t)MAX(s->self, 0);
    }
}
