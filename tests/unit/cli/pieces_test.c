/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command's small parts alone: numbers, amounts, QEMU's option syntax and version texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/number.h"
#include "cli/amount.h"
#include "cli/record/machine.h"
#include "cli/record/qemu.h"
#include "names/image/symbol_source.h"

#include <elf.h>
#include <glib.h>

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int status;
        uint64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"10", 0, 10},
        {"010", 0, 10},
        {"0x10", 0, 16},
        {"0Xff", 0, 255},
        {"18446744073709551615", 0, UINT64_MAX},
        {"0xffffffffffffffff", 0, UINT64_MAX},
        {"18446744073709551616", GT_E_RANGE, 0},
        {"0x10000000000000000", GT_E_RANGE, 0},
        {"", GT_E_FORMAT, 0},
        {"0x", GT_E_FORMAT, 0},
        {"0x0x1", GT_E_FORMAT, 0},
        {"-1", GT_E_FORMAT, 0},
        {"+1", GT_E_FORMAT, 0},
        {" 1", GT_E_FORMAT, 0},
        {"1 ", GT_E_FORMAT, 0},
        {"0x 1", GT_E_FORMAT, 0},
        {"ff", GT_E_FORMAT, 0},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint64_t n = 0;
        assert_int_equal(gt_text_number_parse(cases[i].text, &n), cases[i].status);
        assert_int_equal(n, cases[i].value);
    }
    uint64_t n;
    assert_int_equal(gt_text_number_parse_signed("-0x10", &n), 0);
    assert_int_equal(n, -UINT64_C(16));
    assert_int_equal(gt_text_number_parse_signed("+3", &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(gt_text_number_parse_signed("--3", &n), GT_E_FORMAT);
}

static void check_short(uint64_t n, const char *expected)
{
    g_autofree char *text = gt_cli_amount_short(n);
    assert_string_equal(text, expected);
}

static void check_exact(uint64_t n, const char *expected)
{
    g_autofree char *text = gt_cli_amount_exact(n);
    assert_string_equal(text, expected);
}

static void test_amounts(void **state)
{
    (void)state;
    check_short(0, "0 ");
    check_short(999, "999 ");
    check_short(1000, "1.00 k");
    check_short(9994, "9.99 k");
    check_short(9996, "10.0 k");
    check_short(99960, "100 k");
    check_short(999499, "999 k");
    check_short(999500, "1.00 M");
    check_short(12345678, "12.3 M");
    check_short(197000000, "197 M");
    check_short(UINT64_MAX, "18.4 E");
    check_exact(0, "0");
    check_exact(999, "999");
    check_exact(1000, "1,000");
    check_exact(1234567, "1,234,567");
    check_exact(UINT64_MAX, "18,446,744,073,709,551,615");
}

static void check_version(const char *text, const char *expected)
{
    g_autofree char *version = gt_record_qemu_version_in(text);
    if (expected)
        assert_string_equal(version, expected);
    else
        assert_null(version);
}

static void test_versions(void **state)
{
    (void)state;
    check_version("qemu-x86_64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright",
                  "7.2.22");
    check_version("QEMU emulator version 11.1.3\n", "11.1.3");
    check_version("QEMU emulator version 10.2 (v10.2-dirty)", "10.2.0");
    check_version("version x", NULL);
    check_version("version 9", NULL);
    check_version("", NULL);
}

static void test_terminal(void **state)
{
    (void)state;
    static const struct {
        bool uses;
        const char *argv[4];
    } cases[] = {
        {false, {"-M", "virt", "-serial", NULL}},
        {true, {"-M", "virt", "-nographic", NULL}},
        {true, {"--nographic", NULL}},
        {true, {"-serial", "stdio", NULL}},
        {true, {"-serial", "mon:stdio", NULL}},
        {true, {"-monitor", "stdio", NULL}},
        {true, {"-chardev", "stdio,id=c0,mux=on", NULL}},
        {true, {"-display", "curses", NULL}},
        {true, {"-curses", NULL}},
        {false, {"-display", "none", NULL}},
        {false, {"-serial", "file:x.log", NULL}},
        {false, {NULL}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_int_equal(gt_record_qemu_uses_terminal((char *const *)cases[i].argv), cases[i].uses);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(gt_record_qemu_is_name("qemu-system-arm"));
    assert_true(gt_record_qemu_is_name("/a/b/qemu-x86_64"));
    assert_false(gt_record_qemu_is_name("qemu"));
    assert_false(gt_record_qemu_is_name("/qemu-x86_64/prog"));
    assert_true(gt_record_qemu_is_user_name("/a/qemu-riscv64"));
    assert_false(gt_record_qemu_is_user_name("qemu-system-riscv64"));
    assert_false(gt_record_qemu_is_user_name("qemu-riscv64-wrapper"));
    g_autoptr(GString) value = g_string_new("x=");
    gt_record_qemu_append_value(value, ",a,,b,");
    assert_string_equal(value->str, "x=,,a,,,,b,,");
}

static void test_machines(void **state)
{
    (void)state;
    assert_string_equal(gt_record_guest_target_find(EM_X86_64, 64, ELFDATA2LSB)->target, "x86_64");
    assert_string_equal(gt_record_guest_target_find(EM_PPC64, 64, ELFDATA2LSB)->target, "ppc64le");
    assert_string_equal(gt_record_guest_target_find(EM_PPC64, 64, ELFDATA2MSB)->target, "ppc64");
    assert_string_equal(gt_record_guest_target_find(EM_RISCV, 32, ELFDATA2LSB)->target, "riscv32");
    assert_null(gt_record_guest_target_find(EM_X86_64, 32, ELFDATA2LSB)); /* x32 */
    assert_null(gt_record_guest_target_find(EM_AVR, 32, ELFDATA2LSB));
}

static void check_split(const char *text, const char *path, bool has, uint64_t expected)
{
    g_autofree char *got = NULL;
    bool has_offset;
    uint64_t offset;
    gt_image_symbol_source_split(text, &got, &has_offset, &offset);
    assert_string_equal(got, path);
    assert_int_equal(has_offset, has);
    assert_int_equal(offset, expected);
}

static void test_split(void **state)
{
    (void)state;
    check_split("fw.elf", "fw.elf", false, 0);
    check_split("fw.elf:0x80000000", "fw.elf", true, 0x80000000);
    check_split("fw.elf:-16", "fw.elf", true, -UINT64_C(16));
    check_split("a:b/fw.elf", "a:b/fw.elf", false, 0);
    check_split("a:1:2", "a:1", true, 2);
    check_split("fw.elf:", "fw.elf:", false, 0);
    check_split("fw.elf:0xfg", "fw.elf:0xfg", false, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_versions), cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_machines),
        cmocka_unit_test(test_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
