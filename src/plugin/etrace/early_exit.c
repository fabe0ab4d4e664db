/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags=coverage of machines: blocks that an access to a device leaves in the middle.
 *
 * QEMU (8.2 and later; with -icount any) stops a block at such an access, runs the instruction
 * again as a block of its own, of which plugins are told but the access, and goes on behind it with
 * another block. The first one was counted whole. So one is taken from it, and one given to the
 * shorter block that ends with the instruction.
 *
 * Such a block of one instruction has accesses although it was never counted itself. Only in blocks
 * of one instruction accesses are watched: what else runs costs nothing.
 * An instruction may have several accesses: they are of one run where no block around it has been
 * counted in between. Which of several blocks around it was left does not matter, as they end in
 * one place; the one that begins last is taken first, as those that begin earlier have further
 * instructions where they may be left.
 *
 * What is kept of each translation ends with it: code that is written anew all the time takes as
 * much memory as QEMU has room for translated code.
 *
 * All with the lock.
 */
#include "plugin/etrace/etrace.h"

struct around {
    struct gt_etrace_block *block;   /* has the instruction, and others behind it */
    struct gt_etrace_block *shorter; /* ends with it */
};

/* An instruction that left blocks. */
struct gt_etrace_place {
    uint64_t pc;
    GArray *around; /* struct around; those that begin last first */
    uint64_t *seen; /* of each vCPU: how often the blocks around had run at its last access */
};

/* Each new block asks for all of its page. */
struct place_at {
    uint64_t pc;
    struct gt_etrace_place *place;
};

static unsigned most_vcpus(void)
{
    return gt_counters_sets(MAX(1, gt_etrace.host.max_vcpus));
}

/* Of block b the instructions up to the one at pc; 0: it is none of them, or the last one. */
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

static void put_around(struct gt_etrace_place *place, struct gt_etrace_block *b)
{
    struct gt_etrace_block want = {.start = b->start, .insn_size = b->insn_size};
    want.insns = (uint16_t)insns_to(b, place->pc, &want.end);
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

static void put_blocks(struct gt_etrace_place *place, const struct gt_etrace_page *page)
{
    for (int i = 0; i < GT_ETRACE_CHAINS; i++)
        for (struct gt_etrace_block *b = page->blocks[i]; b; b = b->next)
            if (b->counter)
                put_around(place, b);
}

static void put_places(const struct gt_etrace_page *page, struct gt_etrace_block *b)
{
    for (guint i = 0; page->places && i < page->places->len; i++) {
        const struct place_at *at = &g_array_index(page->places, struct place_at, i);
        if (at->pc >= b->start && at->pc < b->end)
            put_around(at->place, b);
    }
}

void gt_etrace_left_add(struct gt_etrace_block *b)
{
    const struct gt_etrace_page *page = gt_etrace_page(b->start);
    put_places(page, b);
    const struct gt_etrace_page *last = gt_etrace_page(b->end - 1);
    if (last != page)
        put_places(last, b);
}

static struct gt_etrace_place *make_place(uint64_t pc)
{
    struct gt_etrace_place *place = g_new0(struct gt_etrace_place, 1);
    place->pc = pc;
    place->around = g_array_new(FALSE, FALSE, sizeof(struct around));
    place->seen = g_new0(uint64_t, most_vcpus());
    put_blocks(place, gt_etrace_page(pc));
    put_blocks(place, gt_etrace_page(pc - GT_PAGE)); /* that may run over */
    return place;
}

static struct gt_etrace_place *place_at(uint64_t pc)
{
    struct gt_etrace_page *page = gt_etrace_page(pc);
    if (!page->places)
        page->places = g_array_new(FALSE, FALSE, sizeof(struct place_at));
    for (guint i = 0; i < page->places->len; i++) {
        const struct place_at *at = &g_array_index(page->places, struct place_at, i);
        if (at->pc == pc)
            return at->place;
    }
    struct place_at new = {pc, make_place(pc)};
    g_array_append_val(page->places, new);
    return new.place;
}

static void count_left(struct gt_etrace_place *place, unsigned vcpu)
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
        if (all > gt_etrace_rare(a->block)->left) {
            a->block->rare->left++;
            gt_etrace_rare(a->shorter)->more++;
            return;
        }
    }
}

static void on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_etrace_alone *alone = data;
    unsigned v = gt_counters_set_of(vcpu);
    (void)meminfo, (void)vaddr;
    if (v >= most_vcpus())
        return;
    pthread_mutex_lock(&gt_etrace.lock);
    if (gt_etrace_counted(alone->counter, v) == 0) {
        if (!alone->place)
            alone->place = place_at(alone->pc);
        count_left(alone->place, v);
    }
    pthread_mutex_unlock(&gt_etrace.lock);
}

uint32_t gt_etrace_left_watch(struct gt_block *block, struct gt_etrace_block *b)
{
    struct gt_etrace_alone *alone = g_new(struct gt_etrace_alone, 1);
    struct gt_etrace_rare *rare = gt_etrace_rare(b);
    *alone = (struct gt_etrace_alone){rare->alone, b->start, gt_etrace_new_counter(), NULL};
    rare->alone = alone;
    gt_insn_on_memory(gt_block_insn(block, 0), on_access, GT_MEM_LOADS | GT_MEM_STORES, alone);
    return alone->counter;
}

static void forget_alone(struct gt_etrace_rare *rare)
{
    for (struct gt_etrace_alone *a = rare->alone, *next; a; a = next) {
        next = a->next;
        rare->more += gt_etrace_end_counter(a->counter);
        g_free(a);
    }
    rare->alone = NULL;
}

void gt_etrace_left_forget(void)
{
    for (guint i = 0; i < gt_etrace.met->len; i++)
        for (struct gt_etrace_block *b = gt_etrace.met->pdata[i]; b && b->rare; b = b->rare->alike)
            forget_alone(b->rare);
}
