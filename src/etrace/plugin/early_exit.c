/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that an access to a device ends early: see early_exit.h. */
#include "etrace/plugin/early_exit.h"

#include "etrace/plugin/recorder.h"
#include "qemu/support/kept_callbacks.h"

struct enclosing {
    struct gt_etrace_block *block;   /* has the instruction, and others after it */
    struct gt_etrace_block *shorter; /* ends with the instruction */
};

/* An instruction that ended blocks. */
struct gt_etrace_exit_point {
    uint64_t pc;
    GArray *enclosing; /* struct enclosing; those that begin last first */
    uint64_t *runs;    /* of each vCPU: runs of the enclosing blocks at its last access */
};

/* Element of a page's exit_points. Each new block searches all of its page. */
struct point_at {
    uint64_t pc;
    struct gt_etrace_exit_point *point;
};

static unsigned max_vcpus(const struct gt_etrace *e)
{
    return gt_counters_sets(MAX(1, e->host.max_vcpus));
}

/* How many instructions of block b there are up to the one at pc; 0: pc is not in the block, or is
 * its last one. */
static uint32_t insns_to(const struct gt_etrace_block *b, uint64_t pc, uint64_t *end)
{
    uint64_t at = b->start;
    if (pc >= b->end)
        return 0;
    for (uint32_t i = 0; i + 1 < b->insns && at <= pc; i++) {
        *end = at + gt_etrace_insn_size(b, i);
        if (at == pc)
            return i + 1;
        at = *end;
    }
    return 0;
}

static void add_enclosing(struct gt_etrace *e, struct gt_etrace_exit_point *point,
                          struct gt_etrace_block *b)
{
    struct gt_etrace_block want = {.start = b->start, .insn_size = b->insn_size};
    want.insns = (uint16_t)insns_to(b, point->pc, &want.end);
    if (want.insns == 0)
        return;
    const struct enclosing new = {b, gt_etrace_cache_block(e, &want, b->sizes)};
    guint i = 0;
    while (i < point->enclosing->len &&
           g_array_index(point->enclosing, struct enclosing, i).block->start > b->start)
        i++;
    if (new.shorter)
        g_array_insert_val(point->enclosing, i, new);
}

static void add_blocks(struct gt_etrace *e, struct gt_etrace_exit_point *point,
                       const struct gt_etrace_page *page)
{
    for (int i = 0; i < GT_ETRACE_CHAINS; i++)
        for (struct gt_etrace_block *b = page->chains[i]; b; b = b->next)
            if (b->counter)
                add_enclosing(e, point, b);
}

static void add_to_points(struct gt_etrace *e, const struct gt_etrace_page *page,
                          struct gt_etrace_block *b)
{
    for (guint i = 0; page->exit_points && i < page->exit_points->len; i++) {
        const struct point_at *at = &g_array_index(page->exit_points, struct point_at, i);
        if (at->pc >= b->start && at->pc < b->end)
            add_enclosing(e, at->point, b);
    }
}

void gt_etrace_early_exit_add(struct gt_etrace *e, struct gt_etrace_block *b)
{
    const struct gt_etrace_page *page = gt_etrace_page_at(e, b->start);
    add_to_points(e, page, b);
    const struct gt_etrace_page *last = gt_etrace_page_at(e, b->end - 1);
    if (last != page)
        add_to_points(e, last, b);
}

static struct gt_etrace_exit_point *new_point(struct gt_etrace *e, uint64_t pc)
{
    struct gt_etrace_exit_point *point = g_new0(struct gt_etrace_exit_point, 1);
    point->pc = pc;
    point->enclosing = g_array_new(FALSE, FALSE, sizeof(struct enclosing));
    point->runs = g_new0(uint64_t, max_vcpus(e));
    add_blocks(e, point, gt_etrace_page_at(e, pc));
    add_blocks(e, point, gt_etrace_page_at(e, pc - GT_PAGE)); /* a block may cross pages */
    return point;
}

static struct gt_etrace_exit_point *point_of(struct gt_etrace *e, uint64_t pc)
{
    struct gt_etrace_page *page = gt_etrace_page_at(e, pc);
    if (!page->exit_points)
        page->exit_points = g_array_new(FALSE, FALSE, sizeof(struct point_at));
    for (guint i = 0; i < page->exit_points->len; i++) {
        const struct point_at *at = &g_array_index(page->exit_points, struct point_at, i);
        if (at->pc == pc)
            return at->point;
    }
    struct point_at new = {pc, new_point(e, pc)};
    g_array_append_val(page->exit_points, new);
    return new.point;
}

static void count_exit(struct gt_etrace *e, struct gt_etrace_exit_point *point, unsigned vcpu)
{
    uint64_t runs = 0;
    for (guint i = 0; i < point->enclosing->len; i++)
        runs += gt_etrace_counter_value(
            e, g_array_index(point->enclosing, struct enclosing, i).block->counter, vcpu);
    if (runs == point->runs[vcpu])
        return;
    point->runs[vcpu] = runs;
    for (guint i = 0; i < point->enclosing->len; i++) {
        struct enclosing *a = &g_array_index(point->enclosing, struct enclosing, i);
        uint64_t all = 0;
        for (unsigned v = 0; v < max_vcpus(e); v++)
            all += gt_etrace_counter_value(e, a->block->counter, v);
        if (all > gt_etrace_cold_of(a->block)->early_exits) {
            a->block->cold->early_exits++;
            gt_etrace_cold_of(a->shorter)->extra_runs++;
            return;
        }
    }
}

static void on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_etrace_single *single = data;
    struct gt_etrace *e = single->recorder;
    unsigned v = gt_counters_set_of(vcpu);
    (void)meminfo, (void)vaddr;
    if (v >= max_vcpus(e))
        return;
    pthread_mutex_lock(&e->lock);
    if (gt_etrace_counter_value(e, single->counter, v) == 0) {
        if (!single->point)
            single->point = point_of(e, single->pc);
        count_exit(e, single->point, v);
    }
    pthread_mutex_unlock(&e->lock);
}

bool gt_etrace_may_watch_single(const struct gt_etrace *e, struct gt_block *block,
                                const struct gt_etrace_block *b)
{
    enum { LONGEST = 16 /* bytes */ };
    uint8_t bytes[LONGEST] = {0};
    if (!e->host.system || b->insns != 1)
        return false;
    const struct gt_insn_ref *insn = gt_block_insn(block, 0);
    if (e->flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO))
        return !gt_etrace_is_unwatched(e, insn);
    size_t n = gt_insn_bytes(insn, bytes, sizeof bytes);
    return gt_callbacks_end(e->insns, gt_insn_pc(insn), bytes, n, true);
}

uint32_t gt_etrace_early_exit_watch(struct gt_etrace *e, struct gt_block *block,
                                    struct gt_etrace_block *b)
{
    struct gt_etrace_single *single = g_new(struct gt_etrace_single, 1);
    struct gt_etrace_cold *cold = gt_etrace_cold_of(b);
    *single = (struct gt_etrace_single){cold->singles, e, b->start, gt_etrace_counter_new(e), NULL};
    cold->singles = single;
    if (gt_etrace_may_watch_single(e, block, b))
        gt_insn_on_memory(gt_block_insn(block, 0), on_access, GT_MEM_LOADS | GT_MEM_STORES, single);
    return single->counter;
}

static void end_singles(struct gt_etrace *e, struct gt_etrace_cold *cold)
{
    for (struct gt_etrace_single *s = cold->singles, *next; s; s = next) {
        next = s->next;
        cold->extra_runs += gt_etrace_counter_end(e, s->counter);
        g_free(s);
    }
    cold->singles = NULL;
}

void gt_etrace_early_exit_flush(struct gt_etrace *e)
{
    const GPtrArray *ranges = e->cache.ranges;
    for (guint i = 0; i < ranges->len; i++)
        for (struct gt_etrace_block *b = ranges->pdata[i]; b && b->cold; b = b->cold->same_range)
            end_singles(e, b->cold);
}

void gt_etrace_early_exit_free(struct gt_etrace_page *page)
{
    for (guint i = 0; page->exit_points && i < page->exit_points->len; i++) {
        struct gt_etrace_exit_point *point =
            g_array_index(page->exit_points, struct point_at, i).point;
        g_array_free(point->enclosing, TRUE);
        g_free(point->runs);
        g_free(point);
    }
    if (page->exit_points)
        g_array_free(page->exit_points, TRUE);
    page->exit_points = NULL;
}
