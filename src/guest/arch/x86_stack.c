/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The x86 instructions that load the stack pointer from anything but itself and the frame pointer:
 * moves of 16 bits and more from registers, memory and immediates, exchanges, pops into it and lea.
 * Arithmetic on it does not count, nor do leave, enter and instructions that compute a value. lds
 * and les, whose encodings are VEX prefixes in 64-bit mode, count for i386 only; movsxd without
 * REX.W, which is arpl in other modes, never counts.
 */
#include "guest/arch/x86_insn.h"

static bool is_frame_register(int reg)
{
    return reg == REG_SP || reg == REG_BP;
}

/* reg <- r/m */
static bool loads_sp(const struct x86_insn *in)
{
    return gt_arch_x86_is_modrm(in) && gt_arch_x86_modrm_reg(in) == REG_SP &&
           (gt_arch_x86_modrm_is_memory(in) || !is_frame_register(gt_arch_x86_modrm_rm(in)));
}

/* r/m <- reg */
static bool stores_sp(const struct x86_insn *in)
{
    return gt_arch_x86_is_modrm(in) && !gt_arch_x86_modrm_is_memory(in) &&
           gt_arch_x86_modrm_rm(in) == REG_SP && !is_frame_register(gt_arch_x86_modrm_reg(in));
}

/* r/m, a register, is the stack pointer, and the value written there is not a general register's;
 * `more` bytes follow the ModRM byte. */
static bool names_sp(const struct x86_insn *in, size_t more)
{
    return in->left == 1 + more && !gt_arch_x86_modrm_is_memory(in) &&
           gt_arch_x86_modrm_rm(in) == REG_SP;
}

static bool leads_sp(const struct x86_insn *in)
{
    return gt_arch_x86_is_modrm(in) && gt_arch_x86_modrm_is_memory(in) &&
           gt_arch_x86_modrm_reg(in) == REG_SP && !is_frame_register(gt_arch_x86_modrm_base(in));
}

/* One-byte opcodes that load the stack pointer. */
static bool one_byte(const struct x86_insn *in)
{
    bool b = in->rex & REX_B;

    switch (in->opcode) {
    case 0x5c: /* pop */
    case 0x94: /* xchg with the accumulator */
        return in->left == 0 && !b;
    case 0x63: /* movsxd */
        return in->rex & REX_W && loads_sp(in);
    case 0x87: /* xchg */
        return loads_sp(in) || stores_sp(in);
    case 0x89:
        return stores_sp(in);
    case 0x8b:
        return loads_sp(in);
    case 0x8d: /* lea */
        return leads_sp(in);
    case 0x8f: /* pop; other values of the field are XOP */
        return names_sp(in, 0) && gt_arch_x86_modrm_op(in) == 0;
    case 0xc7: /* mov imm */
        return (names_sp(in, 4) || names_sp(in, 2)) && gt_arch_x86_modrm_op(in) == 0;
    case 0xc4: /* les */
    case 0xc5: /* lds */
        return !in->wide && loads_sp(in) && gt_arch_x86_modrm_is_memory(in);
    case 0xbc:
        return !b && (in->left == 2 || in->left == 4 || in->left == 8);
    default:
        return false;
    }
}

/* 0F: those that load the stack pointer */
static bool two_bytes(const struct x86_insn *in)
{
    switch (in->opcode) {
    case 0x20: /* mov from a control register */
    case 0x21: /* mov from a debug register; of both only the register form exists */
        return in->left == 1 && gt_arch_x86_modrm_rm(in) == REG_SP;
    case 0x7e: /* movd, movq from a vector register; F3 writes one */
        return !in->rep && names_sp(in, 0);
    case 0xb2: /* lss */
    case 0xb4: /* lfs */
    case 0xb5: /* lgs */
        return loads_sp(in) && gt_arch_x86_modrm_is_memory(in);
    case 0xb7: /* movzx, movsx from 16 bits */
    case 0xbf:
        return loads_sp(in);
    default: /* cmovcc */
        return (in->opcode & 0xf0) == 0x40 && loads_sp(in);
    }
}

bool gt_arch_x86_loads_stack_pointer(const struct x86_insn *in)
{
    return in->escape ? two_bytes(in) : one_byte(in);
}

/* ModRM operands: mod (2 bits) reg (3) rm (3), then SIB where rm is 4, then the displacement. */

size_t gt_arch_x86_modrm_size(const uint8_t *p, size_t left)
{
    if (left < 1)
        return 0;

    unsigned mod = p[0] >> 6, base = p[0] & 7;
    size_t n = 1;

    if (mod == 3)
        return n;
    if (base == 4) {
        if (left < 2)
            return 0;
        base = p[1] & 7;
        n++;
    }
    if (mod == 1)
        n += 1;
    else if (mod == 2 || base == 5)
        n += 4;
    return n <= left ? n : 0;
}

size_t gt_arch_x86_modrm_size16(const uint8_t *p, size_t left)
{
    if (left < 1)
        return 0;

    unsigned mod = p[0] >> 6;
    size_t n = 1;

    if (mod == 1)
        n += 1;
    else if (mod == 2 || (mod == 0 && (p[0] & 7) == 6))
        n += 2;
    return n <= left ? n : 0;
}

bool gt_arch_x86_is_modrm(const struct x86_insn *in)
{
    return in->left > 0 && (gt_arch_x86_modrm_size(in->tail, in->left) == in->left ||
                            (!in->rex && gt_arch_x86_modrm_size16(in->tail, in->left) == in->left));
}

unsigned gt_arch_x86_modrm_op(const struct x86_insn *in)
{
    return in->tail[0] >> 3 & 7;
}

int gt_arch_x86_modrm_reg(const struct x86_insn *in)
{
    return (int)gt_arch_x86_modrm_op(in) | (in->rex & REX_R ? 8 : 0);
}

int gt_arch_x86_modrm_rm(const struct x86_insn *in)
{
    return (in->tail[0] & 7) | (in->rex & REX_B ? 8 : 0);
}

bool gt_arch_x86_modrm_is_memory(const struct x86_insn *in)
{
    return in->tail[0] < 0xc0;
}

int gt_arch_x86_modrm_base(const struct x86_insn *in)
{
    const uint8_t *p = in->tail;
    unsigned mod = p[0] >> 6, base = p[0] & 7;

    if (gt_arch_x86_modrm_size(p, in->left) != in->left) {
        bool bp = base == 2 || base == 3 || (base == 6 && mod != 0);
        return bp ? REG_BP : REG_NONE;
    }
    if (base == 4)
        base = p[1] & 7;
    if (base == 5 && mod == 0)
        return REG_NONE;
    return (int)base | (in->rex & REX_B ? 8 : 0);
}
