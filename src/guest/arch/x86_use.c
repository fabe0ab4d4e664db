/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How x86 code uses and moves the stack pointer: pushes and pops, steps by constants, switches of
 * threads, and return addresses that no return uses. */
#include "guest/arch/x86_insn.h"

#include <string.h>

/* What glibc's setjmp stores: lea N(%rsp), xor with a secret at %fs:N, a rotation. In *copies the
 * low half has the registers that hold the first, the high half those that hold the second. */
static bool stores_mixed(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    bool by_fs = size > 0 && bytes[0] == 0x64;
    bytes += by_fs;
    size -= by_fs;
    if (size < 4 || (bytes[0] & 0xfa) != 0x48) /* REX.W, perhaps with R or B */
        return false;
    uint32_t reg = (bytes[2] >> 3 & 7u) | (bytes[0] & 4u) << 1, low = UINT32_C(1) << reg;
    bool memory = bytes[2] >> 6 != 3;
    bool by_sp = memory && (bytes[2] & 7) == 4 && bytes[3] == 0x24 && !(bytes[0] & 1);
    if (bytes[1] == 0x8d && by_sp)
        *copies = (*copies | low) & ~(low << 16);
    else if (bytes[1] == 0x33 && memory && by_fs && *copies & low)
        *copies |= low << 16;
    else
        return bytes[1] == 0x89 && memory && *copies & low << 16;
    return false;
}

/* mov of rsp or esp to another register, and xchg. */
static void note_copy(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    unsigned rex = size > 0 && (bytes[0] & 0xf0) == 0x40 ? *bytes++ : 0;
    size -= rex != 0;
    if (size == 1 && bytes[0] == 0x94 && !(rex & REX_B))
        *copies |= 1;
    if (size != 2 || bytes[1] >> 6 != 3)
        return;
    unsigned reg = (bytes[1] >> 3 & 7u) | (rex & REX_R) << 1;
    unsigned rm = (bytes[1] & 7u) | (rex & REX_B) << 3;
    if ((bytes[0] == 0x89 || bytes[0] == 0x87) && reg == REG_SP)
        *copies |= UINT32_C(1) << rm;
    if ((bytes[0] == 0x8b || bytes[0] == 0x87) && rm == REG_SP)
        *copies |= UINT32_C(1) << reg;
}

/* mov of rsp or esp to memory; mov from memory and pop into it. */
uint8_t gt_arch_x86_stack_use(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    note_copy(bytes, size, copies);
    if (stores_mixed(bytes, size, copies))
        return GT_STACK_STORED;
    bool of_cpu = size > 1 && (bytes[0] == 0x64 || bytes[0] == 0x65);
    bytes += of_cpu;
    size -= of_cpu;
    if (size == 1 && bytes[0] == 0x5c)
        return GT_STACK_OWN;
    bool wide = size > 0 && (bytes[0] & 0xfc) == 0x48; /* REX.W without R */
    bool b = wide && bytes[0] & 1;
    bytes += wide;
    size -= wide;
    if (size < 2 || bytes[1] >> 6 == 3 || (bytes[1] >> 3 & 7) != 4)
        return GT_STACK_OTHER;
    bool by_sp = (bytes[1] & 7) == 4 && size > 2 && (bytes[2] & 7) == 4 && !b;
    if (bytes[0] == 0x89)
        return of_cpu || by_sp ? GT_STACK_OTHER : GT_STACK_STORED;
    return bytes[0] == 0x8b && (of_cpu || by_sp) ? GT_STACK_OWN : GT_STACK_OTHER;
}

/* The number added to the stack pointer: an operand of n bytes, which ends the instruction. */
static uint8_t moved_by(const struct x86_insn *in, size_t n)
{
    const uint8_t *operand = in->tail + in->left - n;
    int32_t by = (int8_t)operand[0], word = in->rex & REX_W ? 8 : 4;
    if (n == 4)
        by =
            (int32_t)(operand[0] | operand[1] << 8 | operand[2] << 16 | (uint32_t)operand[3] << 24);
    if (by < word)
        return GT_RETURN_WORD_USED;
    return by == word ? GT_RETURN_WORD_DROPPED : GT_RETURN_WORD_DROPPED_MORE;
}

/* True where what may be a ModRM operand names the stack pointer. */
static bool may_name_sp(const struct x86_insn *in)
{
    if (in->left == 0)
        return false;
    unsigned rm = in->tail[0] & 7, reg = in->tail[0] >> 3 & 7;
    bool sib = in->tail[0] < 0xc0 && rm == REG_SP;
    return reg == REG_SP || (sib ? in->left > 1 && (in->tail[1] & 7) == REG_SP : rm == REG_SP);
}

/* add N, %rsp; lea N(%rsp), %rsp; mov to (%rsp). Others may do the same, but are not used for it.
 */
uint8_t gt_arch_x86_return_word(const uint8_t *bytes, size_t size)
{
    struct gt_arch_push push;
    struct x86_insn in;
    gt_arch_x86_pushes(bytes, size, &push);
    if (push.by || !gt_arch_x86_take_opcode(&in, bytes, size, true))
        return GT_RETURN_WORD_USED;
    const uint8_t *p = in.tail;
    bool low = !(in.rex & (REX_B | REX_R)), add = in.left && p[0] == 0xc4 && low;
    bool lea = in.opcode == 0x8d && in.left > 2 && p[1] == 0x24 && low;
    bool top = in.left > 1 && (p[0] & 0xc7) == 0x04 && p[1] == 0x24 && !(in.rex & REX_B);
    if ((in.opcode == 0x83 && add && in.left == 2) || (lea && p[0] == 0x64 && in.left == 3))
        return moved_by(&in, 1);
    if ((in.opcode == 0x81 && add && in.left == 5) || (lea && p[0] == 0xa4 && in.left == 6))
        return moved_by(&in, 4);
    if (top && !in.opsize && (in.opcode == 0x89 || (in.opcode == 0xc7 && p[0] == 0x04)))
        return GT_RETURN_WORD_REPLACED;
    bool frame = in.opcode == 0xc8 || in.opcode == 0xc9; /* enter, leave */
    return frame || may_name_sp(&in) ? GT_RETURN_WORD_USED : GT_RETURN_WORD_KEPT;
}

/* iret, whatever its prefixes. */
bool gt_arch_x86_pops_sp(const uint8_t *bytes, size_t size)
{
    return size > 0 && bytes[size - 1] == 0xcf;
}

/* Of two bytes: ud2, lfence, nop. */
static size_t escaped_trap(const uint8_t *p, size_t left, bool *stops)
{
    if (left < 2)
        return 2;
    *stops = p[1] == 0x0b;
    if (p[1] == 0x0b)
        return 2;
    if (p[1] == 0xae)
        return left < 3 || p[2] == 0xe8 ? 3 : 0;
    size_t operand = p[1] == 0x1f ? gt_arch_x86_modrm_size(p + 2, left - 2) : 0;
    return p[1] != 0x1f ? 0 : operand ? 2 + operand : left + 1;
}

/* int3, hlt, ud2, a short jump back, pause, lfence, nop. */
size_t gt_arch_x86_trap_size(const uint8_t *bytes, size_t left, bool *stops)
{
    enum { PREFIXES = 4, BACK = 64 };
    size_t at = 0, size;
    *stops = false;
    while (at < left && at < PREFIXES && (bytes[at] == 0x66 || bytes[at] == 0x2e))
        at++;
    if (at == left)
        return left + 1;
    const uint8_t *p = bytes + at;
    left -= at;
    switch (p[0]) {
    case 0xcc:
    case 0xf4:
        *stops = true;
        return at + 1;
    case 0x90:
        return at + 1;
    case 0xf3:
        return left < 2 || p[1] == 0x90 ? at + 2 : 0;
    case 0xeb:
        *stops = left > 1 && p[1] <= 0xfe && p[1] > 0x100 - BACK;
        return left < 2 || *stops ? at + 2 : 0;
    case 0x0f:
        size = escaped_trap(p, left, stops);
        return size ? at + size : 0;
    default:
        return 0;
    }
}

/*
 * The values that an instruction pushes or pops, in code of 16, 32 and 64 bits, whatever their
 * width. Constants of 8 bits are sign-extended and not code addresses, so they count like other
 * values.
 */

enum { ALL = 8 }; /* pusha, popa */

static int one_byte(const struct x86_insn *in)
{
    unsigned op = in->left ? gt_arch_x86_modrm_op(in) : 0;

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
        return gt_arch_x86_is_modrm(in) && op == 0 ? -1 : 0;
    case 0xff:
        return gt_arch_x86_is_modrm(in) && op == 6;
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

void gt_arch_x86_pushes(const uint8_t *bytes, size_t size, struct gt_arch_push *out)
{
    struct x86_insn in;

    *out = (struct gt_arch_push){0};
    if (!gt_arch_x86_take_opcode(&in, bytes, size, true))
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

/*
 * How x86 code moves the stack pointer: push and pop, add, sub and lea with constants; and what it
 * accesses relative to it: push, pop, and the moves that compilers save registers with. An
 * instruction that is not in these tables accesses nothing, and moves it only where
 * gt_arch_x86_loads_stack_pointer says so.
 */

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

    if (!gt_arch_x86_is_modrm(in) || !gt_arch_x86_modrm_is_memory(in) || (p[0] & 7) != 4 ||
        in->left < 2 || gt_arch_x86_modrm_base(in) != REG_SP || (p[1] >> 3 & 7) != 4)
        return false;
    *at = mod == 0 ? 0 : constant(p + 2, mod == 1 ? 1 : 4);
    return true;
}

static void push(struct gt_arch_sp_step *out, int32_t by, bool accesses)
{
    out->accesses = accesses;
    out->at = by < 0 ? by : 0;
    out->by = by;
}

/* add, sub: 83 with a constant of 8 bits, 81 of 32. */
static void arithmetic(const struct x86_insn *in, size_t n, struct gt_arch_sp_step *out)
{
    if (in->left != 1 + n || gt_arch_x86_modrm_is_memory(in) || gt_arch_x86_modrm_rm(in) != REG_SP)
        return;
    unsigned op = gt_arch_x86_modrm_op(in);
    if (op == 0 || op == 5)
        out->by = op ? -constant(in->tail + 1, n) : constant(in->tail + 1, n);
    else if (op != 7) /* cmp */
        out->unknown = true;
}

static void move(const struct x86_insn *in, struct gt_arch_sp_step *out)
{
    out->accesses = in->left && is_on_stack(in, &out->at);
}

static void step_of_two_bytes(struct x86_insn in, struct gt_arch_sp_step *out)
{
    if (!in.left)
        return;
    uint8_t opcode = *in.tail++;
    in.left--;
    in.opcode = opcode;
    in.escape = true;
    out->unknown = gt_arch_x86_loads_stack_pointer(&in);
    if (opcode == 0x10 || opcode == 0x11 || opcode == 0x28 || opcode == 0x29) /* movups, movaps */
        move(&in, out);
}

static void step_of_one_byte(const struct x86_insn *in, int width, struct gt_arch_sp_step *out)
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
        if (in->left && gt_arch_x86_modrm_reg(in) == REG_SP)
            out->unknown = !is_on_stack(in, &out->by);
        return;
    case 0x8f:
    case 0xff: /* pop and push of memory: two accesses */
        if (gt_arch_x86_is_modrm(in) && gt_arch_x86_modrm_op(in) == (in->opcode == 0xff ? 6 : 0))
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

    if (!(to_rm || to_reg) || !gt_arch_x86_is_modrm(in))
        return false;
    return to_reg ? gt_arch_x86_modrm_reg(in) == REG_SP
                  : !gt_arch_x86_modrm_is_memory(in) && gt_arch_x86_modrm_rm(in) == REG_SP;
}

void gt_arch_x86_sp_step(const uint8_t *bytes, size_t size, int width, struct gt_arch_sp_step *out)
{
    struct x86_insn in;

    *out = (struct gt_arch_sp_step){0};
    if (!gt_arch_x86_take_opcode(&in, bytes, size, width == 8))
        return;
    if (in.opcode == 0x0f) {
        step_of_two_bytes(in, out);
        return;
    }
    bool sets = sets_sp(&in) || gt_arch_x86_loads_stack_pointer(&in);
    step_of_one_byte(&in, width, out);
    out->unknown |= sets;
}

/* mov, push and pop of registers; movups, movaps, movdqa. */
bool gt_arch_x86_is_plain_access(const uint8_t *bytes, size_t size)
{
    static const uint8_t vector[] = {0x10, 0x11, 0x28, 0x29, 0x6f, 0x7f};
    struct x86_insn in;

    if (!gt_arch_x86_take_opcode(&in, bytes, size, true))
        return false;
    if (in.opcode == 0x0f)
        return in.left > 1 && memchr(vector, in.tail[0], sizeof vector);
    return (in.opcode & 0xfc) == 0x88 || (in.opcode & 0xf0) == 0x50;
}

bool gt_arch_x86_jumps_by_link(const uint8_t *bytes, size_t size)
{
    struct x86_insn in;
    int32_t at;

    return gt_arch_x86_take_opcode(&in, bytes, size, true) && in.opcode == 0xff && in.left &&
           is_on_stack(&in, &at);
}
