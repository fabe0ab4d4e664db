/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flags=coverage: translated code counts each block by itself; the counts are written at the end,
 * as events of the device "coverage" named "0xSTART-0xEND". */
#include "plugin/etrace.h"

#include <inttypes.h>
#include <stdio.h>

enum { COUNTERS = 4096, EVENT_PACKET = 256 }; /* of each set of cells */

/* With the lock. */
void gt_etrace_count(struct gt_block *block, struct gt_etrace_block *b)
{
    if (!gt_host_can(GT_HOST_CELLS)) {
        gt_block_add_shared(block, &b->shared_count, 1);
        return;
    }
    if (!b->count.score) {
        if (!gt_etrace.counters || gt_etrace.n_counters == COUNTERS) {
            gt_etrace.counters = gt_cells_new(COUNTERS * sizeof(uint64_t));
            gt_etrace.n_counters = 0;
        }
        b->count.score = gt_etrace.counters;
        b->count.offset = gt_etrace.n_counters++ * sizeof(uint64_t);
    }
    gt_block_add(block, b->count, 1);
}

static uint64_t count_of(const struct gt_etrace_block *b)
{
    uint64_t sum = b->shared_count;
    for (unsigned i = 0; i < gt_etrace.n_vcpus && b->count.score; i++) {
        const char *cells = gt_cells_find(b->count.score, i);
        sum += *(const uint64_t *)(const void *)(cells + b->count.offset);
    }
    return sum;
}

static void put_count(const struct gt_etrace_block *b)
{
    uint64_t count = count_of(b);
    struct gt_writer *w = count ? gt_etrace_put_begin(NULL, EVENT_PACKET) : NULL;
    if (!w)
        return;
    char name[64];
    snprintf(name, sizeof name, "0x%" PRIx64 "-0x%" PRIx64, b->start, b->end);
    gt_etrace_put_event(
        w, &(struct gt_etrace_event){.value = count, .device = "coverage", .name = name});
    gt_etrace_put_end();
}

static gint by_start(gconstpointer a, gconstpointer b)
{
    const struct gt_etrace_block *const *x = a, *const *y = b;
    return ((*x)->start > (*y)->start) - ((*x)->start < (*y)->start);
}

void gt_etrace_put_counts(void)
{
    GPtrArray *all = g_ptr_array_new();
    GHashTableIter i;
    gpointer first;
    pthread_mutex_lock(&gt_etrace.lock);
    g_hash_table_iter_init(&i, gt_etrace.blocks);
    while (g_hash_table_iter_next(&i, NULL, &first))
        for (struct gt_etrace_block *b = first; b; b = b->next)
            g_ptr_array_add(all, b);
    pthread_mutex_unlock(&gt_etrace.lock);
    g_ptr_array_sort(all, by_start);
    for (guint k = 0; k < all->len; k++)
        put_count(g_ptr_array_index(all, k));
    g_ptr_array_free(all, TRUE);
}
