/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block cache and its counters: see block_cache.h. */
#include "etrace/plugin/recorder.h"

#include <string.h>

struct gt_etrace_page *gt_etrace_page_at(struct gt_etrace *e, uint64_t addr)
{
    return gt_support_pages_at(&e->cache.pages, addr, sizeof(struct gt_etrace_page));
}

/* Notes that a block begins there. False: none did so far. */
static bool note_start(struct gt_etrace_page *page, uint64_t start)
{
    uint64_t *word = &page->starts[start % GT_PAGE / 4 / 64], bit = UINT64_C(1) << start / 4 % 64;
    bool known = *word & bit;
    *word |= bit;
    return known;
}

static size_t n_sizes(const struct gt_etrace_block *b)
{
    return b->insn_size ? 0 : b->insns;
}

static bool same_sizes(const struct gt_etrace_block *a, const struct gt_etrace_block *b,
                       const uint8_t *sizes)
{
    return a->insns == b->insns && memcmp(a->sizes, sizes, n_sizes(b)) == 0;
}

static struct gt_etrace_block *copy_of(struct gt_support_arena *blocks,
                                       const struct gt_etrace_block *want, const uint8_t *sizes)
{
    struct gt_etrace_block *b = gt_support_arena_take(blocks, sizeof *b + n_sizes(want));
    if (b) {
        *b = *want;
        memcpy(b->sizes, sizes, n_sizes(want));
    }
    return b;
}

struct gt_etrace_cold *gt_etrace_cold_of(struct gt_etrace_block *b)
{
    if (!b->cold)
        b->cold = g_new0(struct gt_etrace_cold, 1);
    return b->cold;
}

/* Inserts the block in its chain at `at`: after others of its range, so that `first` stays the
 * first one. */
static void insert(struct gt_etrace *e, struct gt_etrace_block **at, struct gt_etrace_block *first,
                   struct gt_etrace_block *b)
{
    b->next = *at;
    *at = b;
    if (!(e->flags & GT_ETRACE_F_COVERAGE))
        return;
    if (first) {
        gt_etrace_cold_of(b)->same_range = gt_etrace_cold_of(first)->same_range;
        first->cold->same_range = b;
    } else {
        g_ptr_array_add(e->cache.ranges, b);
    }
}

struct gt_etrace_block *
gt_etrace_cache_block(struct gt_etrace *e, const struct gt_etrace_block *want, const uint8_t *sizes)
{
    struct gt_etrace_page *page = gt_etrace_page_at(e, want->start);
    struct gt_etrace_block **at = &page->chains[want->start / 4 % GT_ETRACE_CHAINS], *first = NULL;
    for (bool known = note_start(page, want->start); known && *at; at = &(*at)->next) {
        if ((*at)->start != want->start || (*at)->end != want->end)
            continue;
        if (same_sizes(*at, want, sizes))
            return *at;
        if (!first)
            first = *at;
    }
    struct gt_etrace_block *b = copy_of(&e->cache.blocks, want, sizes);
    if (b)
        insert(e, at, first, b);
    return b;
}

void gt_etrace_cache_clear(struct gt_etrace *e)
{
    gt_support_pages_clear(&e->cache.pages);
    gt_support_arena_clear(&e->cache.blocks);
}

uint32_t gt_etrace_counter_new(struct gt_etrace *e)
{
    struct gt_etrace_counters *c = &e->counters;
    if (c->ended->len) {
        uint32_t counter = g_array_index(c->ended, uint32_t, c->ended->len - 1);
        g_array_set_size(c->ended, c->ended->len - 1);
        return counter;
    }
    if (c->n == c->sets->len * GT_ETRACE_COUNTERS)
        g_ptr_array_add(c->sets, gt_host_counters_new(GT_ETRACE_COUNTERS));
    return ++c->n;
}

void *gt_etrace_counter_set(struct gt_etrace *e, uint32_t counter)
{
    return e->counters.sets->pdata[(counter - 1) / GT_ETRACE_COUNTERS];
}

static uint64_t *number_of(struct gt_etrace *e, uint32_t counter, unsigned vcpu)
{
    return gt_host_counters_find(gt_etrace_counter_set(e, counter), vcpu) +
           (counter - 1) % GT_ETRACE_COUNTERS;
}

uint64_t gt_etrace_counter_value(struct gt_etrace *e, uint32_t counter, unsigned vcpu)
{
    return *number_of(e, counter, vcpu);
}

uint64_t gt_etrace_counter_end(struct gt_etrace *e, uint32_t counter)
{
    unsigned n = gt_host_counters_sets(__atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE));
    uint64_t sum = 0;
    for (unsigned vcpu = 0; vcpu < n; vcpu++) {
        uint64_t *number = number_of(e, counter, vcpu);
        sum += *number;
        *number = 0;
    }
    g_array_append_val(e->counters.ended, counter);
    return sum;
}
