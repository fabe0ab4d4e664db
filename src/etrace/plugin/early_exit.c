/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that an access to a device ends early, and accesses that are not reported: see
 * early_exit.h. */
#include "etrace/plugin/early_exit.h"

#include "base/bytes.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/kept_callbacks.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    return gt_host_counters_sets(MAX(1, e->host.max_vcpus));
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
    unsigned v = gt_host_counters_set_of(vcpu);
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

bool gt_etrace_may_watch_single(const struct gt_etrace *e, struct gt_host_block *block,
                                const struct gt_etrace_block *b)
{
    enum { LONGEST = 16 /* bytes */ };
    uint8_t bytes[LONGEST] = {0};
    if (!e->host.system || b->insns != 1)
        return false;
    const struct gt_host_insn *insn = gt_host_block_insn(block, 0);
    if (e->flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO))
        return !gt_etrace_is_unwatched(e, insn);
    size_t n = gt_host_insn_bytes(insn, bytes, sizeof bytes);
    return gt_support_callbacks_end(e->insns, gt_host_insn_pc(insn), bytes, n, true);
}

uint32_t gt_etrace_early_exit_watch(struct gt_etrace *e, struct gt_host_block *block,
                                    struct gt_etrace_block *b)
{
    struct gt_etrace_single *single = g_new(struct gt_etrace_single, 1);
    struct gt_etrace_cold *cold = gt_etrace_cold_of(b);
    *single = (struct gt_etrace_single){cold->singles, e, b->start, gt_etrace_counter_new(e), NULL};
    cold->singles = single;
    if (gt_etrace_may_watch_single(e, block, b))
        gt_host_insn_on_memory(gt_host_block_insn(block, 0), on_access,
                               GT_MEM_LOADS | GT_MEM_STORES, single);
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

enum { LONGEST = 15, EVENT_PACKET = 256 };

static const char *const names[GT_UNREPORTED_KINDS] = {
    [GT_UNREPORTED_ZERO] = "zero-line",
    [GT_UNREPORTED_SET] = "memory-set",
    [GT_UNREPORTED_COPY] = "memory-copy",
    [GT_UNREPORTED_GATHER] = "sve-gather",
    [GT_UNREPORTED_CONTIGUOUS] = "sve-contiguous",
    [GT_UNREPORTED_X87] = "x87-80-bits",
    [GT_UNREPORTED_X87_STATE] = "x87-state",
    [GT_UNREPORTED_FXSAVE] = "fxsave",
    [GT_UNREPORTED_XSAVE] = "xsave",
    [GT_UNREPORTED_BLOCK_END] = "block-end",
};

/* ---- aarch64 ------------------------------------------------------------------------------- */

/* Loads with a vector of addresses of 32 bits, beside which stand broadcasts, prefetches and loads
 * of whole registers. */
static int sve_group_32(uint32_t insn)
{
    unsigned opc = insn >> 22 & 7, bit21 = insn >> 21 & 1, low = insn >> 13 & 7;
    bool high = low >> 2;
    if ((opc == 7 && !high) || (opc >> 1 == 0 && bit21 && !high) ||
        (!(opc & 1) && !bit21 && low >> 1 == 3))
        return -1; /* a prefetch */
    if ((opc == 6 && !high) || (opc & 1 && high))
        return GT_UNREPORTED_CONTIGUOUS;
    return GT_UNREPORTED_GATHER;
}

static int aarch64(uint32_t insn)
{
    uint32_t zero = insn & 0xffffffe0;
    unsigned low = insn >> 13 & 7;
    if (zero == 0xd50b7420 || zero == 0xd50b7460 || zero == 0xd50b7480) /* dc zva, gva, gzva */
        return GT_UNREPORTED_ZERO;
    if ((insn & 0x3b200c00) == 0x19000400)
        return (insn >> 22 & 3) == 3 ? GT_UNREPORTED_SET : GT_UNREPORTED_COPY;
    switch (insn >> 25) {
    case 0x42:
        return sve_group_32(insn);
    case 0x62:
        return GT_UNREPORTED_GATHER;
    case 0x52:
        return GT_UNREPORTED_CONTIGUOUS;
    case 0x72:
        return (low & 5) == 4 || low == 5 ? GT_UNREPORTED_GATHER : GT_UNREPORTED_CONTIGUOUS;
    default:
        return -1;
    }
}

/* ---- x86 ----------------------------------------------------------------------------------- */

static bool is_prefix(uint8_t byte, bool is_64_bit)
{
    return (byte && strchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", byte)) ||
           (is_64_bit && (byte & 0xf0) == 0x40);
}

static int x87(uint8_t opcode, unsigned reg)
{
    if (opcode == 0xd9 || opcode == 0xdd)
        return reg == 4 || reg == 6 ? GT_UNREPORTED_X87_STATE : -1;
    if (opcode == 0xdb)
        return reg == 5 || reg == 7 ? GT_UNREPORTED_X87 : -1;
    return opcode == 0xdf && (reg == 4 || reg == 6) ? GT_UNREPORTED_X87 : -1;
}

static int x86(const uint8_t *p, size_t n, bool is_64_bit)
{
    bool narrow = false; /* with 66 they are instructions of cache lines */
    while (n && is_prefix(*p, is_64_bit)) {
        narrow |= *p == 0x66;
        p++;
        n--;
    }
    bool two = n > 2 && p[0] == 0x0f;
    if (n < 2 || p[1 + two] >= 0xc0) /* of a register */
        return -1;
    unsigned reg = p[1 + two] >> 3 & 7;
    if (!two)
        return x87(p[0], reg);
    if (p[1] == 0xae && !narrow)
        return reg < 2 ? GT_UNREPORTED_FXSAVE : reg >= 4 && reg <= 6 ? GT_UNREPORTED_XSAVE : -1;
    return p[1] == 0xc7 && reg >= 3 && reg <= 5 ? GT_UNREPORTED_XSAVE : -1;
}

int gt_etrace_unreported_kind(uint32_t e_machine, const uint8_t *bytes, size_t n)
{
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, bytes, n);
    switch (e_machine) {
    case EM_AARCH64:
        return n == 4 ? aarch64(gt_bytes_read_u32(&r)) : -1;
    case EM_RISCV:
        return n == 4 && (gt_bytes_read_u32(&r) & 0xfff07fff) == 0x0040200f ? GT_UNREPORTED_ZERO
                                                                            : -1;
    case EM_X86_64:
    case EM_386:
        return x86(bytes, n, e_machine == EM_X86_64);
    default:
        return -1;
    }
}

/* ---- counts -------------------------------------------------------------------------------- */

static void on_unreported_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *has_access)
{
    (void)vcpu;
    (void)meminfo;
    (void)vaddr;
    __atomic_store_n((uint8_t *)has_access, 1, __ATOMIC_RELAXED);
}

void gt_etrace_unreported_init(struct gt_etrace *e)
{
    if (e->flags & GT_ETRACE_F_MEM)
        e->unreported.counters = gt_host_counters_new(GT_UNREPORTED_KINDS);
}

bool gt_etrace_is_unwatched(const struct gt_etrace *e, const struct gt_host_insn *last)
{
    return gt_support_callbacks_reach_interrupts(e->insns, e->host.system, last);
}

/* A jump to an address in the instruction touches no memory. */
static bool is_direct_jump(const uint8_t *bytes, size_t n)
{
    return n &&
           (bytes[0] == 0xe9 || bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 ||
            (bytes[0] & 0xfc) == 0xe0 || (bytes[0] == 0x0f && n > 1 && (bytes[1] & 0xf0) == 0x80));
}

void gt_etrace_unreported_count(struct gt_etrace *e, struct gt_host_block *block, size_t insns)
{
    uint64_t count[GT_UNREPORTED_KINDS] = {0};
    uint8_t bytes[LONGEST];
    if (!e->unreported.counters)
        return;
    for (size_t i = 0; i < insns; i++) {
        struct gt_host_insn *insn = gt_host_block_insn(block, i);
        size_t n = gt_host_insn_bytes(insn, bytes, sizeof bytes);
        int kind = gt_etrace_unreported_kind(e->arch.guest.id, bytes, n);
        if (i + 1 == insns && gt_etrace_is_unwatched(e, insn)) {
            count[GT_UNREPORTED_BLOCK_END] += !is_direct_jump(bytes, n);
            continue;
        }
        if (kind < 0)
            continue;
        count[kind]++;
        gt_host_insn_on_memory(insn, on_unreported_access, GT_MEM_LOADS | GT_MEM_STORES,
                               &e->unreported.has_access[kind]);
    }
    for (size_t i = 0; i < GT_UNREPORTED_KINDS; i++)
        if (count[i])
            gt_host_block_count(block, e->unreported.counters, i, count[i]);
}

static uint64_t sum(const struct gt_etrace *e, size_t kind)
{
    unsigned n = gt_host_counters_sets(__atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE));
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++)
        all += gt_host_counters_find(e->unreported.counters, i)[kind];
    return all;
}

static void put(struct gt_etrace *e, const char *name, uint64_t count)
{
    char event[48];
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, NULL, EVENT_PACKET);
    if (!buf)
        return;
    snprintf(event, sizeof event, "unreported.%s", name);
    gt_etrace_put_event(
        &buf->w, &(struct gt_etrace_event){.value = count, .device = "etrace", .name = event});
    gt_etrace_put_end(buf);
}

void gt_etrace_unreported_put(struct gt_etrace *e)
{
    g_autoptr(GString) kinds = g_string_new(NULL);
    for (size_t i = 0; e->unreported.counters && i < GT_UNREPORTED_KINDS; i++) {
        uint64_t n = sum(e, i);
        if (!n || __atomic_load_n(&e->unreported.has_access[i], __ATOMIC_RELAXED))
            continue;
        put(e, names[i], n);
        g_string_append_printf(kinds, "%s%s: %" PRIu64, kinds->len ? ", " : "", names[i], n);
    }
    if (kinds->len)
        gt_host_message("instructions ran whose memory accesses this QEMU does not report (%s)",
                        kinds->str);
}
