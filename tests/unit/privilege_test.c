/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The privilege level that registers tell, by its name. */
#include "guest/privilege.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *name(const char *arch, uint64_t a, uint64_t b, uint64_t c)
{
    const struct gt_privilege *p = gt_privilege_by_arch(arch);
    assert_non_null(p);
    unsigned level = p->level((const uint64_t[GT_PRIVILEGE_REGISTERS]){a, b, c});
    assert_true(level < GT_PRIVILEGE_LEVELS);
    assert_non_null(p->names[level]);
    return p->names[level];
}

static void test_aarch64(void **state)
{
    (void)state;
    assert_string_equal(name("aarch64", 0x80000000, 0, 0), "EL0");
    assert_string_equal(name("aarch64", 0x3c4, 0, 0), "EL1");
    assert_string_equal(name("aarch64", 0x3c5, 0, 0), "EL1");
    assert_string_equal(name("aarch64", 0x3c9, 0, 0), "EL2");
    assert_string_equal(name("aarch64", 0x3cd, 0, 0), "EL3");
    assert_string_equal(name("aarch64", 0x10, 0, 0), "EL0"); /* 32 bit: usr, svc, mon, hyp, sys */
    assert_string_equal(name("aarch64", 0x13, 0, 0), "EL1");
    assert_string_equal(name("aarch64", 0x16, 0, 0), "EL3");
    assert_string_equal(name("aarch64", 0x1a, 0, 0), "EL2");
    assert_string_equal(name("aarch64", 0x1f, 0, 0), "EL1");
}

static void test_riscv64(void **state)
{
    (void)state;
    assert_string_equal(name("riscv64", 0, 0, 0), "U");
    assert_string_equal(name("riscv64", 1, 0, 0), "S");
    assert_string_equal(name("riscv64", 3, 0, 0), "M");
    for (uint64_t any = 0; any < 16; any++)
        name("riscv64", any, 0, 0);
}

static void test_x86(void **state)
{
    (void)state;
    const char *const archs[] = {"x86_64", "i386"};
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(name(archs[i], 0xf000, 0x60000010, 2), "RealMode");
        assert_string_equal(name(archs[i], 0x10, 0x80050033, 2), "Ring0");
        assert_string_equal(name(archs[i], 0x21, 0x80050033, 2), "Ring1");
        assert_string_equal(name(archs[i], 0x22, 0x80050033, 2), "Ring2");
        assert_string_equal(name(archs[i], 0x33, 0x80050033, 2), "Ring3");
        assert_string_equal(name(archs[i], 0xf000, 0x80050033, 0x20002), "Ring3");
    }
}

static void test_unknown(void **state)
{
    (void)state;
    assert_null(gt_privilege_by_arch("sparc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_riscv64),
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
