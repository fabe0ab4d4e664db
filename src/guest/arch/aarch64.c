/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aarch64: every instruction is one little-endian 32-bit word, also where data is big-endian.
 *
 * Classification is by the top-level groups of the A64 encoding: branches (with pointer
 * authentication, FEAT_PAuth_LR and FEAT_CMPBR), exception generation, system register moves, and
 * those data-processing instructions in which register 31 as the destination means SP.
 *
 * A stack switch is a write of SP from anything but SP and x29. Compilers also write SP this way
 * within one stack (`mov sp, x19` after a variable-length array, `and sp, x9, #-32` to align a
 * frame); only the values of the stack pointers distinguish the two. Adding to SP itself (`add sp,
 * sp, x4`, which __builtin_eh_return emits) moves within a stack and is not a switch.
 */
#include "guest/arch/arch.h"

enum {
    REG_FP = 29,
    REG_SP = 31, /* XZR in most operands, SP in those looked at here */
};

/* Instructions whose destination (bits 4:0) may be SP. */
struct sp_writer {
    uint32_t mask, value;
    uint8_t source; /* the source register's lowest bit */
    bool logical;   /* with a bit mask, and source 31 is XZR, not SP */
};

static const struct sp_writer sp_writers[] = {
    {0x3f800000, 0x11000000, 5, false},  /* add, sub (immediate) */
    {0x3fe01000, 0x0b200000, 5, false},  /* add, sub (extended register), shifted by 0 to 3 */
    {0x3fe01c00, 0x0b201000, 5, false},  /* and by 4 */
    {0x7f800000, 0x12000000, 5, true},   /* and (immediate) */
    {0x7f800000, 0x32000000, 5, true},   /* orr (immediate); from XZR: mov sp, #constant */
    {0x7f800000, 0x52000000, 5, true},   /* eor (immediate) */
    {0xbfc0c000, 0x91800000, 5, false},  /* addg, subg */
    {0xffe0fc00, 0x9ac01000, 5, false},  /* irg */
    {0xbfe0e000, 0x9a002000, 5, false},  /* addpt, subpt */
    {0xffa0f000, 0x04205000, 16, false}, /* addvl, addpl, addsvl, addspl */
};

static uint32_t word_at(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* pc plus the signed word offset in the `width` bits of w from bit `low` up. */
static uint64_t target_at(uint64_t pc, uint32_t w, unsigned low, unsigned width)
{
    uint64_t field = (w >> low) & ((1u << width) - 1);
    uint64_t sign = (uint64_t)1 << (width - 1);

    return pc + ((field ^ sign) - sign) * 4;
}

/* Whether sf, N and imms of a logical immediate name a bit mask: an element of 2 to 64 bits, by the
 * highest bit of N:~imms, that is not all ones. */
static bool is_bit_mask(uint32_t w)
{
    unsigned n = (w >> 22) & 1, imms = (w >> 10) & 63;
    unsigned size = n << 6 | (~imms & 63), levels = 1;

    if (size < 2 || (n && !(w & 0x80000000)))
        return false;
    while (levels * 2 <= size)
        levels *= 2;
    return (imms & (levels - 1)) != levels - 1;
}

static bool switches_stack(uint32_t w)
{
    if ((w & 31) != REG_SP)
        return false;
    for (size_t i = 0; i < sizeof sp_writers / sizeof sp_writers[0]; i++) {
        const struct sp_writer *s = &sp_writers[i];
        unsigned from = (w >> s->source) & 31;

        if ((w & s->mask) != s->value)
            continue;
        if (s->logical)
            return from != REG_FP && is_bit_mask(w);
        return from != REG_FP && from != REG_SP;
    }
    return false;
}

/* The group "unconditional branch (register)": 1101011 opc:4 11111 op3:6 Rn:5 op4:5. */
static uint8_t branch_register(uint32_t w)
{
    unsigned opc = (w >> 21) & 15, op3 = (w >> 10) & 63, rn = (w >> 5) & 31, op4 = w & 31;
    bool plain = op3 == 0 && op4 == 0;
    bool authenticated = op3 == 2 || op3 == 3; /* key A, key B */
    bool zero_modifier = authenticated && op4 == 31;

    if (((w >> 16) & 31) != 31)
        return GT_INSN_OTHER;
    switch (opc) {
    case 0: /* br, braaz, brabz */
        return plain || zero_modifier ? GT_INSN_JUMP_INDIRECT : GT_INSN_OTHER;
    case 1: /* blr, blraaz, blrabz */
        return plain || zero_modifier ? GT_INSN_CALL_INDIRECT : GT_INSN_OTHER;
    case 2: /* ret xN; retaa, retab, and with op4 a register: retaasppc, retabsppc */
        return plain || (authenticated && rn == 31) ? GT_INSN_RETURN : GT_INSN_OTHER;
    case 4: /* eret, eretaa, eretab */
        return rn == 31 && (plain || zero_modifier) ? GT_INSN_EXCEPTION_RETURN : GT_INSN_OTHER;
    case 5: /* drps: leaves debug state */
        return rn == 31 && plain ? GT_INSN_EXCEPTION_RETURN : GT_INSN_OTHER;
    case 8: /* braa, brab */
        return authenticated ? GT_INSN_JUMP_INDIRECT : GT_INSN_OTHER;
    case 9: /* blraa, blrab */
        return authenticated ? GT_INSN_CALL_INDIRECT : GT_INSN_OTHER;
    default:
        return GT_INSN_OTHER;
    }
}

/* The group "exception generation": 11010100 opc:3 imm16 op2:3 LL:2. */
static uint8_t exception_generation(uint32_t w)
{
    unsigned opc = (w >> 21) & 7, low = w & 31;

    if (opc == 0 && low >= 1 && low <= 3) /* svc, hvc, smc */
        return GT_INSN_SYSCALL;
    if ((opc == 1 || opc == 2) && low == 0) /* brk, hlt */
        return GT_INSN_TRAP;
    return GT_INSN_OTHER;
}

/* FEAT_CMPBR: sf 111010 i cc:3 ... imm9 Rt; i = 0 compares registers, whole or their low byte or
 * halfword, i = 1 a register and a constant. */
static bool compares_and_branches(uint32_t w)
{
    unsigned cc = (w >> 21) & 7, form = (w >> 14) & 3;

    if ((w & 0x7e000000) != 0x74000000 || cc == 4 || cc == 5)
        return false;
    if (w & 0x01000000)
        return (form & 1) == 0;
    return form == 0 || (form >= 2 && !(w & 0x80000000));
}

static bool writes_vector_base(uint32_t w)
{
    switch (w & 0xffffffe0) {
    case 0xd518c000: /* msr vbar_el1 */
    case 0xd51cc000: /* msr vbar_el2 */
    case 0xd51dc000: /* msr vbar_el12 */
    case 0xd51ec000: /* msr vbar_el3 */
        return true;
    default:
        return false;
    }
}

/* Branches whose target is in the instruction: fills kind and target. */
static bool branch_immediate(uint32_t w, uint64_t pc, struct gt_arch_insn *out)
{
    if ((w & 0x7c000000) == 0x14000000) {
        out->kind = w & 0x80000000 ? GT_INSN_CALL : GT_INSN_JUMP;
        out->target = target_at(pc, w, 0, 26);
    } else if ((w & 0xff000000) == 0x54000000) {
        /* b.cond, bc.cond: conditions 14 and 15 both mean always */
        out->kind = (w & 14) == 14 ? GT_INSN_JUMP : GT_INSN_BRANCH;
        out->target = target_at(pc, w, 5, 19);
    } else if ((w & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
        out->kind = GT_INSN_BRANCH;
        out->target = target_at(pc, w, 5, 19);
    } else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        out->kind = GT_INSN_BRANCH;
        out->target = target_at(pc, w, 5, 14);
    } else if (compares_and_branches(w)) {
        out->kind = GT_INSN_BRANCH;
        out->target = target_at(pc, w, 5, 9);
    } else {
        return false;
    }
    return true;
}

static void classify(const uint8_t *bytes, size_t size, uint64_t pc, struct gt_arch_insn *out)
{
    *out = (struct gt_arch_insn){.kind = GT_INSN_OTHER};
    if (size < 4)
        return;

    uint32_t w = word_at(bytes);

    if (branch_immediate(w, pc, out))
        return;
    if ((w & 0xfe000000) == 0xd6000000)
        out->kind = branch_register(w);
    else if ((w & 0xff000000) == 0xd4000000)
        out->kind = exception_generation(w);
    else if ((w & 0xffc0001f) == 0x5500001f) /* retaasppc, retabsppc with an immediate */
        out->kind = GT_INSN_RETURN;
    else if ((w & 0xffff0000) == 0) /* udf */
        out->kind = GT_INSN_TRAP;
    else if (writes_vector_base(w))
        out->kind = GT_INSN_VECTOR_WRITE;
    else if (switches_stack(w))
        out->kind = GT_INSN_STACK_SWITCH;
}

static bool may_follow_call(const uint8_t *end, size_t left)
{
    struct gt_arch_insn insn;

    if (left < 4)
        return false;
    classify(end - 4, 4, 0, &insn);
    return insn.kind == GT_INSN_CALL || insn.kind == GT_INSN_CALL_INDIRECT;
}

/* mov xN, sp, and eor of it with a secret, as glibc's setjmp has it; str, stur and stp of 64-bit
 * registers with any addressing but by sp. */
static uint8_t stack_use(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    if (size < 4)
        return GT_STACK_OTHER;
    uint32_t w = word_at(bytes);
    unsigned rd = w & 31, rn = w >> 5 & 31, rt2 = w >> 10 & 31;
    bool one = (w & 0xffc00000) == 0xf9000000 || (w & 0xffe00000) == 0xf8000000;
    bool pair = (w & 0xfe400000) == 0xa8000000;
    if (one || pair) {
        bool copy = *copies >> rd & 1 || (pair && *copies >> rt2 & 1);
        return copy && rn != REG_SP ? GT_STACK_STORED : GT_STACK_OTHER;
    }
    bool mixed = (w & 0xffe0fc00) == 0xca000000 && *copies >> rn & 1;
    *copies &= ~(UINT32_C(1) << rd);
    if (((w & 0xffffffe0) == 0x910003e0 || mixed) && rd != REG_SP)
        *copies |= UINT32_C(1) << rd;
    return GT_STACK_OTHER;
}

/* add and sub of a constant, 12 bits that may be shifted by 12. */
static bool adds_constant(uint32_t w, int32_t *by)
{
    if ((w & 0xbf8003ff) != 0x910003ff)
        return false;
    int32_t n = (int32_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
    *by = w & 0x40000000 ? -n : n;
    return true;
}

static int32_t signed_field(uint32_t w, unsigned low, unsigned width)
{
    uint32_t field = w >> low & ((1u << width) - 1), sign = 1u << (width - 1);
    return (int32_t)(field ^ sign) - (int32_t)sign;
}

/* ldr, str, ldp, stp of registers of 64 bits, and ldp, stp of vectors, whose base is sp. */
static void access_step(uint32_t w, struct gt_arch_sp_step *out)
{
    bool vector = w >> 26 & 1;
    int32_t offset, size = 8;
    unsigned form; /* 1: after, 3: before, else: sp stays */

    if ((w & 0x3a000000) == 0x28000000) {
        size = vector ? 4 << (w >> 30) : w >> 31 ? 8 : 4;
        offset = signed_field(w, 15, 7) * size;
        form = w >> 23 & 3;
    } else if ((w & 0xff200000) == 0xf8000000 && (w >> 10 & 3) != 2) {
        offset = signed_field(w, 12, 9);
        form = w >> 10 & 3;
    } else if ((w & 0xff000000) == 0xf9000000) {
        offset = (int32_t)(w >> 10 & 0xfff) * 8;
        form = 0;
    } else {
        return;
    }
    out->accesses = true;
    out->at = form == 1 ? 0 : offset;
    out->by = form == 1 || form == 3 ? offset : 0;
}

static void sp_step(const uint8_t *bytes, size_t size, struct gt_arch_sp_step *out)
{
    uint32_t w = size < 4 ? 0 : word_at(bytes);

    *out = (struct gt_arch_sp_step){0};
    if ((w >> 5 & 31) == REG_SP && !adds_constant(w, &out->by))
        access_step(w, out);
    for (size_t i = 0; i < sizeof sp_writers / sizeof sp_writers[0] && (w & 31) == REG_SP; i++)
        out->unknown |= (w & sp_writers[i].mask) == sp_writers[i].value && !out->by;
    out->by_register = (w & 0xffe0ffff) == 0x8b2063ff; /* add sp, sp, xN */
    out->links = (w & 0xffffffe0) == 0xaa1e03e0;       /* mov xN, x30 */
}

/* br x30 */
static bool jumps_by_link(const uint8_t *bytes, size_t size)
{
    return size >= 4 && (word_at(bytes) & 0xffffffe0) == 0xd61f03c0;
}

static bool is_plain_access(const uint8_t *bytes, size_t size)
{
    return size >= 4 && (word_at(bytes) >> 25 & 5) == 4;
}

/* ---- vectors ------------------------------------------------------------------------------- */

enum { SLOTS = 16, SLOT_SIZE = 128, TABLE_SIZE = SLOTS * SLOT_SIZE };

static bool is_vector(uint64_t table, uint64_t pc)
{
    return pc - table < TABLE_SIZE && pc % SLOT_SIZE == 0;
}

/* Padding, or an instruction that control does not pass. */
static bool ends_slot(const uint8_t *last)
{
    const uint32_t nop = 0xd503201f;
    struct gt_arch_insn insn;

    classify(last, 4, 0, &insn);
    return word_at(last) == nop || insn.kind == GT_INSN_JUMP ||
           insn.kind == GT_INSN_JUMP_INDIRECT || insn.kind == GT_INSN_RETURN ||
           insn.kind == GT_INSN_EXCEPTION_RETURN || insn.kind == GT_INSN_TRAP;
}

/* No slot of its table runs on into the next one. The last four, of programs of 32 bits, may be
 * missing. */
static bool begins_handler(const uint8_t *bytes, size_t at)
{
    enum { LEAST = 12 };
    const uint8_t *table = bytes - at % TABLE_SIZE;
    for (size_t i = 1; i < LEAST; i++)
        if (!ends_slot(table + i * SLOT_SIZE - 4))
            return false;
    return word_at(bytes) != 0;
}

const struct gt_arch gt_arch_aarch64 = {
    .name = "aarch64",
    .qemu_names = (const char *const[]){"aarch64", NULL},
    .e_machine = 183, /* EM_AARCH64 */
    .bits = 64,
    .insn_min = 4,
    .insn_max = 4,
    .signal_pc = 568,
    .signal_sp = 560,
    .signal_link = 552,
    .sp_register = "sp",
    .fp_registers = (const char *const[]){"x29", "fp", NULL},
    .classify = classify,
    .may_follow_call = may_follow_call,
    .stack_use = stack_use,
    .sp_copies = ~(UINT32_C(1) << REG_SP | UINT32_C(1) << REG_FP),
    .sp_step = sp_step,
    .jumps_by_link = jumps_by_link,
    .is_plain_access = is_plain_access,
    .vector_registers = (const char *const[]){"VBAR", "VBAR_EL1", "VBAR_EL2", "VBAR_EL3", NULL},
    .is_vector = is_vector,
    .begins_handler = begins_handler,
    .vector_align = SLOT_SIZE,
    .vector_align_high = SLOT_SIZE,
    .vector_table = TABLE_SIZE,
    .returned_sp = "SP_EL0",
    .first_argument = "x0",
    .second_argument = "x1",
};
