/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Totals of counters: see counters.h. */
#include "etrace/coverage/counters.h"

#include <glib.h>

struct range {
    uint64_t start, end;
    GArray *total; /* uint64_t: what each counter said last */
};

struct gt_coverage_counters {
    GHashTable *ranges; /* struct range, its own key */
};

static guint hash(gconstpointer p)
{
    const struct range *r = p;
    return (guint)((r->start * 3 + r->end) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static gboolean equal(gconstpointer a, gconstpointer b)
{
    const struct range *x = a, *y = b;
    return x->start == y->start && x->end == y->end;
}

static void free_range(gpointer p)
{
    struct range *r = p;
    g_array_free(r->total, TRUE);
    g_free(r);
}

struct gt_coverage_counters *gt_coverage_counters_create(void)
{
    struct gt_coverage_counters *c = g_new(struct gt_coverage_counters, 1);
    c->ranges = g_hash_table_new_full(hash, equal, NULL, free_range);
    return c;
}

void gt_coverage_counters_destroy(struct gt_coverage_counters *c)
{
    if (!c)
        return;
    g_hash_table_destroy(c->ranges);
    g_free(c);
}

static struct range *range_of(struct gt_coverage_counters *c, uint64_t start, uint64_t end)
{
    const struct range key = {start, end, NULL};
    struct range *r = g_hash_table_lookup(c->ranges, &key);
    if (!r) {
        r = g_new(struct range, 1);
        *r = (struct range){start, end, g_array_new(FALSE, FALSE, sizeof(uint64_t))};
        g_hash_table_add(c->ranges, r);
    }
    return r;
}

/* Where the counter's last total is kept; NULL: it is new. */
static uint64_t *last_of(const struct range *r, uint64_t before)
{
    uint64_t *best = NULL;
    for (guint i = 0; before && i < r->total->len; i++) {
        uint64_t *total = &g_array_index(r->total, uint64_t, i);
        if (*total <= before && (!best || *total > *best))
            best = total;
    }
    return best;
}

uint64_t gt_coverage_counters_say(struct gt_coverage_counters *c, uint64_t start, uint64_t end,
                                  uint64_t total, uint64_t before)
{
    struct range *r = range_of(c, start, end);
    uint64_t *last = last_of(r, before);
    uint64_t more = total - (last ? *last : 0);
    if (last)
        *last = total;
    else if (r->total->len < GT_COVERAGE_COUNTERS_MAX)
        g_array_append_val(r->total, total);
    return more;
}
