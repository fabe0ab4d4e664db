/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values that an instruction pushes or pops, in code of 16, 32 and 64 bits, whatever their
 * width. Constants of 8 bits are sign-extended and not code addresses, so they count like other
 * values.
 */
#include "guest/arch/x86_insn.h"

enum { ALL = 8 }; /* pusha, popa */

static int one_byte(const struct x86_insn *in)
{
    unsigned op = in->left ? gt_x86_modrm_op(in) : 0;

    switch (in->opcode) {
    case 0x06: /* push es, cs, ss, ds */
    case 0x0e:
    case 0x16:
    case 0x1e:
    case 0x9c: /* pushf */
        return in->left == 0;
    case 0x07: /* pop es, ss, ds */
    case 0x17:
    case 0x1f:
    case 0x9d: /* popf */
        return in->left == 0 ? -1 : 0;
    case 0x60:
        return in->left == 0 ? ALL : 0;
    case 0x61:
        return in->left == 0 ? -ALL : 0;
    case 0x68:
    case 0x6a:
        return 1;
    case 0x8f:
        return gt_x86_is_modrm(in) && op == 0 ? -1 : 0;
    case 0xff:
        return gt_x86_is_modrm(in) && op == 6;
    default:
        if (in->left || (in->opcode & 0xf0) != 0x50)
            return 0;
        return in->opcode & 8 ? -1 : 1;
    }
}

/* 0F: push fs, gs; pop fs, gs */
static int two_bytes(const struct x86_insn *in)
{
    if (in->left != 1)
        return 0;
    switch (in->tail[0]) {
    case 0xa0:
    case 0xa8:
        return 1;
    case 0xa1:
    case 0xa9:
        return -1;
    default:
        return 0;
    }
}

void gt_x86_pushes(const uint8_t *bytes, size_t size, struct gt_push *out)
{
    struct x86_insn in;

    *out = (struct gt_push){0};
    if (!gt_x86_take_opcode(&in, bytes, size, true))
        return;
    out->by = (int8_t)(in.opcode == 0x0f ? two_bytes(&in) : one_byte(&in));
    if (in.opcode != 0x68 || (in.left != 2 && in.left != 4))
        return;
    out->width = (uint8_t)in.left;
    for (size_t i = in.left; i > 0; i--)
        out->value = out->value << 8 | in.tail[i - 1];
    if (in.left == 4)
        out->value = (uint64_t)(int64_t)(int32_t)out->value;
}
