/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The privilege level that registers tell, by its name. */
#include "guest/arch/privilege.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* By the registers' values; those that are left out are 0. */
static const char *name_at(const char *arch, const uint64_t values[GT_PRIVILEGE_REGISTERS])
{
    const struct gt_arch_privilege *p = gt_arch_privilege_by_arch(arch);
    assert_non_null(p);
    unsigned level = p->level(values);
    assert_true(level < GT_PRIVILEGE_LEVELS);
    assert_non_null(p->names[level]);
    return p->names[level];
}

#define NAME(arch, ...) name_at(arch, (const uint64_t[GT_PRIVILEGE_REGISTERS]){__VA_ARGS__})

static void test_aarch64(void **state)
{
    (void)state;
    assert_string_equal(NAME("aarch64", 0x80000000, 1), "NS-EL0");
    assert_string_equal(NAME("aarch64", 0x3c4, 1), "NS-EL1");
    assert_string_equal(NAME("aarch64", 0x3c5, 1), "NS-EL1");
    assert_string_equal(NAME("aarch64", 0x3c9, 0x501), "NS-EL2");
    assert_string_equal(NAME("aarch64", 0x3cd, 1), "EL3");
    assert_string_equal(NAME("aarch64", 0x10, 1), "NS-EL0"); /* 32 bit: usr, svc, mon, hyp, sys */
    assert_string_equal(NAME("aarch64", 0x13, 1), "NS-EL1");
    assert_string_equal(NAME("aarch64", 0x16, 1), "EL3");
    assert_string_equal(NAME("aarch64", 0x1a, 1), "NS-EL2");
    assert_string_equal(NAME("aarch64", 0x1f, 1), "NS-EL1");
}

static void test_worlds(void **state)
{
    (void)state;
    const uint64_t realm = UINT64_C(1) << 62 | 1, root = UINT64_C(1) << 62;
    assert_string_equal(NAME("aarch64", 0, 0), "S-EL0");
    assert_string_equal(NAME("aarch64", 5, 0x500), "S-EL1");
    assert_string_equal(NAME("aarch64", 9, 0), "S-EL2");
    assert_string_equal(NAME("aarch64", 13, 0), "EL3");
    assert_string_equal(NAME("aarch64", 0, realm), "R-EL0");
    assert_string_equal(NAME("aarch64", 4, realm), "R-EL1");
    assert_string_equal(NAME("aarch64", 9, realm | 0x500), "R-EL2");
    assert_string_equal(NAME("aarch64", 13, realm), "EL3");
    assert_string_equal(NAME("aarch64", 13, root), "EL3");
    const struct gt_arch_privilege *p = gt_arch_privilege_by_arch("aarch64");
    for (unsigned level = 0; level < GT_PRIVILEGE_LEVELS; level++)
        for (int w = 0; p->names[level] && w < GT_WORLDS; w++) {
            const char *got =
                p->names[gt_arch_privilege_in_world(level, (enum gt_arch_privilege_world)w)];
            const char *const worlds[] = {"NS", "S", "R"};
            char wanted[16];
            snprintf(wanted, sizeof wanted, "%s-%s", worlds[w], strrchr(p->names[level], 'E'));
            assert_string_equal(got, level == 3 ? "EL3" : wanted);
        }
    /* A CPU that has no EL3 has no register for it either. */
    assert_true(p->registers[1].may_lack);
    assert_string_equal(NAME("aarch64", 5, p->registers[1].if_lacks), "NS-EL1");
}

static void test_riscv64(void **state)
{
    (void)state;
    assert_string_equal(NAME("riscv64", 0), "U");
    assert_string_equal(NAME("riscv64", 1), "S");
    assert_string_equal(NAME("riscv64", 3), "M");
    assert_string_equal(NAME("riscv64", 4), "VU");
    assert_string_equal(NAME("riscv64", 5), "VS");
    assert_string_equal(NAME("riscv64", 7), "M");
    for (uint64_t any = 0; any < 32; any++)
        NAME("riscv64", any);
}

static void test_x86(void **state)
{
    (void)state;
    const char *const archs[] = {"x86_64", "i386"};
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(NAME(archs[i], 0xf000, 0x60000010, 2), "RealMode");
        assert_string_equal(NAME(archs[i], 0x10, 0x80050033, 2, 0x18), "Ring0");
        assert_string_equal(NAME(archs[i], 0x21, 0x80050033, 2, 0x29), "Ring1");
        assert_string_equal(NAME(archs[i], 0x22, 0x80050033, 2, 0x2a), "Ring2");
        assert_string_equal(NAME(archs[i], 0x33, 0x80050033, 2, 0x2b), "Ring3");
        assert_string_equal(NAME(archs[i], 0xf000, 0x80050033, 0x20002, 0), "Ring3");
        assert_string_equal(NAME(archs[i], 0x1003, 0x11, 2, 0x1000), "Ring0"); /* PE just set */
    }
}

static void test_ranks(void **state)
{
    (void)state;
    const char *const archs[] = {"aarch64", "riscv64", "x86_64", "i386"};
    for (size_t i = 0; i < 4; i++) {
        const struct gt_arch_privilege *p = gt_arch_privilege_by_arch(archs[i]);
        for (unsigned level = 0; level < GT_PRIVILEGE_LEVELS; level++) {
            const char *name = p->names[level];
            bool user = name && (strstr(name, "EL0") || strchr(name, 'U') || strstr(name, "g3"));
            assert_int_equal(user, name && p->rank[level] == 0);
        }
    }
    const uint8_t *riscv = gt_arch_privilege_by_arch("riscv64")->rank;
    assert_true(riscv[3] > riscv[1] && riscv[1] > riscv[5] && riscv[5] > riscv[4]);
}

static void test_unknown(void **state)
{
    (void)state;
    assert_null(gt_arch_privilege_by_arch("sparc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aarch64), cmocka_unit_test(test_worlds),
        cmocka_unit_test(test_riscv64), cmocka_unit_test(test_x86),
        cmocka_unit_test(test_ranks),   cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
