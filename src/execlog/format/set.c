/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of addresses: see set.h. */
#include "execlog/format/set.h"

#include "execlog/format/execlog.h"

#include <stdlib.h>
#include <string.h>

void gt_execlog_set_clear(struct gt_execlog_set *s, unsigned shift)
{
    s->shift = shift;
    s->n = 0;
    memset(s->recent, 0, sizeof s->recent);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Each once; sorted before. */
static void unite(struct gt_execlog_set *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (n == 0 || s->grains[n - 1] != s->grains[i])
            s->grains[n++] = s->grains[i];
    s->n = n;
}

static void coarsen(struct gt_execlog_set *s)
{
    s->shift++;
    for (size_t i = 0; i < s->n; i++)
        s->grains[i] >>= 1;
    memset(s->recent, 0, sizeof s->recent);
}

void gt_execlog_set_shrink(struct gt_execlog_set *s, size_t most)
{
    qsort(s->grains, s->n, sizeof *s->grains, by_value);
    unite(s);
    while (s->n > most) {
        coarsen(s);
        unite(s);
    }
}

void gt_execlog_set_add_range(struct gt_execlog_set *s, uint64_t lo, uint64_t hi)
{
    while ((hi >> s->shift) - (lo >> s->shift) > GT_EXECLOG_GRAINS)
        coarsen(s);
    uint64_t grain = UINT64_C(1) << s->shift;
    for (uint64_t a = lo; a >> s->shift < hi >> s->shift; a += grain)
        gt_execlog_set_add(s, a);
    gt_execlog_set_add(s, hi);
}

size_t gt_execlog_set_put(struct gt_execlog_set *s, uint8_t *out)
{
    uint8_t *p = out;
    gt_execlog_set_shrink(s, GT_EXECLOG_GRAINS);
    *p++ = (uint8_t)s->shift;
    p = gt_execlog_put_number(p, s->n);
    for (size_t i = 0; i < s->n; i++)
        p = gt_execlog_put_number(p, s->grains[i] - (i ? s->grains[i - 1] : 0));
    return (size_t)(p - out);
}

bool gt_execlog_set_meets(struct gt_bytes_reader *r, uint64_t lo, uint64_t hi)
{
    unsigned shift = gt_bytes_read_u8(r);
    uint64_t n = gt_execlog_get_number(r), grain = 0;
    bool meets = false;
    if (shift > 63)
        return true;
    for (uint64_t i = 0; i < n && !r->short_of; i++) {
        grain += gt_execlog_get_number(r);
        meets |= grain >= lo >> shift && grain <= hi >> shift;
    }
    return meets || r->short_of;
}
