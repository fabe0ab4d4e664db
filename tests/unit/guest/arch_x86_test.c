/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86 control transfers in every mode, and what may stand before a return address. */
#include "arch_x86_forms.h"

static void test_direct_transfers(void **state)
{
    static const struct form forms[] = {
        {"e8 00000000", GT_INSN_CALL, PC + 5}, /* to the next instruction */
        {"e8 fbffffff", GT_INSN_CALL, PC},
        {"e8 78563412", GT_INSN_CALL, PC + 5 + 0x12345678},
        {"e8 00000080", GT_INSN_CALL, PC + 5 - 0x80000000},
        {"f2 e8 10000000", GT_INSN_CALL, PC + 0x16},     /* bnd */
        {"666648 e8 10000000", GT_INSN_CALL, PC + 0x18}, /* as the linker pads TLS calls */
        {"40 e8 10000000", GT_INSN_CALL, PC + 0x16},
        {"e9 7fffffff", GT_INSN_JUMP, PC + 5 - 0x81},
        {"3e e9 01000000", GT_INSN_JUMP, PC + 7},
        {"eb fe", GT_INSN_JUMP, PC},
        {"eb 7f", GT_INSN_JUMP, PC + 0x81},
        {"f2 eb 80", GT_INSN_JUMP, PC + 3 - 0x80},
        {"70 00", GT_INSN_BRANCH, PC + 2},
        {"7f 80", GT_INSN_BRANCH, PC + 2 - 0x80},
        {"2e 74 05", GT_INSN_BRANCH, PC + 8}, /* not taken hint */
        {"0f80 00010000", GT_INSN_BRANCH, PC + 0x106},
        {"0f8f faffffff", GT_INSN_BRANCH, PC},
        {"f2 0f85 00000000", GT_INSN_BRANCH, PC + 7},
        {"e0 01", GT_INSN_BRANCH, PC + 3},
        {"e1 fe", GT_INSN_BRANCH, PC},
        {"e2 10", GT_INSN_BRANCH, PC + 0x12},
        {"e3 ff", GT_INSN_BRANCH, PC + 1},
        {"67 e3 00", GT_INSN_BRANCH, PC + 3},
        {"c7f8 0a000000", GT_INSN_BRANCH, PC + 0x10}, /* xbegin, to its abort handler */
    };

    (void)state;
    CHECK(&gt_arch_x86_64, PC, forms);
}

static void test_indirect_transfers(void **state)
{
    static const struct form forms[] = {
        {"ff d0", GT_INSN_CALL_INDIRECT, 0},
        {"41 ff d4", GT_INSN_CALL_INDIRECT, 0},
        {"3e ff d0", GT_INSN_CALL_INDIRECT, 0}, /* notrack */
        {"f2 ff d0", GT_INSN_CALL_INDIRECT, 0}, /* bnd */
        {"ff 10", GT_INSN_CALL_INDIRECT, 0},
        {"ff 50 08", GT_INSN_CALL_INDIRECT, 0},
        {"ff 14 24", GT_INSN_CALL_INDIRECT, 0},
        {"ff 54 24 08", GT_INSN_CALL_INDIRECT, 0},
        {"ff 15 00000000", GT_INSN_CALL_INDIRECT, 0},
        {"ff 90 00010000", GT_INSN_CALL_INDIRECT, 0},
        {"ff 14 c5 00000000", GT_INSN_CALL_INDIRECT, 0},
        {"41 ff 94 24 00010000", GT_INSN_CALL_INDIRECT, 0},
        {"64 ff 15 10000000", GT_INSN_CALL_INDIRECT, 0},
        {"ff 18", GT_INSN_CALL_INDIRECT, 0}, /* far */
        {"48 ff 1d 00000000", GT_INSN_CALL_INDIRECT, 0},
        {"ff e0", GT_INSN_JUMP_INDIRECT, 0},
        {"3e ff e2", GT_INSN_JUMP_INDIRECT, 0},
        {"f2 ff 25 00000000", GT_INSN_JUMP_INDIRECT, 0},
        {"ff 24 c5 00000000", GT_INSN_JUMP_INDIRECT, 0},
        {"ff 2d 00000000", GT_INSN_JUMP_INDIRECT, 0}, /* far */
        {"48 ff 28", GT_INSN_JUMP_INDIRECT, 0},
        {"ff d8", GT_INSN_OTHER, 0}, /* far ones have no register form */
        {"ff e8", GT_INSN_OTHER, 0},
        {"ff 00", GT_INSN_OTHER, 0}, /* inc */
        {"ff c8", GT_INSN_OTHER, 0}, /* dec */
        {"ff 30", GT_INSN_OTHER, 0}, /* push */
        {"ff f8", GT_INSN_OTHER, 0},
        {"c3", GT_INSN_RETURN, 0},
        {"f3 c3", GT_INSN_RETURN, 0},
        {"f2 c3", GT_INSN_RETURN, 0},
        {"c2 0800", GT_INSN_RETURN, 0},
        {"f2 c2 0800", GT_INSN_RETURN, 0},
        {"cb", GT_INSN_RETURN, 0},
        {"48 cb", GT_INSN_RETURN, 0},
        {"ca 0400", GT_INSN_RETURN, 0},
    };

    (void)state;
    CHECK(&gt_arch_x86_64, PC, forms);
    CHECK(&gt_arch_x86_64, 0, forms);
}

static void test_privileged(void **state)
{
    static const struct form forms[] = {
        {"cf", GT_INSN_EXCEPTION_RETURN, 0},
        {"48 cf", GT_INSN_EXCEPTION_RETURN, 0},
        {"66 cf", GT_INSN_EXCEPTION_RETURN, 0},
        {"0f07", GT_INSN_EXCEPTION_RETURN, 0},
        {"48 0f07", GT_INSN_EXCEPTION_RETURN, 0},
        {"0f35", GT_INSN_EXCEPTION_RETURN, 0},
        {"48 0f35", GT_INSN_EXCEPTION_RETURN, 0},
        {"0faa", GT_INSN_EXCEPTION_RETURN, 0},
        {"f3 0f01ec", GT_INSN_EXCEPTION_RETURN, 0}, /* uiret */
        {"f2 0f01ca", GT_INSN_EXCEPTION_RETURN, 0}, /* erets */
        {"f3 0f01ca", GT_INSN_EXCEPTION_RETURN, 0}, /* eretu */
        {"0f01ca", GT_INSN_OTHER, 0},               /* clac */
        {"0f01ec", GT_INSN_OTHER, 0},
        {"f3 0f01ee", GT_INSN_OTHER, 0}, /* clui */
        {"0f05", GT_INSN_SYSCALL, 0},
        {"0f34", GT_INSN_SYSCALL, 0},
        {"cd 80", GT_INSN_SYSCALL, 0},
        {"cd 2e", GT_INSN_SYSCALL, 0},
        {"cd 03", GT_INSN_SYSCALL, 0},
        {"f1", GT_INSN_SYSCALL, 0},
        {"ce", GT_INSN_SYSCALL, 0},
        {"0f01c1", GT_INSN_SYSCALL, 0},
        {"0f01d9", GT_INSN_SYSCALL, 0},
        {"cc", GT_INSN_TRAP, 0},
        {"0f0b", GT_INSN_TRAP, 0},
        {"0fb9 c0", GT_INSN_TRAP, 0},
        {"67 0fb9 40 02", GT_INSN_TRAP, 0},
        {"0fff", GT_INSN_TRAP, 0},
        {"0fff c0", GT_INSN_TRAP, 0},
        {"0fff 05 00000000", GT_INSN_TRAP, 0},
        {"0f01 18", GT_INSN_VECTOR_WRITE, 0}, /* lidt */
        {"0f01 1d 00000000", GT_INSN_VECTOR_WRITE, 0},
        {"0f01 5c24 02", GT_INSN_VECTOR_WRITE, 0},
        {"0f30", GT_INSN_VECTOR_WRITE, 0},
        {"0f01c6", GT_INSN_VECTOR_WRITE, 0},    /* wrmsrns */
        {"f3 0f01c6", GT_INSN_VECTOR_WRITE, 0}, /* wrmsrlist */
        {"f2 0f01c6", GT_INSN_OTHER, 0},        /* rdmsrlist */
        {"0f01 10", GT_INSN_OTHER, 0},          /* lgdt */
        {"0f01 08", GT_INSN_OTHER, 0},          /* sidt */
        {"0f01d8", GT_INSN_OTHER, 0},           /* vmrun */
        {"0f01f8", GT_INSN_OTHER, 0},           /* swapgs */
        {"0f32", GT_INSN_OTHER, 0},             /* rdmsr */
        {"f4", GT_INSN_OTHER, 0},               /* hlt */
    };

    (void)state;
    CHECK(&gt_arch_x86_64, PC, forms);
}

/* 16-bit code, whose near branches stay in their 64 KiB, and the 32-bit code that 66 makes so. */
static void test_short_pointers(void **state)
{
    static const struct form forms[] = {
        {"e8 1000", GT_INSN_CALL, 0xf8013},
        {"e8 0090", GT_INSN_CALL, 0xf1003}, /* wraps upwards */
        {"e9 0070", GT_INSN_JUMP, 0xff003},
        {"e9 0080", GT_INSN_JUMP, 0xf0003},
        {"eb fe", GT_INSN_JUMP, 0xf8000},
        {"0f84 fcff", GT_INSN_BRANCH, 0xf8000},
        {"c7f8 0c00", GT_INSN_BRANCH, 0xf8010},
        {"66 e8 00000000", GT_INSN_CALL, 0xf8006}, /* 32-bit operand */
        {"66 0f84 00010000", GT_INSN_BRANCH, 0xf8107},
        {"66 e8 0000", GT_INSN_CALL, 0x8004}, /* 16-bit operand in 32-bit code */
        {"66 e9 feff", GT_INSN_JUMP, 0x8002},
        {"66 0f84 0000", GT_INSN_BRANCH, 0x8005},
        {"ea 5be0 00f0", GT_INSN_JUMP_INDIRECT, 0}, /* where the segment is, nobody says */
        {"ea 78563412 0800", GT_INSN_JUMP_INDIRECT, 0},
        {"66 ea 78563412 0800", GT_INSN_JUMP_INDIRECT, 0},
        {"9a 3412 0010", GT_INSN_CALL_INDIRECT, 0},
        {"9a f0debc9a 0800", GT_INSN_CALL_INDIRECT, 0},
        {"e8 000000f0", GT_INSN_CALL, 0xf00f8005}, /* not below 0 */
        {"ff 16 3412", GT_INSN_CALL_INDIRECT, 0},
        {"ff 1e 3412", GT_INSN_CALL_INDIRECT, 0},
        {"ff 14", GT_INSN_CALL_INDIRECT, 0},
        {"ff 54 24", GT_INSN_CALL_INDIRECT, 0},
        {"ff 57 10", GT_INSN_CALL_INDIRECT, 0},
        {"ff 97 1000", GT_INSN_CALL_INDIRECT, 0},
        {"2e ff 2e 3412", GT_INSN_JUMP_INDIRECT, 0},
        {"0f01 1e 3412", GT_INSN_VECTOR_WRITE, 0},
        {"8b 26 3412", GT_INSN_STACK_SWITCH, 0},
        {"40", GT_INSN_OTHER, 0}, /* inc %ax, not REX */
        {"66 48", GT_INSN_OTHER, 0},
    };

    (void)state;
    CHECK(&gt_arch_x86_64, 0xf8000, forms);
    CHECK(&gt_arch_i386, 0xf8000, forms);
}

static void test_i386(void **state)
{
    static const struct form forms[] = {
        {"e8 00000080", GT_INSN_CALL, 0x08049005}, /* wraps */
        {"e9 fbffffff", GT_INSN_JUMP, 0x88049000},
        {"75 fe", GT_INSN_BRANCH, 0x88049000},
        {"0f85 00000078", GT_INSN_BRANCH, 0x00049006},
        {"ff d0", GT_INSN_CALL_INDIRECT, 0},
        {"c3", GT_INSN_RETURN, 0},
        {"cd 80", GT_INSN_SYSCALL, 0},
        {"89 c4", GT_INSN_STACK_SWITCH, 0},
        {"8b 60 04", GT_INSN_STACK_SWITCH, 0},
        {"8d 61 fc", GT_INSN_STACK_SWITCH, 0}, /* lea -4(%ecx),%esp: main's epilogue */
        {"8d 65 f4", GT_INSN_OTHER, 0},        /* lea -12(%ebp),%esp */
        {"48", GT_INSN_OTHER, 0},              /* dec %eax */
        {"c4 60 10", GT_INSN_STACK_SWITCH, 0}, /* les */
        {"c5 20", GT_INSN_STACK_SWITCH, 0},    /* lds */
        {"c5 f8 77", GT_INSN_OTHER, 0},        /* vzeroupper */
        {"48 c3", GT_INSN_OTHER, 0},           /* two instructions there: no instruction */
    };
    static const struct form high[] = {
        {"e8 00000080", GT_INSN_CALL, UINT64_C(0x08049005)},
    };

    (void)state;
    CHECK(&gt_arch_i386, 0x88049000, forms);
    CHECK(&gt_arch_i386, UINT64_C(0xffffffff88049000), high);
}

static void test_not_instructions(void **state)
{
    static const struct form forms[] = {
        {"", GT_INSN_OTHER, 0},
        {"66", GT_INSN_OTHER, 0},
        {"48", GT_INSN_OTHER, 0},
        {"f3 2e 3e", GT_INSN_OTHER, 0},
        {"0f", GT_INSN_OTHER, 0},
        {"e8", GT_INSN_OTHER, 0},
        {"e8 00", GT_INSN_OTHER, 0},
        {"e8 000000", GT_INSN_OTHER, 0},
        {"e8 0000000000", GT_INSN_OTHER, 0},
        {"eb", GT_INSN_OTHER, 0},
        {"eb 0000", GT_INSN_OTHER, 0},
        {"0f84", GT_INSN_OTHER, 0},
        {"0f84 00", GT_INSN_OTHER, 0},
        {"c7", GT_INSN_OTHER, 0},
        {"c7 f8", GT_INSN_OTHER, 0},
        {"c7 f8 00", GT_INSN_OTHER, 0},
        {"c7 c4", GT_INSN_OTHER, 0},
        {"c3 00", GT_INSN_OTHER, 0},
        {"c2 00", GT_INSN_OTHER, 0},
        {"cd", GT_INSN_OTHER, 0},
        {"ff", GT_INSN_OTHER, 0},
        {"48 ff 14", GT_INSN_OTHER, 0}, /* without REX `call *(%si)` */
        {"ff 54 24 08 00", GT_INSN_OTHER, 0},
        {"ff 15 000000", GT_INSN_OTHER, 0},
        {"0f01", GT_INSN_OTHER, 0},
        {"0f01 1d 00", GT_INSN_OTHER, 0},
        {"0f05 00", GT_INSN_OTHER, 0},
        {"8b", GT_INSN_OTHER, 0},
        {"8d", GT_INSN_OTHER, 0},
        {"0f20", GT_INSN_OTHER, 0},
        {"ea 000000", GT_INSN_OTHER, 0},
        {"66666666 66666666 66666666 6666 c3", GT_INSN_RETURN, 0},  /* 15 bytes */
        {"66666666 66666666 66666666 666666 c3", GT_INSN_OTHER, 0}, /* 16 */
    };

    (void)state;
    CHECK(&gt_arch_x86_64, PC, forms);
}

/* Every opcode byte behind every one, with bytes that ask for the longest operands. */
static void test_any_bytes(void **state)
{
    uint8_t bytes[16];

    (void)state;
    for (unsigned v = 0; v < 0x10000; v++) {
        memset(bytes, v & 1 ? 0x84 : 0x25, sizeof bytes);
        bytes[0] = (uint8_t)(v >> 8);
        bytes[1] = (uint8_t)v;
        for (size_t n = 0; n < 10; n++) {
            struct gt_arch_insn insn = classify(&gt_arch_x86_64, bytes, n, PC);
            bool has_target = insn.kind == GT_INSN_CALL || insn.kind == GT_INSN_JUMP ||
                              insn.kind == GT_INSN_BRANCH;

            assert_true(insn.kind <= GT_INSN_VECTOR_WRITE);
            assert_true(has_target || insn.target == 0);
        }
    }
}

static bool may_follow(const char *hex, size_t before)
{
    uint8_t bytes[32];
    size_t size = from_hex(hex, bytes);
    uint8_t *copy = calloc(1, before + size);
    bool yes;

    assert_non_null(copy);
    memcpy(copy + before, bytes, size);
    yes = gt_arch_x86_64.may_follow_call(copy + before + size, before + size);
    free(copy);
    return yes;
}

static void test_may_follow_call(void **state)
{
    static const char *const calls[] = {
        "e8 44332211",
        "666648 e8 44332211",
        "e8 4433",
        "66 e8 4433",
        "66 e8 44332211",
        "9a 44332211",
        "9a 44332211 0800",
        "cc 44332211", /* a call that is being patched in */
        "ff d0",
        "41 ff d7",
        "ff 10",
        "ff 53 08",
        "ff 14 c6",
        "ff 54 24 08",
        "ff 15 44332211",
        "ff 93 44332211",
        "ff 14 c5 44332211",
        "ff 94 c3 44332211",
        "41 ff 94 24 44332211",
        "3e 41 ff 94 24 44332211",
        "ff 16 4433",
        "ff 97 4433",
        "ff 57 10",
        "ff 1d 44332211",
        "48 ff 1b",
        "ff 5c 24 10",
    };
    static const char *const others[] = {
        "",
        "90",
        "9090909090909090",
        "c3",
        "e9 44332211",
        "eb 10",
        "ff e0",
        "ff 25 44332211",
        "ff 30",
        "ff c0",
        "48 89 e5",
        "0f05",
        "e8",
        "e8 11",
        "ff",
        "10",
        "44332211",
        "cccccccccccccccc",
    };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!may_follow(calls[i], 0) || !may_follow(calls[i], 8))
            fail_msg("no call seen in %s", calls[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (may_follow(others[i], 0) || may_follow(others[i], 8))
            fail_msg("a call seen in %s", others[i]);
}

static void test_descriptions(void **state)
{
    (void)state;
    assert_ptr_equal(gt_arch_by_target("x86_64"), &gt_arch_x86_64);
    assert_ptr_equal(gt_arch_by_target("i386"), &gt_arch_i386);
    assert_ptr_equal(gt_arch_by_elf(62, 64), &gt_arch_x86_64);
    assert_ptr_equal(gt_arch_by_elf(3, 32), &gt_arch_i386);
    assert_null(gt_arch_by_elf(62, 32));
    assert_string_equal(gt_arch_x86_64.sp_register, "rsp");
    assert_string_equal(gt_arch_x86_64.fp_registers[0], "rbp");
    assert_null(gt_arch_x86_64.fp_registers[1]);
    assert_string_equal(gt_arch_i386.sp_register, "esp");
    assert_string_equal(gt_arch_i386.fp_registers[0], "ebp");
    assert_int_equal(gt_arch_x86_64.insn_min, 1);
    assert_int_equal(gt_arch_x86_64.insn_max, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_transfers),
        cmocka_unit_test(test_indirect_transfers),
        cmocka_unit_test(test_privileged),
        cmocka_unit_test(test_short_pointers),
        cmocka_unit_test(test_i386),
        cmocka_unit_test(test_not_instructions),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_may_follow_call),
        cmocka_unit_test(test_descriptions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
