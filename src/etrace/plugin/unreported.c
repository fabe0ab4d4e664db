/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses that QEMU does not report: see unreported.h. */
#include "etrace/plugin/unreported.h"

#include "base/bytes.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/kept_callbacks.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    struct gt_reader r;
    gt_reader_init(&r, bytes, n);
    switch (e_machine) {
    case EM_AARCH64:
        return n == 4 ? aarch64(gt_read_u32(&r)) : -1;
    case EM_RISCV:
        return n == 4 && (gt_read_u32(&r) & 0xfff07fff) == 0x0040200f ? GT_UNREPORTED_ZERO : -1;
    case EM_X86_64:
    case EM_386:
        return x86(bytes, n, e_machine == EM_X86_64);
    default:
        return -1;
    }
}

/* ---- counts -------------------------------------------------------------------------------- */

static void on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *has_access)
{
    (void)vcpu;
    (void)meminfo;
    (void)vaddr;
    __atomic_store_n((uint8_t *)has_access, 1, __ATOMIC_RELAXED);
}

void gt_etrace_unreported_init(struct gt_etrace *e)
{
    if (e->flags & GT_ETRACE_F_MEM)
        e->unreported.counters = gt_counters_new(GT_UNREPORTED_KINDS);
}

bool gt_etrace_is_unwatched(const struct gt_etrace *e, const struct gt_insn_ref *last)
{
    return gt_callbacks_reach_interrupts(e->insns, e->host.system, last);
}

/* A jump to an address in the instruction touches no memory. */
static bool is_direct_jump(const uint8_t *bytes, size_t n)
{
    return n &&
           (bytes[0] == 0xe9 || bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70 ||
            (bytes[0] & 0xfc) == 0xe0 || (bytes[0] == 0x0f && n > 1 && (bytes[1] & 0xf0) == 0x80));
}

void gt_etrace_unreported_count(struct gt_etrace *e, struct gt_block *block, size_t insns)
{
    uint64_t count[GT_UNREPORTED_KINDS] = {0};
    uint8_t bytes[LONGEST];
    if (!e->unreported.counters)
        return;
    for (size_t i = 0; i < insns; i++) {
        struct gt_insn_ref *insn = gt_block_insn(block, i);
        size_t n = gt_insn_bytes(insn, bytes, sizeof bytes);
        int kind = gt_etrace_unreported_kind(e->arch.guest.id, bytes, n);
        if (i + 1 == insns && gt_etrace_is_unwatched(e, insn)) {
            count[GT_UNREPORTED_BLOCK_END] += !is_direct_jump(bytes, n);
            continue;
        }
        if (kind < 0)
            continue;
        count[kind]++;
        gt_insn_on_memory(insn, on_access, GT_MEM_LOADS | GT_MEM_STORES,
                          &e->unreported.has_access[kind]);
    }
    for (size_t i = 0; i < GT_UNREPORTED_KINDS; i++)
        if (count[i])
            gt_block_count(block, e->unreported.counters, i, count[i]);
}

static uint64_t sum(const struct gt_etrace *e, size_t kind)
{
    unsigned n = gt_counters_sets(__atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE));
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++)
        all += gt_counters_find(e->unreported.counters, i)[kind];
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
