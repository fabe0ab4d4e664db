/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classification of riscv64 by words encoded by hand; tests/oracle has the masses. */
#include "arch_samples.h"

static void jumps(void **state)
{
    static const struct sample samples[] = {
        {0x008000ef, GT_INSN_CALL, 8},          /* jal ra, .+8 */
        {0xff9ff2ef, GT_INSN_CALL, -8},         /* jal t0, .-8 */
        {0x800000ef, GT_INSN_CALL, -0x100000},  /* jal ra, farthest back */
        {0x7ffff0ef, GT_INSN_CALL, 0xffffe},    /* jal ra, farthest ahead */
        {0x0080006f, GT_INSN_JUMP, 8},          /* j .+8 */
        {0x0080036f, GT_INSN_JUMP, 8},          /* jal t1, .+8 */
        {0x000500e7, GT_INSN_CALL_INDIRECT, 0}, /* jalr a0 */
        {0xff8080e7, GT_INSN_CALL_INDIRECT, 0}, /* jalr -8(ra): the second half of a far call */
        {0x000502e7, GT_INSN_CALL_INDIRECT, 0}, /* jalr t0, a0 */
        {0x000280e7, GT_INSN_CALL_INDIRECT, 0}, /* jalr ra, t0: a swap of coroutines */
        {0x000082e7, GT_INSN_CALL_INDIRECT, 0}, /* jalr t0, ra: likewise */
        {0x00008067, GT_INSN_RETURN, 0},        /* ret */
        {0x00028067, GT_INSN_RETURN, 0},        /* jr t0 */
        {0x00408067, GT_INSN_RETURN, 0},        /* jr 4(ra) */
        {0x00008367, GT_INSN_RETURN, 0},        /* jalr t1, ra */
        {0x00050067, GT_INSN_JUMP_INDIRECT, 0}, /* jr a0 */
        {0x000e0367, GT_INSN_JUMP_INDIRECT, 0}, /* jalr t1, t3: an entry of the PLT */
        {0x000510e7, GT_INSN_OTHER, 0},         /* jalr with funct3 = 1 */
        {0x00b50463, GT_INSN_BRANCH, 8},        /* beq a0, a1, .+8 */
        {0xfeb51ce3, GT_INSN_BRANCH, -8},       /* bne a0, a1, .-8 */
        {0x80b54063, GT_INSN_BRANCH, -4096},    /* blt, farthest back */
        {0x7eb55fe3, GT_INSN_BRANCH, 4094},     /* bge, farthest ahead */
        {0x00b56463, GT_INSN_BRANCH, 8},        /* bltu */
        {0x00b57463, GT_INSN_BRANCH, 8},        /* bgeu */
        {0x00b52463, GT_INSN_OTHER, 0},         /* funct3 = 2 */
        {0x00b53463, GT_INSN_OTHER, 0},         /* funct3 = 3 */
    };

    (void)state;
    check_samples(&gt_arch_riscv64, samples, sizeof samples / sizeof samples[0]);
}

static void compressed(void **state)
{
    static const struct sample samples[] = {
        {0x0000, GT_INSN_TRAP, 0},          /* c.unimp */
        {0x9002, GT_INSN_TRAP, 0},          /* c.ebreak */
        {0xa021, GT_INSN_JUMP, 8},          /* c.j .+8 */
        {0xbfe5, GT_INSN_JUMP, -8},         /* c.j .-8 */
        {0xb001, GT_INSN_JUMP, -2048},      /* c.j, farthest back */
        {0xaffd, GT_INSN_JUMP, 2046},       /* c.j, farthest ahead */
        {0xc401, GT_INSN_BRANCH, 8},        /* c.beqz s0, .+8 */
        {0xfc65, GT_INSN_BRANCH, -8},       /* c.bnez s0, .-8 */
        {0xd001, GT_INSN_BRANCH, -256},     /* c.beqz, farthest back */
        {0xec7d, GT_INSN_BRANCH, 254},      /* c.bnez, farthest ahead */
        {0x8082, GT_INSN_RETURN, 0},        /* c.jr ra */
        {0x8282, GT_INSN_RETURN, 0},        /* c.jr t0 */
        {0x8782, GT_INSN_JUMP_INDIRECT, 0}, /* c.jr a5 */
        {0x9782, GT_INSN_CALL_INDIRECT, 0}, /* c.jalr a5 */
        {0x9082, GT_INSN_CALL_INDIRECT, 0}, /* c.jalr ra */
        {0x8002, GT_INSN_OTHER, 0},         /* c.jr x0, reserved */
        {0x812a, GT_INSN_STACK_SWITCH, 0},  /* c.mv sp, a0 */
        {0x8122, GT_INSN_OTHER, 0},         /* c.mv sp, s0 */
        {0x850a, GT_INSN_OTHER, 0},         /* c.mv a0, sp */
        {0x912a, GT_INSN_OTHER, 0},         /* c.add sp, a0 */
        {0x6142, GT_INSN_STACK_SWITCH, 0},  /* c.ldsp sp, 16 */
        {0x4142, GT_INSN_STACK_SWITCH, 0},  /* c.lwsp sp, 16 */
        {0x60a2, GT_INSN_OTHER, 0},         /* c.ldsp ra, 8 */
        {0x4101, GT_INSN_STACK_SWITCH, 0},  /* c.li sp, 0 */
        {0x6105, GT_INSN_OTHER, 0},         /* c.addi16sp 32 */
        {0x1101, GT_INSN_OTHER, 0},         /* c.addi sp, -32 */
        {0x2101, GT_INSN_OTHER, 0},         /* c.addiw sp, 0: c.jal where 32 bits */
        {0xbe42, GT_INSN_OTHER, 0},         /* c.fsdsp: cm.popret's encoding space */
        {0xa002, GT_INSN_OTHER, 0},         /* c.fsdsp: cm.jt's encoding space */
        {0x0001, GT_INSN_OTHER, 0},         /* c.nop */
    };

    (void)state;
    check_samples(&gt_arch_riscv64, samples, sizeof samples / sizeof samples[0]);
}

static void system_insns(void **state)
{
    static const struct sample samples[] = {
        {0x00000073, GT_INSN_SYSCALL, 0},          /* ecall */
        {0x00100073, GT_INSN_TRAP, 0},             /* ebreak */
        {0xc0001073, GT_INSN_TRAP, 0},             /* unimp */
        {0x00200073, GT_INSN_EXCEPTION_RETURN, 0}, /* uret */
        {0x10200073, GT_INSN_EXCEPTION_RETURN, 0}, /* sret */
        {0x30200073, GT_INSN_EXCEPTION_RETURN, 0}, /* mret */
        {0x70200073, GT_INSN_EXCEPTION_RETURN, 0}, /* mnret */
        {0x7b200073, GT_INSN_EXCEPTION_RETURN, 0}, /* dret */
        {0x10500073, GT_INSN_OTHER, 0},            /* wfi */
        {0x12000073, GT_INSN_OTHER, 0},            /* sfence.vma */
        {0x00551073, GT_INSN_VECTOR_WRITE, 0},     /* csrw utvec, a0 */
        {0x10551073, GT_INSN_VECTOR_WRITE, 0},     /* csrw stvec, a0 */
        {0x20551073, GT_INSN_VECTOR_WRITE, 0},     /* csrw vstvec, a0 */
        {0x30551073, GT_INSN_VECTOR_WRITE, 0},     /* csrw mtvec, a0 */
        {0x305515f3, GT_INSN_VECTOR_WRITE, 0},     /* csrrw a1, mtvec, a0 */
        {0x10501073, GT_INSN_VECTOR_WRITE, 0},     /* csrw stvec, zero */
        {0x10505073, GT_INSN_VECTOR_WRITE, 0},     /* csrwi stvec, 0 */
        {0x10552073, GT_INSN_VECTOR_WRITE, 0},     /* csrs stvec, a0 */
        {0x1050f073, GT_INSN_VECTOR_WRITE, 0},     /* csrci stvec, 1 */
        {0x10502573, GT_INSN_OTHER, 0},            /* csrr a0, stvec */
        {0x10507573, GT_INSN_OTHER, 0},            /* csrrci a0, stvec, 0 */
        {0x10508073, GT_INSN_OTHER, 0},            /* funct3 = 0, not wfi */
        {0x1050c073, GT_INSN_OTHER, 0},            /* funct3 = 4 */
        {0x10554073, GT_INSN_OTHER, 0},            /* funct3 = 4 */
        {0x14051073, GT_INSN_OTHER, 0},            /* csrw sscratch, a0 */
        {0x14011173, GT_INSN_STACK_SWITCH, 0},     /* csrrw sp, sscratch, sp */
        {0x34002173, GT_INSN_STACK_SWITCH, 0},     /* csrr sp, mscratch */
        {0x14021273, GT_INSN_OTHER, 0},            /* csrrw tp, sscratch, tp */
    };

    (void)state;
    check_samples(&gt_arch_riscv64, samples, sizeof samples / sizeof samples[0]);
}

static void stack(void **state)
{
    static const struct sample samples[] = {
        {0x00050113, GT_INSN_STACK_SWITCH, 0}, /* mv sp, a0 */
        {0xc0050113, GT_INSN_STACK_SWITCH, 0}, /* addi sp, a0, -1024 */
        {0x0005011b, GT_INSN_STACK_SWITCH, 0}, /* sext.w sp, a0 */
        {0x00b50133, GT_INSN_STACK_SWITCH, 0}, /* add sp, a0, a1 */
        {0x00b5013b, GT_INSN_STACK_SWITCH, 0}, /* addw sp, a0, a1 */
        {0x01053103, GT_INSN_STACK_SWITCH, 0}, /* ld sp, 16(a0) */
        {0x01013103, GT_INSN_STACK_SWITCH, 0}, /* ld sp, 16(sp) */
        {0x00052103, GT_INSN_STACK_SWITCH, 0}, /* lw sp, 0(a0) */
        {0x80010137, GT_INSN_STACK_SWITCH, 0}, /* lui sp, 0x80010 */
        {0x00010117, GT_INSN_STACK_SWITCH, 0}, /* auipc sp, 16 */
        {0x08a5b12f, GT_INSN_STACK_SWITCH, 0}, /* amoswap.d sp, a0, (a1) */
        {0x18a5b12f, GT_INSN_OTHER, 0},        /* sc.d sp, a0, (a1) */
        {0x00057103, GT_INSN_OTHER, 0},        /* load with funct3 = 7 */
        {0xff010113, GT_INSN_OTHER, 0},        /* addi sp, sp, -16 */
        {0xfc040113, GT_INSN_OTHER, 0},        /* addi sp, s0, -64 */
        {0x00a10133, GT_INSN_OTHER, 0},        /* add sp, sp, a0 */
        {0x00250133, GT_INSN_OTHER, 0},        /* add sp, a0, sp */
        {0x02250133, GT_INSN_OTHER, 0},        /* mul sp, a0, sp */
        {0x0000f103, GT_INSN_OTHER, 0},        /* load with funct3 = 7 */
        {0x40a40133, GT_INSN_OTHER, 0},        /* sub sp, s0, a0 */
        {0x00010513, GT_INSN_OTHER, 0},        /* mv a0, sp */
        {0x00213823, GT_INSN_OTHER, 0},        /* sd sp, 16(sp) */
        {0x00013107, GT_INSN_OTHER, 0},        /* fld f2, 0(sp) */
        {0x0000011f, GT_INSN_OTHER, 0},        /* the start of a 48-bit instruction */
    };

    (void)state;
    check_samples(&gt_arch_riscv64, samples, sizeof samples / sizeof samples[0]);
}

static void follows_calls_of_either_length(void **state)
{
    static const uint8_t far_call[] = {0xe7, 0x80, 0x80, 0xff};   /* jalr -8(ra) */
    static const uint8_t short_call[] = {0x01, 0x00, 0x82, 0x97}; /* c.nop; c.jalr a5 */
    static const uint8_t none[] = {0x01, 0x00, 0x01, 0x00};       /* c.nop; c.nop */
    static const uint8_t ret[] = {0x67, 0x80, 0x00, 0x00};        /* ret */
    bool (*follows)(const uint8_t *, size_t) = gt_arch_riscv64.may_follow_call;

    (void)state;
    assert_true(follows(far_call + 4, 4));
    assert_false(follows(far_call + 4, 3));
    assert_false(follows(far_call + 4, 2));
    assert_true(follows(short_call + 4, 4));
    assert_true(follows(short_call + 4, 2));
    assert_false(follows(short_call + 4, 1));
    assert_false(follows(short_call + 4, 0));
    assert_false(follows(none + 4, 4));
    assert_false(follows(ret + 4, 4));
}

static void steps_of_stack(void **state)
{
    static const struct {
        uint32_t word;
        uint8_t size;
        struct gt_arch_sp_step step;
    } samples[] = {
        {0x7159, 2, {.by = -112}},                           /* addi sp, sp, -112 */
        {0x0141, 2, {.by = 16}},                             /* addi sp, sp, 16 */
        {0x83010113, 4, {.by = -2000}},                      /* addi sp, sp, -2000 */
        {0xf086, 2, {.accesses = true, .at = 96}},           /* sd ra, 96(sp) */
        {0x7086, 2, {.accesses = true, .at = 96}},           /* ld ra, 96(sp) */
        {0x3e113423, 4, {.accesses = true, .at = 1000}},     /* sd ra, 1000(sp) */
        {0x3e813083, 4, {.accesses = true, .at = 1000}},     /* ld ra, 1000(sp) */
        {0x912a, 2, {.unknown = true, .by_register = true}}, /* add sp, sp, a0 */
        {0x8122, 2, {.unknown = true}},                      /* mv sp, s0 */
        {0xff040113, 4, {.unknown = true}},                  /* addi sp, s0, -16 */
        {0x40a10133, 4, {.unknown = true}},                  /* sub sp, sp, a0 */
        {0x8306, 2, {.links = true}},                        /* mv t1, ra */
        {0x00053503, 4, {0}},                                /* ld a0, 0(a0) */
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint32_t w = samples[i].word;
        const uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
                                  (uint8_t)(w >> 24)};
        struct gt_arch_sp_step step;
        gt_arch_riscv64.sp_step(bytes, samples[i].size, &step);
        assert_memory_equal(&step, &samples[i].step, sizeof step);
    }
}

static void plain_accesses(void **state)
{
    static const struct {
        uint32_t word;
        uint8_t size;
        bool plain;
    } samples[] = {
        {0x02e53023, 4, true},  /* sd a4, 32(a0) */
        {0x0085b503, 4, true},  /* ld a0, 8(a1) */
        {0x1e853827, 4, true},  /* fsd fs0, 496(a0) */
        {0x1f053407, 4, true},  /* fld fs0, 496(a0) */
        {0xe510, 2, true},      /* c.sd a2, 8(a0) */
        {0x6510, 2, true},      /* c.ld a2, 8(a0) */
        {0xf086, 2, true},      /* c.sdsp ra, 96(sp) */
        {0x7086, 2, true},      /* c.ldsp ra, 96(sp) */
        {0x003025f3, 4, false}, /* frcsr a1 */
        {0x00331073, 4, false}, /* fscsr t1 */
        {0x0000100f, 4, false}, /* fence.i */
        {0x8082, 2, false},     /* ret */
        {0x9002, 2, false},     /* c.ebreak */
        {0x0506, 2, false},     /* c.slli a0, 1 */
        {0x0808, 2, false},     /* c.addi4spn a0, sp, 16 */
        {0x0000006f, 4, false}, /* j . */
        {0x00053503, 1, false}, /* cut */
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint32_t w = samples[i].word;
        const uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
                                  (uint8_t)(w >> 24)};
        bool plain = gt_arch_riscv64.is_plain_access(bytes, samples[i].size);
        assert_int_equal(plain, samples[i].plain);
    }
}

/* Of what compilers save before their code, only handlers save temporary registers. */
static void beginnings_of_handlers(void **state)
{
    static const struct {
        bool handler;
        uint32_t words[3];
    } samples[] = {
        {true, {0x14021273, 0, 0}},                    /* csrrw tp, sscratch, tp */
        {false, {0xc0102573, 0, 0}},                   /* rdtime a0 */
        {true, {0xf6010113, 0x00113023, 0x00513423}},  /* addi sp; sd ra; sd t0 */
        {true, {0x7139e41e, 0, 0}},                    /* c.sdsp t2; c.addi16sp */
        {false, {0xff010113, 0x00a13023, 0x00113423}}, /* addi sp; sd a0; sd ra */
        {false, {0x0000006f, 0x00513423, 0}},          /* j .; sd t0 */
        {false, {0x0053b423, 0, 0}},                   /* sd t0, 8(t2) */
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint8_t *page = calloc(1, 4096), *last = page + 4096 - sizeof samples[i].words;
        for (size_t k = 0; k < sizeof samples[i].words; k++)
            last[k] = (uint8_t)(samples[i].words[k / 4] >> k % 4 * 8);
        assert_int_equal(gt_arch_riscv64.begins_handler(last, (size_t)(last - page)),
                         samples[i].handler);
        free(page);
    }
}

static void vector_registers(void **state)
{
    bool (*is)(uint64_t, uint64_t) = gt_arch_riscv64.is_vector;

    (void)state;
    assert_true(is(0x80000100, 0x80000100) && is(0x80000101, 0x80000100));
    assert_true(is(0x80000101, 0x80000114) && !is(0x80000100, 0x80000114));
    assert_true(!is(0x80000101, 0x80000116) && !is(0x80000101, 0x80000200) &&
                !is(0x80000101, 0x800000fc));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(beginnings_of_handlers),
        cmocka_unit_test(vector_registers),
        cmocka_unit_test(jumps),
        cmocka_unit_test(compressed),
        cmocka_unit_test(system_insns),
        cmocka_unit_test(stack),
        cmocka_unit_test(follows_calls_of_either_length),
        cmocka_unit_test(steps_of_stack),
        cmocka_unit_test(plain_accesses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
