/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classification of aarch64 by words encoded by hand; tests/oracle has the masses. */
#include "arch_samples.h"

static void branches(void **state)
{
    static const struct sample samples[] = {
        {0x94000001, GT_INSN_CALL, 4},           /* bl .+4 */
        {0x97ffffff, GT_INSN_CALL, -4},          /* bl .-4 */
        {0x96000000, GT_INSN_CALL, -0x8000000},  /* bl, farthest back */
        {0x95ffffff, GT_INSN_CALL, 0x7fffffc},   /* bl, farthest ahead */
        {0x14000002, GT_INSN_JUMP, 8},           /* b .+8 */
        {0x17fffffe, GT_INSN_JUMP, -8},          /* b .-8 */
        {0x54000040, GT_INSN_BRANCH, 8},         /* b.eq .+8 */
        {0x54ffffc1, GT_INSN_BRANCH, -8},        /* b.ne .-8 */
        {0x54800000, GT_INSN_BRANCH, -0x100000}, /* b.eq, farthest back */
        {0x5400005d, GT_INSN_BRANCH, 8},         /* bc.le .+8 */
        {0x5400004e, GT_INSN_JUMP, 8},           /* b.al .+8 */
        {0x5400004f, GT_INSN_JUMP, 8},           /* b.nv .+8 */
        {0x34000040, GT_INSN_BRANCH, 8},         /* cbz w0 */
        {0xb5ffffc1, GT_INSN_BRANCH, -8},        /* cbnz x1 */
        {0x36000040, GT_INSN_BRANCH, 8},         /* tbz w0, #0 */
        {0xb7fffffe, GT_INSN_BRANCH, -4},        /* tbnz x30, #63 */
        {0x36040000, GT_INSN_BRANCH, -0x8000},   /* tbz, farthest back */
        {0x3603ffe0, GT_INSN_BRANCH, 0x7ffc},    /* tbz, farthest ahead */
        {0x7423a005, GT_INSN_BRANCH, -1024},     /* cbbge w5, w3 */
        {0x7403e005, GT_INSN_BRANCH, -1024},     /* cbhgt w5, w3 */
        {0x74c20041, GT_INSN_BRANCH, 8},         /* cbeq w1, w2 */
        {0xf4e21fe1, GT_INSN_BRANCH, 1020},      /* cbne x1, x2 */
        {0xf5028041, GT_INSN_BRANCH, 8},         /* cbgt x1, #5 */
        {0x75603fe0, GT_INSN_BRANCH, -4},        /* cblo w0, #0 */
        {0x74820041, GT_INSN_OTHER, 0},          /* cb, condition 4 */
        {0x74a20041, GT_INSN_OTHER, 0},          /* cb, condition 5 */
        {0x74024041, GT_INSN_OTHER, 0},          /* cb, form 1 */
        {0xf4028041, GT_INSN_OTHER, 0},          /* cbb with 64 bits */
        {0x75024041, GT_INSN_OTHER, 0},          /* cb, bit 14 of the constant's form */
    };

    (void)state;
    check_samples(&gt_arch_aarch64, samples, sizeof samples / sizeof samples[0]);
}

static void registers(void **state)
{
    static const struct sample samples[] = {
        {0xd63f0000, GT_INSN_CALL_INDIRECT, 0},    /* blr x0 */
        {0xd63f03c0, GT_INSN_CALL_INDIRECT, 0},    /* blr x30 */
        {0xd63f083f, GT_INSN_CALL_INDIRECT, 0},    /* blraaz x1 */
        {0xd63f0c5f, GT_INSN_CALL_INDIRECT, 0},    /* blrabz x2 */
        {0xd73f0864, GT_INSN_CALL_INDIRECT, 0},    /* blraa x3, x4 */
        {0xd73f0cbf, GT_INSN_CALL_INDIRECT, 0},    /* blrab x5, sp */
        {0xd65f03c0, GT_INSN_RETURN, 0},           /* ret */
        {0xd65f0220, GT_INSN_RETURN, 0},           /* ret x17 */
        {0xd65f0bff, GT_INSN_RETURN, 0},           /* retaa */
        {0xd65f0fff, GT_INSN_RETURN, 0},           /* retab */
        {0xd65f0be3, GT_INSN_RETURN, 0},           /* retaasppc x3 */
        {0xd65f0fe3, GT_INSN_RETURN, 0},           /* retabsppc x3 */
        {0x5500003f, GT_INSN_RETURN, 0},           /* retaasppc .-4 */
        {0x553fffff, GT_INSN_RETURN, 0},           /* retabsppc, farthest back */
        {0x55400001, GT_INSN_OTHER, 0},            /* beside it */
        {0xd61f0200, GT_INSN_JUMP_INDIRECT, 0},    /* br x16 */
        {0xd61f03c0, GT_INSN_JUMP_INDIRECT, 0},    /* br x30 */
        {0xd61f081f, GT_INSN_JUMP_INDIRECT, 0},    /* braaz x0 */
        {0xd61f0c1f, GT_INSN_JUMP_INDIRECT, 0},    /* brabz x0 */
        {0xd71f0a11, GT_INSN_JUMP_INDIRECT, 0},    /* braa x16, x17 */
        {0xd71f0e11, GT_INSN_JUMP_INDIRECT, 0},    /* brab x16, x17 */
        {0xd69f03e0, GT_INSN_EXCEPTION_RETURN, 0}, /* eret */
        {0xd69f0bff, GT_INSN_EXCEPTION_RETURN, 0}, /* eretaa */
        {0xd69f0fff, GT_INSN_EXCEPTION_RETURN, 0}, /* eretab */
        {0xd6bf03e0, GT_INSN_EXCEPTION_RETURN, 0}, /* drps */
        {0xd63e0000, GT_INSN_OTHER, 0},            /* blr with op2 = 30 */
        {0xd63f0400, GT_INSN_OTHER, 0},            /* blr with op3 = 1 */
        {0xd63f0001, GT_INSN_OTHER, 0},            /* blr with op4 = 1 */
        {0xd69f0000, GT_INSN_OTHER, 0},            /* eret with Rn = 0 */
        {0xd67f0000, GT_INSN_OTHER, 0},            /* opc 3 */
    };

    (void)state;
    check_samples(&gt_arch_aarch64, samples, sizeof samples / sizeof samples[0]);
}

static void exceptions_and_system(void **state)
{
    static const struct sample samples[] = {
        {0xd4000001, GT_INSN_SYSCALL, 0},      /* svc #0 */
        {0xd41fffe1, GT_INSN_SYSCALL, 0},      /* svc #0xffff */
        {0xd4000002, GT_INSN_SYSCALL, 0},      /* hvc #0 */
        {0xd4000003, GT_INSN_SYSCALL, 0},      /* smc #0 */
        {0xd4200000, GT_INSN_TRAP, 0},         /* brk #0 */
        {0xd4400000, GT_INSN_TRAP, 0},         /* hlt #0 */
        {0x00000000, GT_INSN_TRAP, 0},         /* udf #0 */
        {0x0000ffff, GT_INSN_TRAP, 0},         /* udf #0xffff */
        {0x00010000, GT_INSN_OTHER, 0},        /* not udf */
        {0xd4a00001, GT_INSN_OTHER, 0},        /* dcps1 */
        {0xd4000000, GT_INSN_OTHER, 0},        /* exception generation, LL = 0 */
        {0xd518c000, GT_INSN_VECTOR_WRITE, 0}, /* msr vbar_el1, x0 */
        {0xd518c01f, GT_INSN_VECTOR_WRITE, 0}, /* msr vbar_el1, xzr */
        {0xd51cc001, GT_INSN_VECTOR_WRITE, 0}, /* msr vbar_el2, x1 */
        {0xd51ec002, GT_INSN_VECTOR_WRITE, 0}, /* msr vbar_el3, x2 */
        {0xd51dc003, GT_INSN_VECTOR_WRITE, 0}, /* msr vbar_el12, x3 */
        {0xd538c000, GT_INSN_OTHER, 0},        /* mrs x0, vbar_el1 */
        {0xd518c020, GT_INSN_OTHER, 0},        /* msr rvbar_el1's place */
        {0xd50041bf, GT_INSN_OTHER, 0},        /* msr spsel, #1 */
        {0xd5184100, GT_INSN_OTHER, 0},        /* msr sp_el0, x0 */
        {0xd503201f, GT_INSN_OTHER, 0},        /* nop */
    };

    (void)state;
    check_samples(&gt_arch_aarch64, samples, sizeof samples / sizeof samples[0]);
}

static void stack(void **state)
{
    static const struct sample samples[] = {
        {0x9100001f, GT_INSN_STACK_SWITCH, 0}, /* mov sp, x0 */
        {0x910003df, GT_INSN_STACK_SWITCH, 0}, /* mov sp, x30 */
        {0x1100001f, GT_INSN_STACK_SWITCH, 0}, /* mov wsp, w0 */
        {0xd140043f, GT_INSN_STACK_SWITCH, 0}, /* sub sp, x1, #1, lsl #12 */
        {0x8b24607f, GT_INSN_STACK_SWITCH, 0}, /* add sp, x3, x4 */
        {0x8b24707f, GT_INSN_STACK_SWITCH, 0}, /* add sp, x3, x4, lsl #4 */
        {0x8b24747f, GT_INSN_OTHER, 0},        /* shifted by 5 */
        {0xcb2640bf, GT_INSN_STACK_SWITCH, 0}, /* sub sp, x5, w6, uxtw */
        {0x927be93f, GT_INSN_STACK_SWITCH, 0}, /* and sp, x9, #-32 */
        {0x9240fd3f, GT_INSN_OTHER, 0},        /* a mask of ones only */
        {0x1240013f, GT_INSN_OTHER, 0},        /* N set with 32 bits */
        {0xb200013f, GT_INSN_STACK_SWITCH, 0}, /* orr sp, x9, #0x100000001 */
        {0xd240013f, GT_INSN_STACK_SWITCH, 0}, /* eor sp, x9, #1 */
        {0xb27103ff, GT_INSN_STACK_SWITCH, 0}, /* mov sp, #0x8000 */
        {0x9181043f, GT_INSN_STACK_SWITCH, 0}, /* addg sp, x1, #16, #1 */
        {0x9ac0107f, GT_INSN_STACK_SWITCH, 0}, /* irg sp, x3, x0 */
        {0x9a04207f, GT_INSN_STACK_SWITCH, 0}, /* addpt sp, x3, x4 */
        {0xda04207f, GT_INSN_STACK_SWITCH, 0}, /* subpt sp, x3, x4 */
        {0x042157ff, GT_INSN_STACK_SWITCH, 0}, /* addvl sp, x1, #-1 */
        {0x910043ff, GT_INSN_OTHER, 0},        /* add sp, sp, #16 */
        {0x8b2463ff, GT_INSN_OTHER, 0},        /* add sp, sp, x4 */
        {0x910003bf, GT_INSN_OTHER, 0},        /* mov sp, x29 */
        {0xd10043bf, GT_INSN_OTHER, 0},        /* sub sp, x29, #16 */
        {0x927aebbf, GT_INSN_OTHER, 0},        /* and sp, x29, #... */
        {0x043f57ff, GT_INSN_OTHER, 0},        /* addvl sp, sp, #-1 */
        {0x9200f13f, GT_INSN_STACK_SWITCH, 0}, /* and sp, x9, #0x5555555555555555 */
        {0x9a0423ff, GT_INSN_OTHER, 0},        /* addpt sp, sp, x4 */
        {0x9a0423bf, GT_INSN_OTHER, 0},        /* addpt sp, x29, x4 */
        {0xba04207f, GT_INSN_OTHER, 0},        /* its neighbours */
        {0x9e04207f, GT_INSN_OTHER, 0},        {0xdac0103f, GT_INSN_OTHER, 0}, /* clz xzr, x1 */
        {0x9b20103f, GT_INSN_OTHER, 0}, /* smaddl xzr, w1, w0, x4 */
        {0xb100003f, GT_INSN_OTHER, 0}, /* cmn x1, #0 */
        {0xf100003f, GT_INSN_OTHER, 0}, /* cmp x1, #0 */
        {0xf240003f, GT_INSN_OTHER, 0}, /* tst x1, #1 */
        {0x8b04007f, GT_INSN_OTHER, 0}, /* add xzr, x3, x4 */
        {0xaa0103ff, GT_INSN_OTHER, 0}, /* mov xzr, x1 */
        {0x910003e0, GT_INSN_OTHER, 0}, /* mov x0, sp */
    };

    (void)state;
    check_samples(&gt_arch_aarch64, samples, sizeof samples / sizeof samples[0]);
}

static void follows_calls_within_bounds(void **state)
{
    static const uint8_t call[] = {0x00, 0x00, 0x3f, 0xd6}; /* blr x0 */

    (void)state;
    assert_true(gt_arch_aarch64.may_follow_call(call + 4, 4));
    for (size_t left = 0; left < 4; left++)
        assert_false(gt_arch_aarch64.may_follow_call(call + left, left));
}

static void steps_of_stack(void **state)
{
    static const struct {
        uint32_t word;
        struct gt_arch_sp_step step;
    } samples[] = {
        {0x910043ff, {.by = 16}},                               /* add sp, sp, #16 */
        {0xd14007ff, {.by = -4096}},                            /* sub sp, sp, #1, lsl #12 */
        {0xa8c17bfd, {.accesses = true, .at = 0, .by = 16}},    /* ldp x29, x30, [sp], #16 */
        {0xa9be7bfd, {.accesses = true, .at = -32, .by = -32}}, /* stp x29, x30, [sp, #-32]! */
        {0xf9000bf3, {.accesses = true, .at = 16}},             /* str x19, [sp, #16] */
        {0xf84107f3, {.accesses = true, .at = 0, .by = 16}},    /* ldr x19, [sp], #16 */
        {0x6d0127e8, {.accesses = true, .at = 16}},             /* stp d8, d9, [sp, #16] */
        {0xad0127e8, {.accesses = true, .at = 32}},             /* stp q8, q9, [sp, #32] */
        {0x8b2463ff, {.unknown = true, .by_register = true}},   /* add sp, sp, x4 */
        {0x9100001f, {.unknown = true}},                        /* mov sp, x0 */
        {0xaa1e03e9, {.links = true}},                          /* mov x9, x30 */
        {0xf9400020, {0}},                                      /* ldr x0, [x1] */
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint32_t w = samples[i].word;
        const uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
                                  (uint8_t)(w >> 24)};
        struct gt_arch_sp_step step;
        gt_arch_aarch64.sp_step(bytes, sizeof bytes, &step);
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
        {0xa9be7bfd, 4, true},  /* stp x29, x30, [sp, #-32]! */
        {0xf9003404, 4, true},  /* str x4, [x0, #104] */
        {0xf9400020, 4, true},  /* ldr x0, [x1] */
        {0x6d0127e8, 4, true},  /* stp d8, d9, [sp, #16] */
        {0x58000040, 4, true},  /* ldr x0, .+8 */
        {0xd5384100, 4, false}, /* mrs x0, sp_el0 */
        {0xd5184100, 4, false}, /* msr sp_el0, x0 */
        {0xd65f03c0, 4, false}, /* ret */
        {0x9100001f, 4, false}, /* mov sp, x0 */
        {0xd503201f, 4, false}, /* nop */
        {0x14000000, 4, false}, /* b . */
        {0x1e604020, 4, false}, /* fmov d0, d1 */
        {0xf9400020, 3, false}, /* cut */
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint32_t w = samples[i].word;
        const uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
                                  (uint8_t)(w >> 24)};
        bool plain = gt_arch_aarch64.is_plain_access(bytes, samples[i].size);
        assert_int_equal(plain, samples[i].plain);
    }
}

/* Of the last of the words. */
static uint8_t use_of(const uint32_t *words, size_t n)
{
    uint32_t copies = 0;
    uint8_t use = GT_STACK_OTHER;
    for (size_t i = 0; i < n; i++) {
        const uint8_t bytes[4] = {(uint8_t)words[i], (uint8_t)(words[i] >> 8),
                                  (uint8_t)(words[i] >> 16), (uint8_t)(words[i] >> 24)};
        use = gt_arch_aarch64.stack_use(bytes, sizeof bytes, &copies);
    }
    return use;
}

/* mov x4, sp; eor x5, x4, x3; str x5, [x0, #104]: setjmp of glibc. */
static void stores_of_stack(void **state)
{
    static const uint32_t plain[] = {0x910003e4, 0xf9003404}, /* str x4 */
        mixed[] = {0x910003e4, 0xca030085, 0xf9003405}, none[] = {0xca030085, 0xf9003405},
                          gone[] = {0x910003e4, 0xca030044, 0xf9003404}; /* eor x4, x2, x3 */

    (void)state;
    assert_int_equal(use_of(plain, 2), GT_STACK_STORED);
    assert_int_equal(use_of(mixed, 3), GT_STACK_STORED);
    assert_int_equal(use_of(none, 2), GT_STACK_OTHER);
    assert_int_equal(use_of(gone, 3), GT_STACK_OTHER);
}

static void put_word(uint8_t *to, uint32_t w)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(w >> 8 * i);
}

/* A table of vectors on a page's second half, whose slots begin with sub sp and end with b. */
static void slots_of_vectors(void **state)
{
    enum { TABLE = 2048, SLOT = 128, PAGE = 4096 };
    bool (*begins)(const uint8_t *, size_t) = gt_arch_aarch64.begins_handler;
    uint8_t *page = calloc(1, PAGE);

    (void)state;
    for (size_t at = TABLE; at < PAGE; at += SLOT) {
        put_word(page + at, 0xd10043ff);
        put_word(page + at + SLOT - 4, at % 256 ? 0x14000000 : 0xd503201f);
    }
    put_word(page + TABLE - 4, 0xd10043ff); /* code before it and after it */
    put_word(page + PAGE - 4, 0xd10043ff);
    for (size_t at = TABLE; at < PAGE; at += SLOT)
        assert_true(begins(page + at, at));
    assert_false(begins(page, 0));                     /* nothing is there */
    put_word(page + TABLE + 3 * SLOT - 4, 0xa9bf07e0); /* one runs on: stp x0, x1 */
    assert_false(begins(page + TABLE + 128, TABLE + 128));
    free(page);
    assert_true(gt_arch_aarch64.is_vector(0x80800, 0x80f80) &&
                !gt_arch_aarch64.is_vector(0x80800, 0x80f84) &&
                !gt_arch_aarch64.is_vector(0x80800, 0x81000) &&
                !gt_arch_aarch64.is_vector(0x80800, 0x80780));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_vectors),
        cmocka_unit_test(branches),
        cmocka_unit_test(registers),
        cmocka_unit_test(exceptions_and_system),
        cmocka_unit_test(stack),
        cmocka_unit_test(stores_of_stack),
        cmocka_unit_test(steps_of_stack),
        cmocka_unit_test(plain_accesses),
        cmocka_unit_test(follows_calls_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
