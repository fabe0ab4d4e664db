/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86 instructions that change the program counter, the stack pointer or the vectors.
 *
 * instruction = { legacy prefix | REX } opcode [ ModRM [ SIB ] [ displacement ] ] [ immediate ]
 *
 * Consequences of knowing an instruction's size, but not the mode:
 * - 40-4F as the last byte is inc or dec (32- and 16-bit code), else REX; OTHER needs no telling.
 * - A relative operand is what remains after the opcode: 1, 2 or 4 bytes. A target of 1 or 4 bytes
 *   has the architecture's full width, but wraps at 32 bits where it would come to lie below 0
 *   (32-bit code of an x86_64 guest that jumps upwards across the 4 GiB border is given a target
 *   that did not wrap). A 2-byte operand truncates the instruction pointer
 *   to 16 bits: without an operand-size prefix the code is 16-bit code, so the target stays in the
 *   64 KiB of the next instruction (exact where the code segment's base is a multiple of 64 KiB);
 *   with one it is flat 32- or 64-bit code, so the target lies in the lowest 64 KiB.
 * - The target of a far call or jump is in a segment, whose base only the machine's tables may say:
 *   they are taken for indirect ones.
 * - lea with a disp8 or no displacement looks the same with 16-bit and longer addresses; it is read
 *   as the longer: `lea -8(%bp),%sp` of 16-bit code counts as a stack switch.
 *
 * The target of xbegin, a branch, is the address of its abort. wrmsr counts as a vector write for
 * every register number, not only LSTAR's: the caller checks ecx.
 */
#include "guest/arch/x86_insn.h"

static uint64_t little(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = n; i > 0; i--)
        v = v << 8 | p[i - 1];
    return v;
}

static void take(struct x86_insn *in)
{
    in->opcode = *in->tail++;
    in->left--;
}

/* Consumes prefixes and the first opcode byte; false where there is none. A REX that something
 * other than the opcode follows has no effect. */
static bool take_prefixes(struct x86_insn *in)
{
    while (in->left > 0) {
        take(in);
        switch (in->opcode) {
        case 0x66:
            in->opsize = true;
            in->rex = 0;
            break;
        case 0xf2:
            in->repne = true;
            in->rex = 0;
            break;
        case 0xf3:
            in->rep = true;
            in->rex = 0;
            break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x67:
        case 0xf0:
            in->rex = 0;
            break;
        default:
            if (!in->wide || (in->opcode & 0xf0) != 0x40)
                return true;
            in->rex = in->opcode;
        }
    }
    return false;
}

/* `kind` where the opcode ends the instruction but for `more` bytes. */
static uint8_t plain(const struct x86_insn *in, size_t more, uint8_t kind)
{
    return in->left == more ? kind : GT_INSN_OTHER;
}

/* An operand of n bytes, relative to the next instruction, is the last of the instruction. */
static uint8_t relative(const struct x86_insn *in, size_t n, uint8_t kind, struct gt_arch_insn *out)
{
    uint64_t sign = UINT64_C(1) << (8 * n - 1);
    uint64_t target = in->next + ((little(in->tail + in->left - n, n) ^ sign) - sign);

    if (n == 2)
        target = (target & 0xffff) | (in->opsize ? 0 : in->next & ~UINT64_C(0xffff));
    bool below_0 = in->next >> 32 == 0 && target >> 63;
    out->target = in->wide && !below_0 ? target : target & 0xffffffff;
    return kind;
}

static uint8_t short_relative(const struct x86_insn *in, uint8_t kind, struct gt_arch_insn *out)
{
    return in->left == 1 ? relative(in, 1, kind, out) : GT_INSN_OTHER;
}

/* `skip` bytes belong to the opcode. */
static uint8_t near_relative(const struct x86_insn *in, size_t skip, uint8_t kind,
                             struct gt_arch_insn *out)
{
    size_t n = in->left - skip;

    return n == 2 || n == 4 ? relative(in, n, kind, out) : GT_INSN_OTHER;
}

/* offset, 2 or 4 bytes; segment, 2 */
static uint8_t far_pointer(const struct x86_insn *in, uint8_t kind)
{
    return in->left == 4 || in->left == 6 ? kind : GT_INSN_OTHER;
}

/* FF */
static uint8_t group5(const struct x86_insn *in)
{
    static const uint8_t kinds[8] = {
        [2] = GT_INSN_CALL_INDIRECT,
        [3] = GT_INSN_CALL_INDIRECT, /* far */
        [4] = GT_INSN_JUMP_INDIRECT,
        [5] = GT_INSN_JUMP_INDIRECT, /* far */
    };

    if (!gt_arch_x86_is_modrm(in))
        return GT_INSN_OTHER;

    unsigned op = gt_arch_x86_modrm_op(in);
    bool far = op == 3 || op == 5;

    return far && !gt_arch_x86_modrm_is_memory(in) ? GT_INSN_OTHER : kinds[op];
}

static uint8_t stack_switch(const struct x86_insn *in)
{
    return gt_arch_x86_loads_stack_pointer(in) ? GT_INSN_STACK_SWITCH : GT_INSN_OTHER;
}

/* C7: xbegin, mov r/m, imm */
static uint8_t group11(const struct x86_insn *in, struct gt_arch_insn *out)
{
    if (in->left > 1 && in->tail[0] == 0xf8)
        return near_relative(in, 1, GT_INSN_BRANCH, out);
    return stack_switch(in);
}

/* 0F 01 */
static uint8_t group7(const struct x86_insn *in)
{
    if (!gt_arch_x86_is_modrm(in))
        return GT_INSN_OTHER;
    if (gt_arch_x86_modrm_is_memory(in))
        return gt_arch_x86_modrm_op(in) == 3 ? GT_INSN_VECTOR_WRITE : GT_INSN_OTHER; /* lidt */

    switch (in->tail[0]) {
    case 0xc1: /* vmcall */
    case 0xd9: /* vmmcall */
        return GT_INSN_SYSCALL;
    case 0xc6: /* wrmsrns, F3 wrmsrlist; F2 rdmsrlist */
        return in->repne ? GT_INSN_OTHER : GT_INSN_VECTOR_WRITE;
    case 0xca: /* F2 erets, F3 eretu; else clac */
        return in->rep || in->repne ? GT_INSN_EXCEPTION_RETURN : GT_INSN_OTHER;
    case 0xec: /* F3 uiret */
        return in->rep ? GT_INSN_EXCEPTION_RETURN : GT_INSN_OTHER;
    default:
        return GT_INSN_OTHER;
    }
}

/* 0F */
static uint8_t two_bytes(struct x86_insn *in, struct gt_arch_insn *out)
{
    if (in->left < 1)
        return GT_INSN_OTHER;
    take(in);
    in->escape = true;
    if ((in->opcode & 0xf0) == 0x80)
        return near_relative(in, 0, GT_INSN_BRANCH, out);

    switch (in->opcode) {
    case 0x01:
        return group7(in);
    case 0x05: /* syscall */
    case 0x34: /* sysenter */
        return plain(in, 0, GT_INSN_SYSCALL);
    case 0x07: /* sysret */
    case 0x35: /* sysexit */
    case 0xaa: /* rsm */
        return plain(in, 0, GT_INSN_EXCEPTION_RETURN);
    case 0x0b: /* ud2 */
        return plain(in, 0, GT_INSN_TRAP);
    case 0xb9: /* ud1 */
    case 0xff: /* ud0, whose ModRM some processors do not fetch */
        return in->left == 0 || gt_arch_x86_is_modrm(in) ? GT_INSN_TRAP : GT_INSN_OTHER;
    case 0x30: /* wrmsr */
        return plain(in, 0, GT_INSN_VECTOR_WRITE);
    default:
        return stack_switch(in);
    }
}

static uint8_t one_byte(struct x86_insn *in, struct gt_arch_insn *out)
{
    if ((in->opcode & 0xf0) == 0x70) /* jcc */
        return short_relative(in, GT_INSN_BRANCH, out);

    switch (in->opcode) {
    case 0x0f:
        return two_bytes(in, out);
    case 0x9a: /* far call */
        return far_pointer(in, GT_INSN_CALL_INDIRECT);
    case 0xc2: /* ret n */
    case 0xca: /* far */
        return plain(in, 2, GT_INSN_RETURN);
    case 0xc3: /* ret */
    case 0xcb: /* far */
        return plain(in, 0, GT_INSN_RETURN);
    case 0xc7:
        return group11(in, out);
    case 0xcc: /* int3 */
        return plain(in, 0, GT_INSN_TRAP);
    case 0xcd: /* int n */
        return plain(in, 1, GT_INSN_SYSCALL);
    case 0xce: /* into */
    case 0xf1: /* int1 */
        return plain(in, 0, GT_INSN_SYSCALL);
    case 0xcf: /* iret */
        return plain(in, 0, GT_INSN_EXCEPTION_RETURN);
    case 0xe0: /* loopne */
    case 0xe1: /* loope */
    case 0xe2: /* loop */
    case 0xe3: /* jcxz */
        return short_relative(in, GT_INSN_BRANCH, out);
    case 0xe8:
        return near_relative(in, 0, GT_INSN_CALL, out);
    case 0xe9:
        return near_relative(in, 0, GT_INSN_JUMP, out);
    case 0xea: /* far */
        return far_pointer(in, GT_INSN_JUMP_INDIRECT);
    case 0xeb:
        return short_relative(in, GT_INSN_JUMP, out);
    case 0xff:
        return group5(in);
    default:
        return stack_switch(in);
    }
}

bool gt_arch_x86_take_opcode(struct x86_insn *in, const uint8_t *bytes, size_t size, bool long_mode)
{
    *in = (struct x86_insn){.tail = bytes, .left = size, .wide = long_mode};
    return size <= GT_X86_INSN_MAX && take_prefixes(in);
}

void gt_arch_x86_classify(const uint8_t *bytes, size_t size, uint64_t pc, bool long_mode,
                          struct gt_arch_insn *out)
{
    struct x86_insn in;
    bool taken = gt_arch_x86_take_opcode(&in, bytes, size, long_mode);

    *out = (struct gt_arch_insn){.kind = GT_INSN_OTHER};
    in.next = pc + size;
    if (taken)
        out->kind = one_byte(&in, out);
}

bool gt_arch_x86_may_follow_call(const uint8_t *end, size_t left)
{
    /* A kernel that makes a nop a call while it runs puts an int3 there first, and continues after
     * it; int3 alone is padding. */
    bool patched = left >= 5 && end[-5] == 0xcc && end[-1] != 0xcc;
    /* Prefixes come before the opcode, so they need no look. */
    if (patched || (left >= 5 && (end[-5] == 0xe8 || end[-5] == 0x9a)) ||
        (left >= 3 && end[-3] == 0xe8) || (left >= 7 && end[-7] == 0x9a))
        return true;
    for (size_t n = 1; n <= 6 && n < left; n++) {
        const uint8_t *modrm = end - n;
        unsigned op = modrm[0] >> 3 & 7;

        if (modrm[-1] == 0xff && (op == 2 || op == 3) &&
            (gt_arch_x86_modrm_size(modrm, n) == n || gt_arch_x86_modrm_size16(modrm, n) == n))
            return true;
    }
    return false;
}
