/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks that are kept, by pages of code: what is translated is near what was translated last,
 * so that its page is at hand. */
#include "plugin/etrace/etrace.h"

#include <string.h>

static struct gt_arena batches; /* of blocks */

struct gt_etrace_page *gt_etrace_page(uint64_t addr)
{
    return gt_pages_at(&gt_etrace.pages, addr, sizeof(struct gt_etrace_page));
}

/* Notes that a block begins there. False: none has so far. */
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

static struct gt_etrace_block *copy_of(const struct gt_etrace_block *want, const uint8_t *sizes)
{
    struct gt_etrace_block *b = gt_arena_take(&batches, sizeof *b + n_sizes(want));
    if (b) {
        *b = *want;
        memcpy(b->sizes, sizes, n_sizes(want));
    }
    return b;
}

struct gt_etrace_rare *gt_etrace_rare(struct gt_etrace_block *b)
{
    if (!b->rare)
        b->rare = g_new0(struct gt_etrace_rare, 1);
    return b->rare;
}

/* Where `at` is, in its chain: behind others of its place, so that the first stays the first one.
 */
static void put(struct gt_etrace_block **at, struct gt_etrace_block *first,
                struct gt_etrace_block *b)
{
    b->next = *at;
    *at = b;
    if (!(gt_etrace.flags & GT_ETRACE_F_COVERAGE))
        return;
    if (first) {
        gt_etrace_rare(b)->alike = gt_etrace_rare(first)->alike;
        first->rare->alike = b;
    } else {
        g_ptr_array_add(gt_etrace.met, b);
    }
}

struct gt_etrace_block *gt_etrace_keep(const struct gt_etrace_block *want, const uint8_t *sizes)
{
    struct gt_etrace_page *page = gt_etrace_page(want->start);
    struct gt_etrace_block **at = &page->blocks[want->start / 4 % GT_ETRACE_CHAINS], *first = NULL;
    for (bool known = note_start(page, want->start); known && *at; at = &(*at)->next) {
        if ((*at)->start != want->start || (*at)->end != want->end)
            continue;
        if (same_sizes(*at, want, sizes))
            return *at;
        if (!first)
            first = *at;
    }
    struct gt_etrace_block *b = copy_of(want, sizes);
    if (b)
        put(at, first, b);
    return b;
}

void gt_etrace_forget_all(void)
{
    gt_pages_clear(&gt_etrace.pages);
    gt_arena_clear(&batches);
}
