/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PLT stubs: finds the GOT slot that a stub jumps through from its instructions. Only the alignment
 * of stubs is assumed, so lazy, BIND_NOW, BTI, PAC and IBT forms of every linker are read the same
 * way.
 */
#include "guest/elf/symbols_private.h"

#include "base/bytes.h"

#include <string.h>

static uint32_t word_at(const struct plt_code *c, uint64_t offset)
{
    struct gt_bytes_reader r;

    gt_bytes_reader_init(&r, NULL, 0);
    if (offset < c->size)
        gt_bytes_reader_init(&r, c->bytes + offset, (size_t)(c->size - offset));
    return gt_bytes_read_u32(&r); /* 0 beyond the end: no instruction of interest */
}

static uint64_t sext(uint64_t value, unsigned bits)
{
    uint64_t sign = 1ull << (bits - 1);

    value &= sign | (sign - 1);
    return (value ^ sign) - sign;
}

static bool has(struct gt_bytes_reader *r, const char *bytes, size_t n)
{
    if (r->left < n || memcmp(r->at, bytes, n) != 0)
        return false;
    gt_bytes_read_bytes(r, n);
    return true;
}

/* endbr32/64 | bnd | mov $n,%r11d: what may stand before the jump or push. */
static void skip_x86_prefixes(struct gt_bytes_reader *r)
{
    if (!has(r, "\xf3\x0f\x1e\xfa", 4))
        has(r, "\xf3\x0f\x1e\xfb", 4);
    if (has(r, "\x41\xbb", 2))
        gt_bytes_read_u32(r);
    has(r, "\xf2", 1);
}

/* push $n; [bnd] jmp header: the number of a relocation; i386 says the offset of an 8-byte one. */
static bool x86_lazy_stub(const struct plt_code *c, struct gt_bytes_reader *r, struct plt_stub *out)
{
    uint32_t n = gt_bytes_read_u32(r);

    has(r, "\xf2", 1);
    out->lazy = has(r, "\xe9", 1);
    gt_bytes_read_u32(r);
    out->slot = c->machine == EM_X86_64 ? n : n / 8;
    return out->lazy && !r->short_of;
}

/* jmp *off(%rip) | mov off(%rip),%r11 (retpolines) | jmp *addr | jmp *off(%ebx) */
static bool x86_stub(const struct plt_code *c, uint64_t at, struct plt_stub *out)
{
    struct gt_bytes_reader r;
    bool x64 = c->machine == EM_X86_64, found;

    gt_bytes_reader_init(&r, c->bytes + at, (size_t)(c->size - at));
    skip_x86_prefixes(&r);
    out->offset = at;
    if (has(&r, "\x68", 1)) {
        found = x86_lazy_stub(c, &r, out);
        out->size = c->size - at - r.left;
        return found;
    }
    found = has(&r, "\xff\x25", 2) || (x64 && has(&r, "\x4c\x8b\x1d", 3));
    if (!found && !x64 && has(&r, "\xff\xa3", 2)) {
        out->slot = c->got_base;
        found = true;
    }
    if (!found)
        return false;
    out->slot += sext(gt_bytes_read_u32(&r), 32);
    out->size = c->size - at - r.left;
    if (x64)
        out->slot += c->addr + at + out->size;
    else
        out->slot = (uint32_t)out->slot;
    return !r.short_of;
}

/* [bti c] adrp xN; ldr xM, [xN, #imm] */
static bool aarch64_stub(const struct plt_code *c, uint64_t at, struct plt_stub *out)
{
    uint64_t p = word_at(c, at) == 0xd503245f ? at + 4 : at;
    uint32_t adrp = word_at(c, p), ldr = word_at(c, p + 4);

    if ((adrp & 0x9f000000) != 0x90000000 || (ldr & 0xffc00000) != 0xf9400000 ||
        (ldr >> 5 & 31) != (adrp & 31))
        return false;
    out->offset = at;
    out->size = p + 8 - at;
    out->slot = ((c->addr + p) & ~0xfffull) +
                (sext((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3), 21) << 12) +
                ((ldr >> 10 & 0xfff) << 3);
    return true;
}

/* [lpad] auipc rN, hi; l[wd] rM, lo(rN) */
static bool riscv_stub(const struct plt_code *c, uint64_t at, struct plt_stub *out)
{
    uint64_t p = (word_at(c, at) & 0xfff) == 0x017 ? at + 4 : at;
    uint32_t auipc = word_at(c, p), load = word_at(c, p + 4);
    uint32_t want = c->bits == 64 ? 0x3003 : 0x2003;

    if ((auipc & 0x7f) != 0x17 || (load & 0x707f) != want || (load >> 15 & 31) != (auipc >> 7 & 31))
        return false;
    out->offset = at;
    out->size = p + 8 - at;
    out->slot = c->addr + p + sext(auipc & 0xfffff000, 32) + sext(load >> 20, 12);
    if (c->bits == 32)
        out->slot = (uint32_t)out->slot;
    return true;
}

static uint32_t arm_immediate(uint32_t insn)
{
    unsigned turn = (insn >> 8 & 15) * 2;
    uint32_t value = insn & 0xff;

    return turn ? value >> turn | value << (32 - turn) : value;
}

/* [thumb: bx pc; nop] add ip, pc, #; [add ip, ip, #]...; ldr pc, [ip, #]! */
static bool arm_stub(const struct plt_code *c, uint64_t at, struct plt_stub *out)
{
    uint64_t p = word_at(c, at) == 0x46c04778 ? at + 4 : at;
    uint32_t insn = word_at(c, p), slot;

    if ((insn & 0xfffff000) != 0xe28fc000)
        return false;
    slot = (uint32_t)(c->addr + p) + 8 + arm_immediate(insn);
    for (p += 4; ((insn = word_at(c, p)) & 0xfffff000) == 0xe28cc000; p += 4)
        slot += arm_immediate(insn);
    if ((insn & 0xfffff000) != 0xe5bcf000)
        return false;
    out->offset = at;
    out->size = p + 4 - at;
    out->slot = slot + (insn & 0xfff);
    return true;
}

static const struct plt_decoder {
    uint16_t machine;
    uint8_t align; /* of stubs, from the section's start */
    bool (*stub)(const struct plt_code *code, uint64_t at, struct plt_stub *out);
} decoders[] = {
    {EM_X86_64, 8, x86_stub},  {EM_386, 8, x86_stub}, {EM_AARCH64, 4, aarch64_stub},
    {EM_RISCV, 4, riscv_stub}, {EM_ARM, 4, arm_stub},
};

bool gt_elf_plt_next_stub(const struct plt_code *code, uint64_t from, struct plt_stub *out)
{
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        const struct plt_decoder *d = &decoders[i];
        if (d->machine != code->machine)
            continue;
        for (uint64_t at = (from + d->align - 1) / d->align * d->align; at < code->size;
             at += d->align) {
            *out = (struct plt_stub){0};
            if (d->stub(code, at, out))
                return true;
        }
    }
    return false;
}
