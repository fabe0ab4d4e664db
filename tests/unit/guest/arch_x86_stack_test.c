/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86 instructions that load the stack pointer, and those that look like it. */
#include "arch_x86_forms.h"

static const struct form stack_switches[] = {
    {"48 89 c4", GT_INSN_STACK_SWITCH, 0}, /* mov %rax,%rsp */
    {"4c 89 e4", GT_INSN_STACK_SWITCH, 0}, /* mov %r12,%rsp */
    {"4c 89 ec", GT_INSN_STACK_SWITCH, 0}, /* mov %r13,%rsp */
    {"89 cc", GT_INSN_STACK_SWITCH, 0},
    {"66 89 c4", GT_INSN_STACK_SWITCH, 0},
    {"48 8b e0", GT_INSN_STACK_SWITCH, 0},
    {"49 8b e4", GT_INSN_STACK_SWITCH, 0}, /* mov %r12,%rsp the other way */
    {"49 8b e5", GT_INSN_STACK_SWITCH, 0},
    {"48 8b 27", GT_INSN_STACK_SWITCH, 0}, /* mov (%rdi),%rsp */
    {"48 8b 64 24 08", GT_INSN_STACK_SWITCH, 0},
    {"48 8b 65 f8", GT_INSN_STACK_SWITCH, 0}, /* what %rbp points to, not %rbp */
    {"65 48 8b 24 25 0c600000", GT_INSN_STACK_SWITCH, 0},
    {"48 c7 c4 00100000", GT_INSN_STACK_SWITCH, 0},
    {"66 c7 c4 0010", GT_INSN_STACK_SWITCH, 0},
    {"bc 00100000", GT_INSN_STACK_SWITCH, 0},
    {"66 bc 0010", GT_INSN_STACK_SWITCH, 0},
    {"bc 007c", GT_INSN_STACK_SWITCH, 0},
    {"48 bc 0010000000000000", GT_INSN_STACK_SWITCH, 0},
    {"48 94", GT_INSN_STACK_SWITCH, 0}, /* xchg %rax,%rsp */
    {"94", GT_INSN_STACK_SWITCH, 0},
    {"48 87 27", GT_INSN_STACK_SWITCH, 0},
    {"48 87 e1", GT_INSN_STACK_SWITCH, 0},
    {"48 87 cc", GT_INSN_STACK_SWITCH, 0},
    {"49 87 e4", GT_INSN_STACK_SWITCH, 0}, /* %r12 and %rsp */
    {"48 8d 60 f8", GT_INSN_STACK_SWITCH, 0},
    {"49 8d 64 24 f8", GT_INSN_STACK_SWITCH, 0}, /* lea -8(%r12),%rsp */
    {"49 8d 62 f8", GT_INSN_STACK_SWITCH, 0},
    {"49 8d 65 f0", GT_INSN_STACK_SWITCH, 0},          /* lea -16(%r13),%rsp */
    {"48 8d 25 00100000", GT_INSN_STACK_SWITCH, 0},    /* rip-relative */
    {"48 8d 24 25 00100000", GT_INSN_STACK_SWITCH, 0}, /* no base */
    {"48 8d 24 c5 00100000", GT_INSN_STACK_SWITCH, 0}, /* an index only */
    {"5c", GT_INSN_STACK_SWITCH, 0},
    {"66 5c", GT_INSN_STACK_SWITCH, 0},
    {"8f c4", GT_INSN_STACK_SWITCH, 0},
    {"48 0f b2 20", GT_INSN_STACK_SWITCH, 0}, /* lss */
    {"66 0f b2 26 0010", GT_INSN_STACK_SWITCH, 0},
    {"0f b4 20", GT_INSN_STACK_SWITCH, 0},
    {"0f b5 20", GT_INSN_STACK_SWITCH, 0},
    {"66 0f b7 e2", GT_INSN_STACK_SWITCH, 0}, /* movzwl %dx,%esp in 16-bit code */
    {"0f bf e2", GT_INSN_STACK_SWITCH, 0},
    {"48 63 e0", GT_INSN_STACK_SWITCH, 0},    /* movslq */
    {"48 0f 44 e0", GT_INSN_STACK_SWITCH, 0}, /* cmove */
    {"0f 4f 20", GT_INSN_STACK_SWITCH, 0},
    {"0f 20 dc", GT_INSN_STACK_SWITCH, 0}, /* mov %cr3,%rsp: Linux's entry code */
    {"0f 21 c4", GT_INSN_STACK_SWITCH, 0},
    {"66 48 0f 7e c4", GT_INSN_STACK_SWITCH, 0}, /* movq %xmm0,%rsp */
    {"0f 7e fc", GT_INSN_STACK_SWITCH, 0},
};

static const struct form no_stack_switches[] = {
    {"48 89 ec", GT_INSN_OTHER, 0}, /* mov %rbp,%rsp */
    {"48 8b e5", GT_INSN_OTHER, 0},
    {"89 ec", GT_INSN_OTHER, 0},
    {"48 89 e4", GT_INSN_OTHER, 0},
    {"48 89 e5", GT_INSN_OTHER, 0},
    {"48 89 e0", GT_INSN_OTHER, 0},
    {"48 89 24 24", GT_INSN_OTHER, 0}, /* memory through %rsp */
    {"48 89 04 24", GT_INSN_OTHER, 0},
    {"49 89 c4", GT_INSN_OTHER, 0}, /* to %r12 */
    {"4c 8b 27", GT_INSN_OTHER, 0},
    {"4c 8b e0", GT_INSN_OTHER, 0},
    {"49 c7 c4 00100000", GT_INSN_OTHER, 0},
    {"48 c7 04 24 00100000", GT_INSN_OTHER, 0},
    {"48 c7 c1 00100000", GT_INSN_OTHER, 0},
    {"41 bc 00100000", GT_INSN_OTHER, 0},
    {"49 94", GT_INSN_OTHER, 0},
    {"48 87 e5", GT_INSN_OTHER, 0}, /* %rsp and %rbp */
    {"48 87 ec", GT_INSN_OTHER, 0},
    {"4c 87 27", GT_INSN_OTHER, 0},
    {"49 87 cc", GT_INSN_OTHER, 0},
    {"48 87 0c 24", GT_INSN_OTHER, 0}, /* %rcx and memory */
    {"48 8d 65 d8", GT_INSN_OTHER, 0}, /* lea -40(%rbp),%rsp */
    {"48 8d a5 d8ffffff", GT_INSN_OTHER, 0},
    {"48 8d 64 24 08", GT_INSN_OTHER, 0},
    {"48 8d a4 24 00ffffff", GT_INSN_OTHER, 0},
    {"48 8d 64 05 00", GT_INSN_OTHER, 0}, /* lea (%rbp,%rax),%rsp */
    {"8d a6 f8ff", GT_INSN_OTHER, 0},     /* lea -8(%bp),%sp of 16-bit code */
    {"4c 8d 60 f8", GT_INSN_OTHER, 0},
    {"48 8d e0", GT_INSN_OTHER, 0}, /* lea of a register */
    {"48 83 ec 08", GT_INSN_OTHER, 0},
    {"48 83 e4 f0", GT_INSN_OTHER, 0},
    {"48 81 c4 00010000", GT_INSN_OTHER, 0},
    {"48 01 c4", GT_INSN_OTHER, 0},
    {"48 29 c4", GT_INSN_OTHER, 0},
    {"c9", GT_INSN_OTHER, 0}, /* leave */
    {"c8 100000", GT_INSN_OTHER, 0},
    {"41 5c", GT_INSN_OTHER, 0}, /* pop %r12 */
    {"54", GT_INSN_OTHER, 0},
    {"41 8f c4", GT_INSN_OTHER, 0},
    {"8f 04 24", GT_INSN_OTHER, 0},       /* pop to memory */
    {"8f e9 78 e1 c4", GT_INSN_OTHER, 0}, /* XOP */
    {"44 0f b2 20", GT_INSN_OTHER, 0},    /* %r12 */
    {"0f b2 e0", GT_INSN_OTHER, 0},
    {"44 0f b7 e2", GT_INSN_OTHER, 0},
    {"4c 0f 44 e0", GT_INSN_OTHER, 0},
    {"48 0f 44 e5", GT_INSN_OTHER, 0}, /* cmove %rbp,%rsp */
    {"4c 63 e0", GT_INSN_OTHER, 0},
    {"63 e0", GT_INSN_OTHER, 0}, /* arpl %sp,%ax */
    {"41 0f 20 dc", GT_INSN_OTHER, 0},
    {"0f 22 dc", GT_INSN_OTHER, 0},    /* mov %rsp,%cr3 */
    {"f3 0f 7e c4", GT_INSN_OTHER, 0}, /* movq between vector registers */
    {"66 49 0f 7e c4", GT_INSN_OTHER, 0},
    {"66 0f 7e 24 24", GT_INSN_OTHER, 0},
    {"c5 20", GT_INSN_OTHER, 0}, /* VEX, or lds, which only i386 takes for that */
    {"88 c4", GT_INSN_OTHER, 0}, /* %ah */
};

static void test_stack_pointer(void **state)
{
    (void)state;
    CHECK(&gt_arch_x86_64, PC, stack_switches);
    CHECK(&gt_arch_x86_64, PC, no_stack_switches);
}

static void test_steps(void **state)
{
    static const struct {
        const char *form;
        struct gt_arch_sp_step step;
    } samples[] = {
        {"53", {.accesses = true, .at = -8, .by = -8}},    /* push %rbx */
        {"5b", {.accesses = true, .by = 8}},               /* pop %rbx */
        {"41 57", {.accesses = true, .at = -8, .by = -8}}, /* push %r15 */
        {"48 83 c4 08", {.by = 8}},                        /* add $8,%rsp */
        {"48 81 ec 00010000", {.by = -256}},               /* sub $256,%rsp */
        {"48 8d 64 24 c0", {.by = -64}},                   /* lea -64(%rsp),%rsp */
        {"48 8d 65 f8", {.unknown = true}},                /* lea -8(%rbp),%rsp */
        {"4c 89 24 24", {.accesses = true}},               /* mov %r12,(%rsp) */
        {"4c 8b 44 24 38", {.accesses = true, .at = 56}},  /* mov 56(%rsp),%r8 */
        {"48 89 fc", {.unknown = true}},                   /* mov %rdi,%rsp */
        {"48 89 ec", {.unknown = true}},                   /* mov %rbp,%rsp */
        {"48 83 e4 f0", {.unknown = true}},                /* and $-16,%rsp */
        {"c9", {.unknown = true}},                         /* leave */
        {"c3", {.by = 8}},                                 /* ret */
        {"48 89 07", {0}},                                 /* mov %rax,(%rdi) */
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint8_t bytes[16];
        struct gt_arch_sp_step step;
        size_t n = from_hex(samples[i].form, bytes);
        gt_arch_x86_64.sp_step(bytes, n, &step);
        assert_memory_equal(&step, &samples[i].step, sizeof step);
    }
}

static void test_plain_accesses(void **state)
{
    static const struct {
        const char *form;
        bool plain;
    } samples[] = {
        {"48 89 57 30", true},  /* mov %rdx,0x30(%rdi) */
        {"48 8b 27", true},     /* mov (%rdi),%rsp */
        {"88 07", true},        /* mov %al,(%rdi) */
        {"41 57", true},        /* push %r15 */
        {"5b", true},           /* pop %rbx */
        {"0f 11 07", true},     /* movups %xmm0,(%rdi) */
        {"66 0f 6f 06", true},  /* movdqa (%rsi),%xmm0 */
        {"8e d0", false},       /* mov %ax,%ss */
        {"9d", false},          /* popf */
        {"c3", false},          /* ret */
        {"e8 00000000", false}, /* call */
        {"ff 27", false},       /* jmp *(%rdi) */
        {"f3 a4", false},       /* rep movsb */
        {"0f ae 17", false},    /* ldmxcsr (%rdi) */
        {"0f 22 d8", false},    /* mov %rax,%cr3 */
        {"0f 05", false},       /* syscall */
        {"0f", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint8_t bytes[16];
        size_t n = from_hex(samples[i].form, bytes);
        assert_int_equal(gt_arch_x86_64.is_plain_access(bytes, n), samples[i].plain);
        assert_int_equal(gt_arch_i386.is_plain_access(bytes, n), samples[i].plain);
    }
}

/* Of the last instruction of a block; the others come before it. */
static uint8_t use_of(const char *const *forms)
{
    uint8_t bytes[16], use = GT_STACK_OTHER;
    uint32_t copies = 0;
    for (; *forms; forms++) {
        size_t n = from_hex(*forms, bytes);
        use = gt_arch_x86_64.stack_use(bytes, n, &copies);
    }
    return use;
}

/* setjmp of glibc: lea 8(%rsp),%rdx; xor %fs:0x30,%rdx; rol $17,%rdx; mov %rdx,0x30(%rdi). */
static void test_mixed(void **state)
{
    (void)state;
    const char *lea = "48 8d 54 24 08", *mix = "64 48 33 14 25 30000000", *rol = "48 c1 c2 11",
               *mov = "48 89 57 30", *other = "48 89 47 30";
    const char *high[] = {"4c 8d 4c 24 08", "64 4c 33 0c 25 30000000", "4c 89 4f 30", NULL};
    assert_int_equal(use_of((const char *[]){lea, mix, rol, mov, NULL}), GT_STACK_STORED);
    assert_int_equal(use_of(high), GT_STACK_STORED);
    assert_int_equal(use_of((const char *[]){lea, mov, NULL}), GT_STACK_OTHER);
    assert_int_equal(use_of((const char *[]){mix, rol, mov, NULL}), GT_STACK_OTHER);
    assert_int_equal(use_of((const char *[]){lea, mix, rol, other, NULL}), GT_STACK_OTHER);
    assert_int_equal(use_of((const char *[]){lea, mix, lea, mov, NULL}), GT_STACK_OTHER);
}

/* Registers that get the stack pointer, the frame pointer left out. */
static void test_copies(void **state)
{
    (void)state;
    static const struct {
        const char *form;
        uint32_t copies;
    } forms[] = {
        {"48 89 e0", 1 << 0},                                      /* mov %rsp,%rax */
        {"48 8b c4", 1 << 0},                                      /* the same */
        {"49 89 e2", 1 << 10},                                     /* mov %rsp,%r10 */
        {"4c 8b d4", 1 << 10}, {"89 e1", 1 << 1}, {"48 89 e5", 0}, /* mov %rsp,%rbp */
        {"48 89 c4", 0},                                           /* mov %rax,%rsp */
        {"48 94", 1 << 0},                                         /* xchg %rax,%rsp */
        {"49 94", 0},                                              /* xchg %rax,%r12 */
        {"48 87 fc", 1 << 7},                                      /* xchg %rdi,%rsp */
        {"48 89 04 24", 0},                                        /* mov %rax,(%rsp) */
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        uint8_t bytes[16];
        uint32_t copies = 0;
        size_t n = from_hex(forms[i].form, bytes);
        gt_arch_x86_64.stack_use(bytes, n, &copies);
        assert_int_equal(copies & gt_arch_x86_64.sp_copies, forms[i].copies);
    }
}

static void test_return_word(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint8_t use;
    } forms[] = {
        {"48 83 c4 08", GT_RETURN_WORD_DROPPED},            /* add $8,%rsp */
        {"48 8d 64 24 08", GT_RETURN_WORD_DROPPED},         /* lea 8(%rsp),%rsp */
        {"48 81 c4 80000000", GT_RETURN_WORD_DROPPED_MORE}, /* add $128,%rsp */
        {"48 8d a4 24 10000000", GT_RETURN_WORD_DROPPED_MORE},
        {"83 c4 04", GT_RETURN_WORD_DROPPED}, /* add $4,%esp */
        {"48 83 c4 f8", GT_RETURN_WORD_USED}, /* add $-8,%rsp */
        {"48 81 c4 80ffffff", GT_RETURN_WORD_USED},
        {"49 83 c4 08", GT_RETURN_WORD_USED},     /* add $8,%r12: looked at as %rsp */
        {"48 89 04 24", GT_RETURN_WORD_REPLACED}, /* mov %rax,(%rsp) */
        {"4c 89 1c 24", GT_RETURN_WORD_REPLACED}, /* mov %r11,(%rsp) */
        {"89 04 24", GT_RETURN_WORD_REPLACED},    /* mov %eax,(%esp) */
        {"48 c7 04 24 00000000", GT_RETURN_WORD_REPLACED},
        {"48 89 44 24 08", GT_RETURN_WORD_USED}, /* above it */
        {"49 89 04 24", GT_RETURN_WORD_USED},    /* mov %rax,(%r12): looked at as %rsp's */
        {"48 8b 04 24", GT_RETURN_WORD_USED},    /* mov (%rsp),%rax */
        {"48 87 04 24", GT_RETURN_WORD_USED},    /* xchg */
        {"50", GT_RETURN_WORD_USED},             /* push */
        {"59", GT_RETURN_WORD_USED},             /* pop */
        {"48 83 ec 08", GT_RETURN_WORD_USED},    /* sub $8,%rsp */
        {"c9", GT_RETURN_WORD_USED},             /* leave */
        {"f3 0f 1e fa", GT_RETURN_WORD_KEPT},    /* endbr64 */
        {"0f ae e8", GT_RETURN_WORD_KEPT},       /* lfence */
        {"0f 1f 44 00 00", GT_RETURN_WORD_KEPT}, /* nop */
        {"cc", GT_RETURN_WORD_KEPT},
    };
    uint8_t bytes[16];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = from_hex(forms[i].bytes, bytes);
        if (gt_arch_x86_64.return_word(bytes, n) != forms[i].use)
            fail_msg("%s: %u", forms[i].bytes, gt_arch_x86_64.return_word(bytes, n));
    }
}

/* Sizes, and whether control stops; of a part of an instruction more than there is. */
static void test_traps(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool stops;
    } forms[] = {
        {"cc", 1, true},           /* int3 */
        {"f4", 1, true},           /* hlt */
        {"0f 0b", 2, true},        /* ud2 */
        {"eb f9", 2, true},        /* jmp to pause */
        {"eb fe", 2, true},        /* jmp to itself */
        {"f3 90", 2, false},       /* pause */
        {"0f ae e8", 3, false},    /* lfence */
        {"90", 1, false},          /* nop */
        {"66 90", 2, false},       /* nop */
        {"0f 1f 40 00", 4, false}, /* nop */
        {"66 2e 0f 1f 84 00 00000000", 10, false},
        {"eb 10", 0, false},       /* forward */
        {"eb 80", 0, false},       /* far back */
        {"0f ae f0", 0, false},    /* mfence */
        {"f3 0f 1e fa", 0, false}, /* endbr64 */
        {"48 83 c4 08", 0, false},
        {"c3", 0, false},
        {"e8 00000000", 0, false},
        {"0f", 2, false}, /* parts */
        {"0f ae", 3, false},
        {"f3", 2, false},
        {"eb", 2, false},
        {"66", 2, false},
        {"0f 1f 84", 4, false},
    };
    uint8_t bytes[16];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = from_hex(forms[i].bytes, bytes);
        bool stops = !forms[i].stops;
        size_t size = gt_arch_x86_64.trap_size(bytes, n, &stops);
        if (size != forms[i].size || stops != forms[i].stops)
            fail_msg("%s: %zu %d", forms[i].bytes, size, stops);
    }
}

/* iret finds the stack pointer in memory; the others have it, or leave it alone. */
static void test_pops(void **state)
{
    (void)state;
    static const uint8_t iretq[] = {0x48, 0xcf}, sysretq[] = {0x48, 0x0f, 0x07}, iret = 0xcf;
    assert_true(gt_arch_x86_64.pops_sp(iretq, sizeof iretq));
    assert_true(gt_arch_i386.pops_sp(&iret, 1));
    assert_false(gt_arch_x86_64.pops_sp(sysretq, sizeof sysretq));
    assert_false(gt_arch_x86_64.pops_sp(iretq, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stack_pointer), cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_return_word),
        cmocka_unit_test(test_steps),         cmocka_unit_test(test_plain_accesses),
        cmocka_unit_test(test_pops),          cmocka_unit_test(test_traps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
