/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * riscv64: little-endian instructions of 32 bits (low bits 11) and, compressed, of 16.
 *
 * The registers distinguish calls and returns, by the specification's return-address hints: ra (x1)
 * and t0 (x5) are link registers. jal and jalr that write one are calls; jalr that writes none and
 * jumps through one is a return; any other jalr is an indirect jump. A jalr that writes one link
 * register and jumps through the other, which the hints call a coroutine swap, counts as an
 * indirect call. Of a pair auipc, jalr only the jalr counts: an indirect call or jump.
 *
 * A stack switch is a write of sp from anything but sp and s0: another register, a constant, a CSR,
 * or memory. A load counts with any base, even sp (c.ldsp sp, at the end of a trap handler):
 * compiled code restores sp by adding, so a loaded sp belongs to another stack. The first half of
 * `la sp, symbol` (auipc sp) is a stack switch as well; the addi after it then moves sp within the
 * new stack.
 *
 * The Zcmp and Zcmt instructions (cm.popret, cm.jt, ...) use the encodings of c.fsdsp, which a
 * riscv64 system with doubles has, as every Linux one does. The bytes alone do not distinguish
 * them, so they are not decoded: they are GT_INSN_OTHER.
 */
#include "guest/arch/arch.h"

#include "guest/arch/riscv64_pages.h"

enum {
    REG_RA = 1,
    REG_SP = 2,
    REG_T0 = 5,
    REG_FP = 8,
};

/* Major opcodes: bits 6:0 of a 32-bit instruction. */
enum {
    OP_LOAD = 0x03,
    OP_IMM = 0x13,
    OP_AUIPC = 0x17,
    OP_IMM_32 = 0x1b,
    OP_AMO = 0x2f,
    OP_REG = 0x33,
    OP_LUI = 0x37,
    OP_REG_32 = 0x3b,
    OP_BRANCH = 0x63,
    OP_JALR = 0x67,
    OP_JAL = 0x6f,
    OP_SYSTEM = 0x73,
};

static uint32_t half_at(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static unsigned field(uint32_t w, unsigned low, unsigned width)
{
    return (w >> low) & ((1u << width) - 1);
}

/* `value`, whose sign is its bit `bit`, to 64 bits. */
static uint64_t sign_extend(uint32_t value, unsigned bit)
{
    uint64_t sign = (uint64_t)1 << bit;

    return (value ^ sign) - sign;
}

static bool is_link(unsigned reg)
{
    return reg == REG_RA || reg == REG_T0;
}

static bool keeps_stack(unsigned reg)
{
    return reg == REG_SP || reg == REG_FP;
}

static uint8_t jump_register(unsigned rd, unsigned rs1)
{
    if (is_link(rd))
        return GT_INSN_CALL_INDIRECT;
    return is_link(rs1) ? GT_INSN_RETURN : GT_INSN_JUMP_INDIRECT;
}

static uint8_t environment(uint32_t w)
{
    switch (w) {
    case 0x00000073: /* ecall */
        return GT_INSN_SYSCALL;
    case 0x00100073: /* ebreak */
        return GT_INSN_TRAP;
    case 0x00200073: /* uret */
    case 0x10200073: /* sret */
    case 0x30200073: /* mret */
    case 0x70200073: /* mnret */
    case 0x7b200073: /* dret */
        return GT_INSN_EXCEPTION_RETURN;
    default:
        return GT_INSN_OTHER;
    }
}

static bool is_vector_base(unsigned csr)
{
    switch (csr) {
    case 0x005: /* utvec */
    case 0x105: /* stvec */
    case 0x205: /* vstvec */
    case 0x305: /* mtvec */
        return true;
    default:
        return false;
    }
}

static uint8_t system_insn(uint32_t w)
{
    unsigned rd = field(w, 7, 5), funct3 = field(w, 12, 3), rs1 = field(w, 15, 5);
    /* set and clear with x0 or 0 only read */
    bool writes = (funct3 & 3) == 1 || rs1 != 0;

    if (funct3 == 0)
        return environment(w);
    if (funct3 == 4) /* hypervisor loads and stores, may-be-operations */
        return GT_INSN_OTHER;
    if (w == 0xc0001073) /* unimp: a write of the read-only cycle counter */
        return GT_INSN_TRAP;
    if (writes && is_vector_base(field(w, 20, 12)))
        return GT_INSN_VECTOR_WRITE;
    return rd == REG_SP ? GT_INSN_STACK_SWITCH : GT_INSN_OTHER;
}

/* Whether a 32-bit instruction of those that compute or load a register sets sp anew. */
static bool switches_stack(uint32_t w)
{
    unsigned funct3 = field(w, 12, 3), rs1 = field(w, 15, 5), rs2 = field(w, 20, 5);

    if (field(w, 7, 5) != REG_SP)
        return false;
    switch (w & 0x7f) {
    case OP_LOAD:
        return funct3 != 7;
    case OP_AUIPC:
    case OP_LUI:
        return true;
    case OP_AMO:
        return field(w, 27, 5) != 3; /* but sc, which gives success or failure */
    case OP_IMM:
    case OP_IMM_32:
        return !keeps_stack(rs1);
    case OP_REG:
    case OP_REG_32:
        return !keeps_stack(rs1) && !keeps_stack(rs2);
    default:
        return false;
    }
}

static void classify_word(uint32_t w, uint64_t pc, struct gt_arch_insn *out)
{
    unsigned rd = field(w, 7, 5), funct3 = field(w, 12, 3);

    switch (w & 0x7f) {
    case OP_JAL:
        out->kind = is_link(rd) ? GT_INSN_CALL : GT_INSN_JUMP;
        out->target = pc + sign_extend(field(w, 31, 1) << 20 | field(w, 12, 8) << 12 |
                                           field(w, 20, 1) << 11 | field(w, 21, 10) << 1,
                                       20);
        break;
    case OP_JALR:
        if (funct3 == 0)
            out->kind = jump_register(rd, field(w, 15, 5));
        break;
    case OP_BRANCH:
        if (funct3 == 2 || funct3 == 3)
            break;
        out->kind = GT_INSN_BRANCH;
        out->target = pc + sign_extend(field(w, 31, 1) << 12 | field(w, 7, 1) << 11 |
                                           field(w, 25, 6) << 5 | field(w, 8, 4) << 1,
                                       12);
        break;
    case OP_SYSTEM:
        out->kind = system_insn(w);
        break;
    default:
        if (switches_stack(w))
            out->kind = GT_INSN_STACK_SWITCH;
    }
}

/* c.jr, c.jalr, c.mv, c.add and c.ebreak share one encoding: the zero fields distinguish them. */
static uint8_t compressed_register(uint32_t h)
{
    unsigned rd = field(h, 7, 5), rs2 = field(h, 2, 5);
    bool links_or_adds = field(h, 12, 1);

    if (rs2 == 0 && rd == 0)
        return links_or_adds ? GT_INSN_TRAP : GT_INSN_OTHER;
    if (rs2 == 0)
        return jump_register(links_or_adds ? REG_RA : 0, rd);
    if (!links_or_adds && rd == REG_SP && !keeps_stack(rs2)) /* c.mv sp, rs2 */
        return GT_INSN_STACK_SWITCH;
    return GT_INSN_OTHER;
}

static uint64_t compressed_jump_offset(uint32_t h)
{
    return sign_extend(field(h, 12, 1) << 11 | field(h, 8, 1) << 10 | field(h, 9, 2) << 8 |
                           field(h, 6, 1) << 7 | field(h, 7, 1) << 6 | field(h, 2, 1) << 5 |
                           field(h, 11, 1) << 4 | field(h, 3, 3) << 1,
                       11);
}

static uint64_t compressed_branch_offset(uint32_t h)
{
    return sign_extend(field(h, 12, 1) << 8 | field(h, 5, 2) << 6 | field(h, 2, 1) << 5 |
                           field(h, 10, 2) << 3 | field(h, 3, 2) << 1,
                       8);
}

static void classify_half(uint32_t h, uint64_t pc, struct gt_arch_insn *out)
{
    unsigned rd = field(h, 7, 5);

    if (h == 0) { /* c.unimp: illegal for ever */
        out->kind = GT_INSN_TRAP;
        return;
    }
    switch (h & 0xe003) {
    case 0x4001: /* c.li */
    case 0x4002: /* c.lwsp */
    case 0x6002: /* c.ldsp */
        if (rd == REG_SP)
            out->kind = GT_INSN_STACK_SWITCH;
        break;
    case 0xa001: /* c.j */
        out->kind = GT_INSN_JUMP;
        out->target = pc + compressed_jump_offset(h);
        break;
    case 0xc001: /* c.beqz */
    case 0xe001: /* c.bnez */
        out->kind = GT_INSN_BRANCH;
        out->target = pc + compressed_branch_offset(h);
        break;
    case 0x8002:
        out->kind = compressed_register(h);
        break;
    default:
        break;
    }
}

static void classify(const uint8_t *bytes, size_t size, uint64_t pc, struct gt_arch_insn *out)
{
    *out = (struct gt_arch_insn){.kind = GT_INSN_OTHER};
    if (size < 2)
        return;
    if ((bytes[0] & 3) != 3)
        classify_half(half_at(bytes), pc, out);
    else if (size >= 4)
        classify_word(half_at(bytes) | half_at(bytes + 2) << 16, pc, out);
}

static bool is_call(const uint8_t *bytes, size_t size)
{
    struct gt_arch_insn insn;

    classify(bytes, size, 0, &insn);
    return insn.kind == GT_INSN_CALL || insn.kind == GT_INSN_CALL_INDIRECT;
}

static bool may_follow_call(const uint8_t *end, size_t left)
{
    /* A 32-bit call's upper half may look like a compressed one, so both lengths are tried. */
    if (left >= 4 && (end[-4] & 3) == 3 && is_call(end - 4, 4))
        return true;
    return left >= 2 && is_call(end - 2, 2);
}

/* mv rd, sp; sd and c.sd with any base but sp; ld sp, N(sp). */
static uint8_t stack_use(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    uint32_t w = size < 2 ? 0 : half_at(bytes);
    if (size >= 4)
        w |= half_at(bytes + 2) << 16;
    unsigned rd = field(w, 7, 5), rs1 = field(w, 15, 5), rs2 = field(w, 20, 5);
    *copies |= 1u << REG_SP;
    if ((w & 3) != 3) {
        if ((w & 0xe003) == 0x6002 && rd == REG_SP) /* c.ldsp sp */
            return GT_STACK_OWN;
        if ((w & 0xe003) == 0xe000) /* c.sd */
            return *copies >> (8 + field(w, 2, 3)) & 1 ? GT_STACK_STORED : GT_STACK_OTHER;
        *copies &= ~(UINT32_C(1) << rd);
        if ((w & 0xf003) == 0x8002 && field(w, 2, 5) == REG_SP) /* c.mv rd, sp */
            *copies |= UINT32_C(1) << rd;
        return GT_STACK_OTHER;
    }
    if ((w & 0x707f) == 0x3023) /* sd */
        return *copies >> rs2 & 1 && rs1 != REG_SP ? GT_STACK_STORED : GT_STACK_OTHER;
    if ((w & 0x707f) == 0x3003 && rd == REG_SP && rs1 == REG_SP)
        return GT_STACK_OWN;
    *copies &= ~(UINT32_C(1) << rd);
    if ((w & 0xfffff07f) == 0x00010013) /* addi rd, sp, 0 */
        *copies |= UINT32_C(1) << rd;
    return GT_STACK_OTHER;
}

/* c.addi, c.addi16sp, c.ldsp, c.sdsp, c.fldsp, c.fsdsp, c.mv from a link register. */
static void half_step(uint32_t h, struct gt_arch_sp_step *out)
{
    unsigned rd = field(h, 7, 5);

    switch (h & 0xe003) {
    case 0x0001:
        if (rd == REG_SP)
            out->by = (int32_t)sign_extend(field(h, 12, 1) << 5 | field(h, 2, 5), 5);
        break;
    case 0x6001:
        if (rd == REG_SP)
            out->by = (int32_t)sign_extend(field(h, 12, 1) << 9 | field(h, 3, 2) << 7 |
                                               field(h, 5, 1) << 6 | field(h, 2, 1) << 5 |
                                               field(h, 6, 1) << 4,
                                           9);
        break;
    case 0x2002:
    case 0x6002:
        out->accesses = true;
        out->at = (int32_t)(field(h, 2, 3) << 6 | field(h, 12, 1) << 5 | field(h, 5, 2) << 3);
        break;
    case 0xa002:
    case 0xe002:
        out->accesses = true;
        out->at = (int32_t)(field(h, 7, 3) << 6 | field(h, 10, 3) << 3);
        break;
    case 0x8002:
        out->links = !field(h, 12, 1) && is_link(field(h, 2, 5));
        break;
    default:
        break;
    }
}

static void word_step(uint32_t w, struct gt_arch_sp_step *out)
{
    unsigned rd = field(w, 7, 5), rs1 = field(w, 15, 5);

    if ((w & 0x707f) == 0x3003 || (w & 0x707f) == 0x3007) { /* ld, fld */
        out->accesses = rs1 == REG_SP;
        out->at = (int32_t)sign_extend(field(w, 20, 12), 11);
    } else if ((w & 0x707f) == 0x3023 || (w & 0x707f) == 0x3027) { /* sd, fsd */
        out->accesses = rs1 == REG_SP;
        out->at = (int32_t)sign_extend(field(w, 25, 7) << 5 | field(w, 7, 5), 11);
    } else if ((w & 0x707f) == 0x0013 && rd == REG_SP && rs1 == REG_SP) { /* addi */
        out->by = (int32_t)sign_extend(field(w, 20, 12), 11);
    } else {
        out->by_register = (w & 0xfe0fffff) == 0x00010133 || /* add sp, sp, rN; add sp, rN, sp */
                           (w & 0xfff07fff) == 0x00200133;
        out->links = (w & 0xfff0707f) == 0x00000013 && is_link(rs1); /* mv */
    }
}

static void sp_step(const uint8_t *bytes, size_t size, struct gt_arch_sp_step *out)
{
    struct gt_arch_insn insn;

    *out = (struct gt_arch_sp_step){0};
    if (size < 2)
        return;
    if ((bytes[0] & 3) != 3)
        half_step(half_at(bytes), out);
    else if (size >= 4)
        word_step(half_at(bytes) | half_at(bytes + 2) << 16, out);
    classify(bytes, size, 0, &insn);
    out->unknown |= out->by_register || insn.kind == GT_INSN_STACK_SWITCH;
    uint32_t w = half_at(bytes);
    if ((w & 0xef83) == 0x8102 && w & 0x7c) { /* c.mv sp, rN; c.add sp, rN */
        out->unknown = true;
        out->by_register = w >> 12 & 1;
    }
    bool computes = (w & 0x7f) == OP_IMM || (w & 0x7f) == OP_REG;
    out->unknown |= computes && field(w, 7, 5) == REG_SP && !out->by;
}

/* Loads and stores of integers and of floating point; the compressed ones stand apart from
 * c.addi4spn, c.slli and the jumps. */
static bool is_plain_access(const uint8_t *bytes, size_t size)
{
    if (size < 2)
        return false;
    uint32_t h = half_at(bytes);
    unsigned quadrant = h & 3, funct3 = field(h, 13, 3);
    if (quadrant == 3)
        return field(h, 0, 7) == 0x03 || field(h, 0, 7) == 0x07 || field(h, 0, 7) == 0x23 ||
               field(h, 0, 7) == 0x27;
    return quadrant != 1 && funct3 != 0 && funct3 != 4;
}

/* ---- vectors ------------------------------------------------------------------------------- */

/* With mode 1 interrupts have a vector each. */
static bool is_vector(uint64_t value, uint64_t pc)
{
    enum { INTERRUPTS = 64 };
    uint64_t past = pc - (value & ~(uint64_t)3);
    return past == 0 || ((value & 3) == 1 && past < INTERRUPTS * 4 && past % 4 == 0);
}

/* A control register of a privileged level, which handlers exchange with one of their own. */
static bool is_privileged(uint32_t w)
{
    return field(w, 0, 7) == 0x73 && field(w, 12, 3) % 4 != 0 && field(w, 28, 2) != 0;
}

/* Saves a register to the stack whose value no caller passes on: gp, tp, t0 to t6. */
static bool saves_temporary(uint32_t w)
{
    const uint32_t temporaries = UINT32_C(0xf00000f8);
    bool wide = (w & 3) == 3;
    if (wide ? field(w, 0, 7) != 0x23 || field(w, 13, 2) != 1 || field(w, 15, 5) != REG_SP
             : (w & 3) != 2 || field(w, 13, 3) < 6)
        return false;
    return temporaries >> (wide ? field(w, 20, 5) : field(w, 2, 5)) & 1;
}

static bool begins_handler(const uint8_t *bytes, size_t at)
{
    enum { MOST = 8, PAGE = 4096 };
    struct gt_arch_insn insn = {.kind = GT_INSN_OTHER};
    for (unsigned n = 0; n < MOST && at + 4 <= PAGE && insn.kind == GT_INSN_OTHER; n++) {
        uint32_t w = half_at(bytes) | half_at(bytes + 2) << 16;
        size_t size = (w & 3) == 3 ? 4 : 2;
        if ((n == 0 && is_privileged(w)) || saves_temporary(size == 4 ? w : w & 0xffff))
            return true;
        classify(bytes, size, 0, &insn);
        bytes += size;
        at += size;
    }
    return false;
}

const struct gt_arch gt_arch_riscv64 = {
    .name = "riscv64",
    .qemu_names = (const char *const[]){"riscv64", NULL},
    .e_machine = 243, /* EM_RISCV */
    .bits = 64,
    .insn_min = 2,
    .insn_max = 4,
    .signal_pc = 304,
    .signal_sp = 320,
    .signal_link = 312,
    .sp_register = "sp",
    .fp_registers = (const char *const[]){"fp", "s0", "x8", NULL},
    .classify = classify,
    .may_follow_call = may_follow_call,
    .stack_use = stack_use,
    .sp_copies = ~(UINT32_C(1) << REG_SP | UINT32_C(1) << REG_FP),
    .sp_step = sp_step,
    .is_plain_access = is_plain_access,
    .vector_registers = (const char *const[]){"stvec", "mtvec", "vstvec", NULL},
    .is_vector = is_vector,
    .begins_handler = begins_handler,
    .vector_align = 4,
    .vector_align_high = 4,
    .returned_sp = "sp",
    .first_argument = "a0",
    .second_argument = "a1",
};

/*
 * Page tables of riscv64: see riscv64_pages.h.
 *
 *     satp   63:60 mode (8: Sv39, 9: Sv48, 10: Sv57)   43:0 page number of the root
 *     entry  63 N   62:61 PBMT   53:10 page number   4 U   3 X   2 W   1 R   0 V
 */

enum { V = 1, R = 2, W = 4, X = 8, U = 16, PAGE_BITS = 12, INDEX_BITS = 9 };

#define N           ((uint64_t)1 << 63)
#define PBMT        ((uint64_t)3 << 61)
#define PAGE_NUMBER ((UINT64_C(1) << 44) - 1)

/* Levels of tables; 0: addresses are not translated, or the mode is unknown. */
static int levels_of(uint64_t satp)
{
    uint64_t mode = satp >> 60;
    return mode >= 8 && mode <= 10 ? (int)mode - 5 : 0;
}

/* The bits above the translated ones are all like the highest of these. */
static bool is_canonical(uint64_t addr, int levels)
{
    int above = 64 - (PAGE_BITS + levels * INDEX_BITS);
    return (uint64_t)((int64_t)(addr << above) >> above) == addr;
}

/* The address in the page that a leaf at that level, 0 the lowest, maps. */
static bool in_leaf(uint64_t entry, int level, uint64_t addr, uint64_t *physical)
{
    uint64_t number = entry >> 10 & PAGE_NUMBER;
    uint64_t low =
        ((uint64_t)1 << level * INDEX_BITS) - 1; /* of the number: the address has them */
    if (!(entry & U) || !(entry & R) || entry & PBMT || number & low)
        return false;
    if (entry & N) { /* 16 pages: the number's low bits are 1000 */
        if (level || (number & 15) != 8)
            return false;
        low = 15;
    }
    *physical = ((number & ~low) | (addr >> PAGE_BITS & low)) << PAGE_BITS |
                (addr & ((1 << PAGE_BITS) - 1));
    return true;
}

bool gt_arch_riscv64_user_page(uint64_t satp, uint64_t addr, gt_arch_read_physical_u64 *read,
                               void *self, uint64_t *physical)
{
    uint64_t table = (satp & PAGE_NUMBER) << PAGE_BITS, entry;
    int levels = levels_of(satp);
    if (!levels || !is_canonical(addr, levels))
        return false;
    for (int level = levels - 1; level >= 0; level--) {
        uint64_t index = addr >> (PAGE_BITS + level * INDEX_BITS) & ((1 << INDEX_BITS) - 1);
        if (!read(self, table + index * sizeof entry, &entry) || !(entry & V))
            return false;
        if (entry & (R | W | X))
            return in_leaf(entry, level, addr, physical);
        if (entry & (N | PBMT)) /* reserved in a pointer to a table */
            return false;
        table = (entry >> 10 & PAGE_NUMBER) << PAGE_BITS;
    }
    return false;
}
