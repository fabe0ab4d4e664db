/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parameters that have no entry. Clang's code without optimization describes no struct that is
 * passed by its address and that the function ignores: on aarch64 any large one, on x86 classes of
 * C++ with a copy constructor. What follows it is then a register, or a slot on the stack, further
 * on than the other entries say.
 *
 * A mangled name says how many parameters there are. Without one, functions of C on x86 describe
 * all that they have, and nothing is known of functions of C++. On aarch64 the code says it: it
 * reads each described parameter before its first branch, and never an address that it ignores. If
 * a parameter's place by the convention is read there, no address was in it; from the first that is
 * not, the places of parameters are unknown.
 */
#include "base/bytes.h"
#include "guest/abi/abi.h"
#include "guest/elf/demangle_name.h"
#include "guest/types/dwarf_private.h"

#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { CODE = 1024, SLOTS = 64, SP = 31, FP = 29 };

/* What the instructions so far have read of the arguments. */
struct reads {
    uint32_t registers, written; /* bit N: xN; written: it has no argument any more */
    uint64_t slots;              /* of 8 bytes, from the stack pointer at entry on */
    int64_t sp, fp;              /* from there */
    bool has_fp;
};

static void read_register(struct reads *r, unsigned n)
{
    r->registers |= n < SP ? (1u << n) & ~r->written : 0;
}

static bool write_register(struct reads *r, unsigned n)
{
    r->written |= n < SP ? 1u << n : 0;
    r->has_fp = r->has_fp && n != FP;
    return true;
}

static void read_memory(struct reads *r, unsigned base, int64_t offset, unsigned size)
{
    int64_t at = offset + (base == SP ? r->sp : r->fp);

    if (base != SP && !(base == FP && r->has_fp))
        return;
    for (int64_t slot = at / 8; at >= 0 && slot <= (at + size - 1) / 8 && slot < SLOTS; slot++)
        r->slots |= UINT64_C(1) << slot;
}

static bool add_immediate(struct reads *r, uint32_t insn)
{
    unsigned rd = insn & 31, rn = insn >> 5 & 31;
    int64_t value = (int64_t)(insn >> 10 & 0xfff) << (insn >> 22 & 1 ? 12 : 0);

    value = insn >> 30 & 1 ? -value : value;
    if (rd == SP && !(insn >> 29 & 1)) {
        r->sp += value;
        return rn == SP;
    }
    read_register(r, rn);
    write_register(r, rd);
    if (rd == FP && rn == SP) {
        r->has_fp = true;
        r->fp = r->sp + value;
    }
    return true;
}

static bool immediate(struct reads *r, uint32_t insn)
{
    unsigned rd = insn & 31;

    switch (insn >> 23 & 7) {
    case 0: /* adr, adrp */
    case 1:
    case 5: /* movz, movn; movk keeps a part, and never of an argument */
        return write_register(r, rd);
    case 2:
        return add_immediate(r, insn);
    case 7: /* extr */
        read_register(r, insn >> 16 & 31);
        read_register(r, insn >> 5 & 31);
        return write_register(r, rd);
    case 4: /* and, orr, eor */
    case 6: /* bit fields */
        read_register(r, insn >> 5 & 31);
        return rd != SP && write_register(r, rd);
    default:
        return false;
    }
}

static bool two_registers(struct reads *r, uint32_t insn)
{
    if ((insn & 0x1e000000) != 0x0a000000) /* logical; add, sub */
        return false;
    read_register(r, insn >> 5 & 31);
    read_register(r, insn >> 16 & 31);
    return (insn & 31) != SP && write_register(r, insn & 31);
}

/* One or two registers at an address. */
struct access {
    unsigned rt, rt2, base, size; /* size: of one */
    int64_t offset;
    bool load, simd, before; /* before: the base is changed first */
};

static bool take_access(struct reads *r, const struct access *a)
{
    unsigned n = a->rt2 == SP + 1 ? 1 : 2;

    if (a->before && a->base != SP)
        return false;
    r->sp += a->before ? a->offset : 0;
    read_register(r, a->base);
    if (a->load)
        read_memory(r, a->base, a->before ? 0 : a->offset, n * a->size);
    for (unsigned i = 0; i < n && !a->simd; i++) {
        unsigned reg = i ? a->rt2 : a->rt;
        if (a->load)
            write_register(r, reg);
        else
            read_register(r, reg);
    }
    return true;
}

static int64_t sign_extend(uint32_t value, unsigned bits)
{
    return (int64_t)(value ^ 1u << (bits - 1)) - (1 << (bits - 1));
}

static bool memory(struct reads *r, uint32_t insn)
{
    struct access a = {.rt = insn & 31, .rt2 = SP + 1, .base = insn >> 5 & 31};
    unsigned opc = insn >> 22 & 3, mode = insn >> 10 & 3, scale = insn >> 30;

    a.simd = insn >> 26 & 1;
    if ((insn & 0x3a000000) == 0x28000000) { /* pairs */
        mode = insn >> 23 & 3;
        scale = a.simd ? 2 + scale : scale == 2 ? 3 : 2;
        a.rt2 = insn >> 10 & 31;
        a.load = insn >> 22 & 1;
        a.offset = sign_extend(insn >> 15 & 127, 7) * (1 << scale);
        a.before = mode == 3;
        a.size = 1u << scale;
        return mode != 1 && take_access(r, &a);
    }
    scale |= a.simd ? (opc & 2) << 1 : 0;
    a.load = opc != 0 && !(a.simd && opc == 2);
    a.size = 1u << (scale & 7);
    if ((insn & 0x3b000000) == 0x39000000) {
        a.offset = (int64_t)(insn >> 10 & 0xfff) << scale;
    } else if ((insn & 0x3b200000) == 0x38000000 && (mode == 0 || mode == 3)) {
        a.offset = sign_extend(insn >> 12 & 511, 9);
        a.before = mode == 3;
    } else {
        return false;
    }
    return take_access(r, &a);
}

/* Only a few instructions of the vector unit touch other registers. */
static bool vector(struct reads *r, uint32_t insn)
{
    unsigned rd = insn & 31, rn = insn >> 5 & 31, what;

    if ((insn & 0x5f200000) == 0x1e000000) /* fixed point */
        return false;
    if ((insn & 0x5f20fc00) == 0x1e200000) { /* fmov, scvtf, ucvtf; the rest the other way */
        what = insn >> 16 & 7;
        if (what != 2 && what != 3 && what != 7)
            return write_register(r, rd);
        read_register(r, rn);
    } else if ((insn & 0xbfe08400) == 0x0e000400) {
        what = insn >> 11 & 15;
        if (what == 5 || what == 7) /* smov, umov */
            return write_register(r, rd);
        if (what == 1 || what == 3) /* dup, ins */
            read_register(r, rn);
    }
    return true;
}

/* False: a branch, or an instruction that is not understood. */
static bool step(struct reads *r, uint32_t insn)
{
    switch (insn >> 25 & 15) {
    case 8:
    case 9:
        return immediate(r, insn);
    case 5:
    case 13:
        return two_registers(r, insn);
    case 4:
    case 6:
    case 12:
    case 14:
        return memory(r, insn);
    case 7:
    case 15:
        return vector(r, insn);
    default:
        return false;
    }
}

static size_t code_at(const struct gt_elf *file, uint64_t addr, uint8_t code[CODE])
{
    size_t n = 0;
    GElf_Phdr ph;

    if (elf_getphdrnum(file->elf, &n) != 0)
        return 0;
    for (size_t i = 0; i < n && i < INT_MAX; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &ph) || ph.p_type != PT_LOAD || addr < ph.p_vaddr ||
            addr - ph.p_vaddr >= ph.p_filesz)
            continue;
        uint64_t at = addr - ph.p_vaddr, left = ph.p_filesz - at;
        ssize_t got =
            pread(file->fd, code, left < CODE ? (size_t)left : CODE, (off_t)(ph.p_offset + at));
        return got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static void find_reads(const struct gt_elf *file, uint64_t addr, struct reads *r)
{
    uint8_t code[CODE];
    struct gt_bytes_reader in;
    size_t n = code_at(file, addr, code);

    gt_bytes_reader_init(&in, code, n);
    for (size_t at = 0; at + 4 <= n && step(r, gt_bytes_read_u32(&in)); at += 4)
        ;
}

/* Whether a parameter is where the convention has it: the code reads it there, or the compiler says
 * the same place. */
static bool is_there(const struct reads *r, const struct gt_type_param_where *w,
                     const struct gt_abi_value *v)
{
    if (w->place == GT_PARAM_CHANGED)
        return false;
    for (unsigned i = 0; !v->unknown && i < v->n; i++) {
        const struct gt_abi_piece *p = &v->piece[i];
        if (w->place != GT_PARAM_BY_ABI) {
            const char *named = i < w->n || (!i && w->place == GT_PARAM_REFERENCE)
                                    ? gt_abi_aarch64.dwarf(w->reg[i])
                                    : NULL;
            if (!p->reg || named != p->reg)
                return false;
        } else if (!p->reg) {
            for (int32_t slot = p->stack / 8; slot <= (p->stack + (int32_t)p->size - 1) / 8; slot++)
                if (slot >= SLOTS || !(r->slots >> slot & 1))
                    return false;
        } else if (p->reg[0] == 'x' && !(r->registers >> (p->reg[1] - '0') & 1)) {
            return false;
        }
    }
    return true;
}

/* The parameters of a mangled name; -1: it does not say. */
static int count_mangled(const char *name)
{
    static const char call[] = "operator()";
    char text[GT_DEMANGLED_MAX + 1];
    size_t at, n = sizeof call - 1;
    int depth = 0, count = 0;

    if (!name || !gt_elf_demangle_name(name, text) ||
        !text[at = gt_elf_demangled_without_parameters(text)])
        return -1;
    if (at && text[at - 1] == ')' && (at < n || strncmp(text + at - n, call, n) != 0))
        return -1; /* it returns a pointer to a function */
    if (text[at + 1] == ')')
        return 0;
    for (; text[at]; at++) {
        depth += strchr("(<[{", text[at]) ? 1 : strchr(")>]}", text[at]) ? -1 : 0;
        count += depth == 1 && (text[at] == ',' || !count);
        if (depth == 0)
            return count;
    }
    return -1;
}

/* Addresses take no float registers. */
static bool in_floats(const struct gt_abi_value *v)
{
    bool floats = v->n > 0;

    for (unsigned i = 0; i < v->n; i++)
        floats = floats && v->piece[i].reg && v->piece[i].reg[0] == 'v';
    return floats;
}

void gt_type_dwarf_find_ignored(struct gt_type_dwarf *d, const struct gt_type_prototype *item,
                                const char *mangled, unsigned described)
{
    bool x86 = d->e_machine == EM_X86_64 || d->e_machine == EM_386;
    struct gt_abi_value result, param[GT_DWARF_PARAMS];
    uint32_t n = gt_type_get(d->out->types, item->type)->n;
    struct gt_type_param_where *w = item->where ? &d->out->where[item->where - 1] : NULL;
    struct reads r = {0};
    bool sure = !x86;
    int count = count_mangled(mangled);

    if (!w || n > GT_DWARF_PARAMS || count == (int)described ||
        (x86 && (!d->cxx || (!mangled && !strcmp(item->name, "main")))) ||
        (!x86 && d->e_machine != EM_AARCH64))
        return;
    gt_abi_place(&gt_abi_aarch64, d->out->types, item->type, &result, param);
    if (!x86)
        find_reads(d->file, item->addr, &r);
    for (uint32_t i = 0; i < n; i++) {
        sure = sure && is_there(&r, &w[i], &param[i]);
        if (!sure && w[i].place == GT_PARAM_BY_ABI && (x86 || !in_floats(&param[i])))
            w[i].place = GT_PARAM_CHANGED;
    }
}
