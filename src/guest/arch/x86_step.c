/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How x86 code moves the stack pointer: push and pop, add, sub and lea with constants; and what it
 * accesses relative to it: push, pop, and the moves that compilers save registers with. What is not
 * in these tables accesses nothing, and moves it only where gt_x86_loads_stack_pointer says so.
 */
#include "guest/arch/x86_insn.h"

#include <string.h>

static int32_t constant(const uint8_t *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = n; i > 0; i--)
        v = v << 8 | p[i - 1];
    return n == 1 ? (int8_t)v : (int32_t)v;
}

/* A memory operand at (%rsp), N(%rsp): true, and N. */
static bool is_on_stack(const struct x86_insn *in, int32_t *at)
{
    const uint8_t *p = in->tail;
    unsigned mod = p[0] >> 6;

    if (!gt_x86_is_modrm(in) || !gt_x86_modrm_is_memory(in) || (p[0] & 7) != 4 || in->left < 2 ||
        gt_x86_modrm_base(in) != REG_SP || (p[1] >> 3 & 7) != 4)
        return false;
    *at = mod == 0 ? 0 : constant(p + 2, mod == 1 ? 1 : 4);
    return true;
}

static void push(struct gt_sp_step *out, int32_t by, bool accesses)
{
    out->accesses = accesses;
    out->at = by < 0 ? by : 0;
    out->by = by;
}

/* add, sub: 83 with a constant of 8 bits, 81 of 32. */
static void arithmetic(const struct x86_insn *in, size_t n, struct gt_sp_step *out)
{
    if (in->left != 1 + n || gt_x86_modrm_is_memory(in) || gt_x86_modrm_rm(in) != REG_SP)
        return;
    unsigned op = gt_x86_modrm_op(in);
    if (op == 0 || op == 5)
        out->by = op ? -constant(in->tail + 1, n) : constant(in->tail + 1, n);
    else if (op != 7) /* cmp */
        out->unknown = true;
}

static void move(const struct x86_insn *in, struct gt_sp_step *out)
{
    out->accesses = in->left && is_on_stack(in, &out->at);
}

static void two_bytes(struct x86_insn in, struct gt_sp_step *out)
{
    if (!in.left)
        return;
    uint8_t opcode = *in.tail++;
    in.left--;
    in.opcode = opcode;
    in.escape = true;
    out->unknown = gt_x86_loads_stack_pointer(&in);
    if (opcode == 0x10 || opcode == 0x11 || opcode == 0x28 || opcode == 0x29) /* movups, movaps */
        move(&in, out);
}

static void one_byte(const struct x86_insn *in, int width, struct gt_sp_step *out)
{
    switch (in->opcode) {
    case 0x68:
    case 0x6a:
        push(out, -width, true);
        return;
    case 0x9c: /* pushf, popf */
    case 0x9d:
        push(out, in->opcode == 0x9c ? -width : width, true);
        return;
    case 0x81:
    case 0x83:
        if (in->left)
            arithmetic(in, in->opcode == 0x83 ? 1 : 4, out);
        return;
    case 0x89: /* mov */
    case 0x8b:
        move(in, out);
        return;
    case 0x8d: /* lea */
        if (in->left && gt_x86_modrm_reg(in) == REG_SP)
            out->unknown = !is_on_stack(in, &out->by);
        return;
    case 0x8f:
    case 0xff: /* pop and push of memory: two accesses */
        if (gt_x86_is_modrm(in) && gt_x86_modrm_op(in) == (in->opcode == 0xff ? 6 : 0))
            push(out, in->opcode == 0xff ? -width : width, false);
        return;
    case 0xc3: /* ret */
        push(out, width, false);
        return;
    case 0xc8: /* enter, leave */
    case 0xc9:
        out->unknown = true;
        return;
    default:
        if ((in->opcode & 0xf0) == 0x50)
            push(out, in->opcode & 8 ? width : -width, true);
    }
}

/* mov between registers, and arithmetic, into the stack pointer. */
static bool sets_sp(const struct x86_insn *in)
{
    bool to_rm =
        in->opcode == 0x89 || in->opcode == 0x01 || in->opcode == 0x29 || in->opcode == 0x21;
    bool to_reg =
        in->opcode == 0x8b || in->opcode == 0x03 || in->opcode == 0x2b || in->opcode == 0x23;

    if (!(to_rm || to_reg) || !gt_x86_is_modrm(in))
        return false;
    return to_reg ? gt_x86_modrm_reg(in) == REG_SP
                  : !gt_x86_modrm_is_memory(in) && gt_x86_modrm_rm(in) == REG_SP;
}

void gt_x86_sp_step(const uint8_t *bytes, size_t size, int width, struct gt_sp_step *out)
{
    struct x86_insn in;

    *out = (struct gt_sp_step){0};
    if (!gt_x86_take_opcode(&in, bytes, size, width == 8))
        return;
    if (in.opcode == 0x0f) {
        two_bytes(in, out);
        return;
    }
    bool sets = sets_sp(&in) || gt_x86_loads_stack_pointer(&in);
    one_byte(&in, width, out);
    out->unknown |= sets;
}

/* mov, push and pop of registers; movups, movaps, movdqa. */
bool gt_x86_is_plain_access(const uint8_t *bytes, size_t size)
{
    static const uint8_t vector[] = {0x10, 0x11, 0x28, 0x29, 0x6f, 0x7f};
    struct x86_insn in;

    if (!gt_x86_take_opcode(&in, bytes, size, true))
        return false;
    if (in.opcode == 0x0f)
        return in.left > 1 && memchr(vector, in.tail[0], sizeof vector);
    return (in.opcode & 0xfc) == 0x88 || (in.opcode & 0xf0) == 0x50;
}

bool gt_x86_jumps_by_link(const uint8_t *bytes, size_t size)
{
    struct x86_insn in;
    int32_t at;

    return gt_x86_take_opcode(&in, bytes, size, true) && in.opcode == 0xff && in.left &&
           is_on_stack(&in, &at);
}
