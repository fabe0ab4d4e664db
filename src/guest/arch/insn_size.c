/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes of instructions: see insn_size.h. For x86, of 32- and 64-bit code. */
#include "guest/arch/insn_size.h"

#include "guest/arch/x86_insn.h"

#include <string.h>

enum { IMM_NONE = 0, IMM_8, IMM_16, IMM_24, IMM_Z, IMM_V, IMM_ADDR, IMM_FAR };

struct x86_form {
    bool modrm;
    uint8_t imm;
};

struct x86_code {
    const uint8_t *bytes;
    size_t left; /* of 15 at most */
    size_t at;
    bool wide; /* 64-bit code */
    bool opsize, addrsize, rex_w;
};

/* 00..3F come in eights; of the rest the rows that are alike, in ranges. */
static struct x86_form one_byte(uint8_t op, bool wide)
{
    static const struct {
        uint8_t first, last, modrm, imm;
    } row[] = {
        {0x62, 0x63, 1, IMM_NONE}, {0x68, 0x68, 0, IMM_Z},    {0x69, 0x69, 1, IMM_Z},
        {0x6a, 0x6a, 0, IMM_8},    {0x6b, 0x6b, 1, IMM_8},    {0x70, 0x7f, 0, IMM_8},
        {0x80, 0x80, 1, IMM_8},    {0x81, 0x81, 1, IMM_Z},    {0x82, 0x83, 1, IMM_8},
        {0x84, 0x8f, 1, IMM_NONE}, {0x9a, 0x9a, 0, IMM_FAR},  {0xa0, 0xa3, 0, IMM_ADDR},
        {0xa8, 0xa8, 0, IMM_8},    {0xa9, 0xa9, 0, IMM_Z},    {0xb0, 0xb7, 0, IMM_8},
        {0xb8, 0xbf, 0, IMM_V},    {0xc0, 0xc1, 1, IMM_8},    {0xc2, 0xc2, 0, IMM_16},
        {0xc4, 0xc5, 1, IMM_NONE}, {0xc6, 0xc6, 1, IMM_8},    {0xc7, 0xc7, 1, IMM_Z},
        {0xc8, 0xc8, 0, IMM_24},   {0xca, 0xca, 0, IMM_16},   {0xcd, 0xcd, 0, IMM_8},
        {0xd0, 0xd3, 1, IMM_NONE}, {0xd4, 0xd5, 0, IMM_8},    {0xd8, 0xdf, 1, IMM_NONE},
        {0xe0, 0xe7, 0, IMM_8},    {0xe8, 0xe9, 0, IMM_Z},    {0xea, 0xea, 0, IMM_FAR},
        {0xeb, 0xeb, 0, IMM_8},    {0xf6, 0xf7, 1, IMM_NONE}, {0xfe, 0xff, 1, IMM_NONE},
    };
    if (op < 0x40)
        return (struct x86_form){(op & 7) < 4, (op & 7) == 4   ? IMM_8
                                               : (op & 7) == 5 ? IMM_Z
                                                               : IMM_NONE};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (op >= row[i].first && op <= row[i].last)
            return (struct x86_form){row[i].modrm && !(op == 0x62 && wide), row[i].imm};
    return (struct x86_form){false, IMM_NONE};
}

static struct x86_form two_byte(uint8_t op)
{
    if ((op >= 0x05 && op <= 0x0b && op != 0x0a) || op == 0x0e || (op >= 0x30 && op <= 0x37) ||
        op == 0x77 || (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
        (op >= 0xc8 && op <= 0xcf))
        return (struct x86_form){false, IMM_NONE};
    if (op >= 0x80 && op <= 0x8f)
        return (struct x86_form){false, IMM_Z};
    bool imm = op == 0x0f || (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
               op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
    return (struct x86_form){true, imm ? IMM_8 : IMM_NONE};
}

static int next_byte(struct x86_code *x)
{
    return x->at < x->left ? x->bytes[x->at++] : -1;
}

static void skip_prefixes(struct x86_code *x)
{
    for (; x->at < x->left; x->at++) {
        uint8_t b = x->bytes[x->at];
        if (b == 0x66)
            x->opsize = true;
        else if (b == 0x67)
            x->addrsize = true;
        else if (b != 0xf0 && b != 0xf2 && b != 0xf3 && b != 0x2e && b != 0x36 && b != 0x3e &&
                 b != 0x26 && b != 0x64 && b != 0x65)
            break;
    }
    if (x->wide && x->at < x->left && (x->bytes[x->at] & 0xf0) == 0x40)
        x->rex_w = x->bytes[x->at++] & 8;
}

/* C4, C5 and 62 begin vector instructions in 64-bit code, and elsewhere where no memory operand
 * follows. True: the form of what follows is in *form. */
static bool vector_form(struct x86_code *x, int op, struct x86_form *form)
{
    if ((op != 0xc4 && op != 0xc5 && op != 0x62) || x->at == x->left ||
        (!x->wide && x->bytes[x->at] < 0xc0))
        return false;
    unsigned map = op == 0xc5 ? 1 : op == 0xc4 ? x->bytes[x->at] & 0x1f : x->bytes[x->at] & 7;
    x->at += op == 0xc5 ? 1 : op == 0xc4 ? 2 : 3;
    int code = next_byte(x);
    *form = (struct x86_form){true, map == 3 ? IMM_8 : IMM_NONE};
    if (map == 1 && code >= 0)
        *form = two_byte((uint8_t)code);
    return true;
}

static struct x86_form form_of(struct x86_code *x, int *op)
{
    struct x86_form form;
    *op = next_byte(x);
    if (vector_form(x, *op, &form))
        return form;
    if (*op != 0x0f)
        return one_byte((uint8_t)*op, x->wide);
    int second = next_byte(x);
    *op = -1;
    if (second == 0x38 || second == 0x3a) {
        next_byte(x);
        return (struct x86_form){true, second == 0x3a ? IMM_8 : IMM_NONE};
    }
    return two_byte((uint8_t)second);
}

static size_t imm_size(const struct x86_code *x, uint8_t imm)
{
    size_t word = x->opsize ? 2 : 4;
    switch (imm) {
    case IMM_8:
        return 1;
    case IMM_16:
        return 2;
    case IMM_24:
        return 3;
    case IMM_Z:
        return word;
    case IMM_V:
        return x->rex_w ? 8 : word;
    case IMM_ADDR:
        return x->wide != x->addrsize ? (x->wide ? 8 : 2) : 4;
    case IMM_FAR:
        return word + 2;
    default:
        return 0;
    }
}

static size_t x86_size(const uint8_t *bytes, size_t left, bool wide)
{
    struct x86_code x = {bytes, left < GT_X86_INSN_MAX ? left : GT_X86_INSN_MAX, .wide = wide};
    int op;
    skip_prefixes(&x);
    struct x86_form form = form_of(&x, &op);
    if (x.at > x.left)
        return 1;
    if (form.modrm) {
        bool half = x.addrsize && !wide;
        size_t n = half ? gt_arch_x86_modrm_size16(bytes + x.at, x.left - x.at)
                        : gt_arch_x86_modrm_size(bytes + x.at, x.left - x.at);
        if (n == 0)
            return 1;
        if ((op == 0xf6 || op == 0xf7) && (bytes[x.at] >> 3 & 7) < 2)
            form.imm = op == 0xf6 ? IMM_8 : IMM_Z;
        x.at += n;
    }
    x.at += imm_size(&x, form.imm);
    return x.at <= x.left && x.at > 0 ? x.at : 1;
}

bool gt_arch_insn_size_known(const struct gt_arch *arch)
{
    return arch == &gt_arch_aarch64 || arch == &gt_arch_riscv64 || arch == &gt_arch_x86_64 ||
           arch == &gt_arch_i386;
}

size_t gt_arch_insn_size(const struct gt_arch *arch, const uint8_t *bytes, size_t left)
{
    size_t size = arch->insn_min;
    if (arch == &gt_arch_x86_64 || arch == &gt_arch_i386)
        size = x86_size(bytes, left, arch == &gt_arch_x86_64);
    else if (arch == &gt_arch_riscv64)
        size = (bytes[0] & 3) == 3 ? 4 : 2;
    return size <= left ? size : left;
}

bool gt_arch_is_16_bit(const struct gt_arch *arch, const uint8_t *bytes, size_t size)
{
    return (arch == &gt_arch_x86_64 || arch == &gt_arch_i386) &&
           gt_arch_insn_size(&gt_arch_i386, bytes, size) != size &&
           gt_arch_insn_size(&gt_arch_x86_64, bytes, size) != size;
}

bool gt_arch_last_insn(const struct gt_arch *arch, const uint8_t *bytes, size_t n, size_t left,
                       uint64_t pc, struct gt_arch_insn *last)
{
    if (n == 0 || n > left || !gt_arch_insn_size_known(arch))
        return false;
    for (;;) {
        size_t size = gt_arch_insn_size(arch, bytes, left);
        if (n <= size) {
            arch->classify(bytes, n, pc, last);
            return n == size;
        }
        pc += size;
        bytes += size;
        n -= size;
        left -= size;
    }
}
