/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ModRM operands: mod (2 bits) reg (3) rm (3), then SIB where rm is 4, then the displacement. */
#include "guest/arch/x86_insn.h"

size_t gt_x86_modrm_size(const uint8_t *p, size_t left)
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

size_t gt_x86_modrm_size16(const uint8_t *p, size_t left)
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

bool gt_x86_is_modrm(const struct x86_insn *in)
{
    return in->left > 0 && (gt_x86_modrm_size(in->tail, in->left) == in->left ||
                            (!in->rex && gt_x86_modrm_size16(in->tail, in->left) == in->left));
}

unsigned gt_x86_modrm_op(const struct x86_insn *in)
{
    return in->tail[0] >> 3 & 7;
}

int gt_x86_modrm_reg(const struct x86_insn *in)
{
    return (int)gt_x86_modrm_op(in) | (in->rex & REX_R ? 8 : 0);
}

int gt_x86_modrm_rm(const struct x86_insn *in)
{
    return (in->tail[0] & 7) | (in->rex & REX_B ? 8 : 0);
}

bool gt_x86_modrm_is_memory(const struct x86_insn *in)
{
    return in->tail[0] < 0xc0;
}

int gt_x86_modrm_base(const struct x86_insn *in)
{
    const uint8_t *p = in->tail;
    unsigned mod = p[0] >> 6, base = p[0] & 7;

    if (gt_x86_modrm_size(p, in->left) != in->left) {
        bool bp = base == 2 || base == 3 || (base == 6 && mod != 0);
        return bp ? REG_BP : REG_NONE;
    }
    if (base == 4)
        base = p[1] & 7;
    if (base == 5 && mod == 0)
        return REG_NONE;
    return (int)base | (in->rex & REX_B ? 8 : 0);
}
