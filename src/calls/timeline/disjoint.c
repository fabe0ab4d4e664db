/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether spans of time may be of one vCPU: see disjoint.h. */
#include "calls/timeline/disjoint.h"

#include <glib.h>

void gt_timeline_disjoint_init(struct gt_timeline_disjoint *d, uint64_t first, uint64_t last,
                               unsigned exp)
{
    *d = (struct gt_timeline_disjoint){.first = first, .exp = exp};
    d->n = (size_t)((last - first) >> exp) + 1;
    d->part = g_new0(uint64_t, d->n + 1);
    d->whole = g_new0(int64_t, d->n + 1);
}

void gt_timeline_disjoint_clear(struct gt_timeline_disjoint *d)
{
    g_free(d->part);
    g_free(d->whole);
    *d = (struct gt_timeline_disjoint){0};
}

void gt_timeline_disjoint_add(struct gt_timeline_disjoint *d, uint64_t begin, uint64_t end)
{
    const uint64_t from = begin - d->first, to = end - d->first;
    const uint64_t a = from >> d->exp, b = to >> d->exp;
    if (begin < d->first || end <= begin || b >= d->n)
        return;
    if (a == b) {
        d->part[a] += to - from;
        return;
    }
    d->part[a] += ((a + 1) << d->exp) - from;
    d->part[b] += to - (b << d->exp);
    d->whole[a + 1]++;
    d->whole[b]--;
}

void gt_timeline_disjoint_merge(struct gt_timeline_disjoint *to,
                                const struct gt_timeline_disjoint *from)
{
    for (size_t i = 0; i < to->n && i < from->n; i++) {
        to->part[i] += from->part[i];
        to->whole[i] += from->whole[i];
    }
}

bool gt_timeline_disjoint_holds(const struct gt_timeline_disjoint *d)
{
    const uint64_t width = UINT64_C(1) << d->exp;
    int64_t whole = 0;
    for (size_t i = 0; i < d->n; i++) {
        whole += d->whole[i];
        if (whole > 1 || d->part[i] > width || (whole == 1 && d->part[i] > 0))
            return false;
    }
    return true;
}
