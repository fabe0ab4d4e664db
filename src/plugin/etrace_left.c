/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags=coverage of machines: blocks that an access to a device leaves in the middle.
 *
 * QEMU (8.2 and later; with -icount any) stops a block at such an access, runs the instruction
 * again as a block of its own, of which plugins are told but the access, and goes on behind it with
 * another block. The first one was counted whole. So one is taken from it, and one given to the
 * shorter block that ends with the instruction.
 *
 * Such a block of one instruction lies within blocks that are known, and it has accesses although
 * it was never counted itself. Only there accesses are watched: what else runs costs nothing.
 * An instruction may have several accesses: they are of one run where no block around it has been
 * counted in between. Which of several blocks around it was left does not matter, as they end in
 * one place; the one that begins last is taken first, as those that begin earlier have further
 * instructions where they may be left.
 *
 * All with the lock.
 */
#include "plugin/etrace.h"

enum { PAGE_BITS = 12 };

struct around {
    struct gt_etrace_block *block;   /* has the instruction, and others behind it */
    struct gt_etrace_block *shorter; /* ends with it */
};

/* An instruction that was translated alone. */
struct place {
    uint64_t pc;
    GArray *around; /* struct around; those that begin last first */
    uint64_t *seen; /* of each vCPU: how often the blocks around had run at its last access */
};

/* A translation of it. */
struct alone {
    struct place *place;
    uint32_t counter; /* how often it ran as a block that is counted */
};

struct page {
    uint64_t number;
    GPtrArray *blocks; /* that begin there */
    GPtrArray *places;
    GArray *pcs; /* theirs: each new block asks for all */
};

static GHashTable *pages; /* number -> struct page */

static unsigned most_vcpus(void)
{
    return gt_host_can(GT_HOST_CELLS) ? MAX(1, gt_etrace.host.max_vcpus) : 1;
}

/* Of block b the instructions up to the one at pc; 0: it is none of them, or the last one. */
static uint32_t insns_to(const struct gt_etrace_block *b, uint64_t pc, uint64_t *end)
{
    uint64_t at = b->start;
    if (pc >= b->end)
        return 0;
    for (uint32_t i = 0; i + 1 < b->insns && at <= pc; i++) {
        *end = at + b->sizes[i];
        if (at == pc)
            return i + 1;
        at = *end;
    }
    return 0;
}

static void put_around(struct place *place, struct gt_etrace_block *b)
{
    struct gt_etrace_block want = {.start = b->start};
    want.insns = insns_to(b, place->pc, &want.end);
    if (want.insns == 0)
        return;
    const struct around new = {b, gt_etrace_keep(&want, b->sizes)};
    guint i = 0;
    while (i < place->around->len &&
           g_array_index(place->around, struct around, i).block->start > b->start)
        i++;
    if (new.shorter)
        g_array_insert_val(place->around, i, new);
}

/* NULL: no block begins there. */
static struct page *page_at(uint64_t number)
{
    enum { RECENT = 64 };
    static struct page *recent[RECENT];
    struct page **at = &recent[number % RECENT];
    if (!*at || (*at)->number != number) {
        struct page *found = pages ? g_hash_table_lookup(pages, &number) : NULL;
        if (!found)
            return NULL;
        *at = found;
    }
    return *at;
}

static void put_page(struct place *place, uint64_t number)
{
    const struct page *page = page_at(number);
    for (guint i = 0; page && i < page->blocks->len; i++)
        put_around(place, page->blocks->pdata[i]);
}

static void put_places(const struct page *page, struct gt_etrace_block *b)
{
    for (guint i = 0; page && i < page->places->len; i++) {
        uint64_t pc = g_array_index(page->pcs, uint64_t, i);
        if (pc >= b->start && pc < b->end)
            put_around(page->places->pdata[i], b);
    }
}

/* Made where there is none yet. */
static struct page *page_for(uint64_t number)
{
    struct page *page = page_at(number);
    if (page)
        return page;
    if (!pages)
        pages = g_hash_table_new(g_int64_hash, g_int64_equal);
    page = g_new(struct page, 1);
    *page = (struct page){number, g_ptr_array_new(), g_ptr_array_new(),
                          g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    g_hash_table_insert(pages, &page->number, page);
    return page;
}

void gt_etrace_left_add(struct gt_etrace_block *b)
{
    if (!gt_etrace.host.system)
        return;
    uint64_t number = b->start >> PAGE_BITS, last = (b->end - 1) >> PAGE_BITS;
    struct page *page = page_for(number);
    g_ptr_array_add(page->blocks, b);
    put_places(page, b);
    if (last != number)
        put_places(page_at(last), b);
}

static struct place *make_place(uint64_t pc)
{
    struct place *place = g_new0(struct place, 1);
    place->pc = pc;
    place->around = g_array_new(FALSE, FALSE, sizeof(struct around));
    put_page(place, pc >> PAGE_BITS);
    put_page(place, (pc >> PAGE_BITS) - 1);
    if (place->around->len == 0) {
        g_array_free(place->around, TRUE);
        g_free(place);
        return NULL;
    }
    place->seen = g_new0(uint64_t, most_vcpus());
    return place;
}

/* NULL: no block has the instruction and others behind it. */
static struct place *place_at(uint64_t pc)
{
    const struct page *page = page_at(pc >> PAGE_BITS);
    for (guint i = 0; page && i < page->places->len; i++)
        if (g_array_index(page->pcs, uint64_t, i) == pc)
            return page->places->pdata[i];
    struct place *place = make_place(pc);
    if (place) {
        struct page *own = page_for(pc >> PAGE_BITS);
        g_ptr_array_add(own->places, place);
        g_array_append_val(own->pcs, pc);
    }
    return place;
}

static void count_left(struct place *place, unsigned vcpu)
{
    uint64_t ran = 0;
    for (guint i = 0; i < place->around->len; i++)
        ran +=
            gt_etrace_counted(g_array_index(place->around, struct around, i).block->counter, vcpu);
    if (ran == place->seen[vcpu])
        return;
    place->seen[vcpu] = ran;
    for (guint i = 0; i < place->around->len; i++) {
        struct around *a = &g_array_index(place->around, struct around, i);
        uint64_t all = 0;
        for (unsigned v = 0; v < most_vcpus(); v++)
            all += gt_etrace_counted(a->block->counter, v);
        if (all > a->block->left) {
            a->block->left++;
            a->shorter->more++;
            return;
        }
    }
}

static void on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    const struct alone *alone = data;
    unsigned v = gt_host_can(GT_HOST_CELLS) ? vcpu : 0;
    (void)meminfo, (void)vaddr;
    pthread_mutex_lock(&gt_etrace.lock);
    if (v < most_vcpus() && gt_etrace_counted(alone->counter, v) == 0)
        count_left(alone->place, v);
    pthread_mutex_unlock(&gt_etrace.lock);
}

void gt_etrace_left_watch(struct gt_block *block)
{
    struct place *place = gt_etrace.host.system ? place_at(gt_block_pc(block)) : NULL;
    if (!place)
        return;
    struct alone *alone = g_new(struct alone, 1); /* as long as the block may run: to the end */
    *alone = (struct alone){place, gt_etrace_new_counter()};
    gt_etrace_add_to_counter(block, alone->counter);
    gt_insn_on_memory(gt_block_insn(block, 0), on_access, GT_MEM_LOADS | GT_MEM_STORES, alone);
}
