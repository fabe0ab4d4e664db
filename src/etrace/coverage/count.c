/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts by address: see count.h. */
#include "etrace/coverage/count.h"

#include "base/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int gt_coverage_add_region(struct gt_coverage *c, const char *name, uint64_t lo, uint64_t size,
                           unsigned shift, struct gt_error *err)
{
    struct gt_coverage_region *region = reallocarray(c->region, c->n + 1, sizeof *region);
    if (region)
        c->region = region;
    uint64_t *count = region ? calloc((size >> shift) + 2, sizeof *count) : NULL;
    if (!count)
        return gt_error_set(err, GT_E_NOMEM, "%s: no memory to count %" PRIu64 " bytes of code",
                            name, size);
    c->region[c->n++] = (struct gt_coverage_region){lo, size, shift, count, name};
    return GT_OK;
}

static int compare(const void *a, const void *b)
{
    const struct gt_coverage_region *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

int gt_coverage_begin(struct gt_coverage *c, struct gt_error *err)
{
    if (c->n == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "no code to count");
    qsort(c->region, c->n, sizeof *c->region, compare);
    for (size_t i = 1; i < c->n; i++) {
        const struct gt_coverage_region *a = &c->region[i - 1], *b = &c->region[i];
        if (b->lo - a->lo < a->size)
            return gt_error_set(err, GT_E_RANGE, "%s and %s both have code at 0x%" PRIx64, a->name,
                                b->name, b->lo);
    }
    c->last = c->region;
    return GT_OK;
}

/* The first region that ends above addr, or the end of the list. */
static struct gt_coverage_region *region_above(const struct gt_coverage *c, uint64_t addr)
{
    size_t n = GT_SEARCH_UP_TO(c->region, c->n, lo, addr);
    return c->region + n - (n && addr - c->region[n - 1].lo < c->region[n - 1].size);
}

/* The part of [start, end) that the region has. */
static bool add_to(struct gt_coverage_region *r, uint64_t start, uint64_t end, uint64_t times)
{
    if (end <= r->lo)
        return false;
    uint64_t from = start > r->lo ? start - r->lo : 0;
    uint64_t to = end - r->lo < r->size ? end - r->lo : r->size;
    r->count[from >> r->shift] += times;
    r->count[(to + (UINT64_C(1) << r->shift) - 1) >> r->shift] -= times;
    return true;
}

static void add(struct gt_coverage *c, uint64_t start, uint64_t end, uint64_t times)
{
    if (start >= end)
        return;
    bool any = false;
    struct gt_coverage_region *r = region_above(c, start);
    for (; r < c->region + c->n && add_to(r, start, end, times); r++) {
        c->last = r;
        any = true;
    }
    c->entries += times;
    c->elsewhere += any ? 0 : times;
}

void gt_coverage_add_slowly(struct gt_coverage *c, uint64_t start, uint64_t end)
{
    add(c, start, end, 1);
}

int gt_coverage_add_times(struct gt_coverage *c, uint64_t start, uint64_t end, uint64_t times)
{
    /* entries that come one by one cannot get there */
    if (times > UINT64_MAX / 2 - c->added)
        return GT_E_RANGE;
    c->added += times;
    add(c, start, end, times);
    return GT_OK;
}

bool gt_coverage_has(const struct gt_coverage *c, uint64_t start, uint64_t end)
{
    const struct gt_coverage_region *r = region_above(c, start);
    return r < c->region + c->n && end > r->lo && start < end;
}

void gt_coverage_reset(struct gt_coverage *c)
{
    for (size_t i = 0; i < c->n; i++)
        memset(c->region[i].count, 0,
               ((c->region[i].size >> c->region[i].shift) + 2) * sizeof *c->region[i].count);
    c->entries = c->elsewhere = c->added = 0;
}

void gt_coverage_finish(struct gt_coverage *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct gt_coverage_region *r = &c->region[i];
        uint64_t sum = 0;
        for (uint64_t k = 0; k <= r->size >> r->shift; k++)
            r->count[k] = sum += r->count[k];
    }
}

uint64_t gt_coverage_at(const struct gt_coverage *c, uint64_t addr)
{
    const struct gt_coverage_region *r = region_above(c, addr);
    if (r == c->region + c->n || addr < r->lo)
        return 0;
    return r->count[(addr - r->lo) >> r->shift];
}

uint64_t gt_coverage_most(const struct gt_coverage *c, uint64_t lo, uint64_t hi)
{
    uint64_t most = 0;
    const struct gt_coverage_region *r = region_above(c, lo);
    if (r == c->region + c->n || hi <= r->lo)
        return 0;
    uint64_t from = lo > r->lo ? (lo - r->lo) >> r->shift : 0;
    uint64_t to = hi - r->lo < r->size ? hi - r->lo : r->size;
    for (uint64_t k = from; k < (to + (UINT64_C(1) << r->shift) - 1) >> r->shift; k++)
        if (r->count[k] > most)
            most = r->count[k];
    return most;
}

void gt_coverage_free(struct gt_coverage *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->region[i].count);
    free(c->region);
    *c = (struct gt_coverage){0};
}
