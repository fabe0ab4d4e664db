/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes, times and numbers that users write. */
#include "base/number.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    NUMBER = GT_QUANTITY_NUMBER,
    SIZE = GT_QUANTITY_SIZE,
    TIME = GT_QUANTITY_TIME,
    INSNS = GT_QUANTITY_INSNS,
    ALL = NUMBER | SIZE | TIME | INSNS,
};

static const struct {
    const char *text;
    unsigned kinds;
    int result;
    uint64_t value;
} rows[] = {
    {"0", NUMBER, NUMBER, 0},
    {"12", ALL, NUMBER, 12},
    {"0x1F", ALL, NUMBER, 31},
    {"0x10k", ALL, SIZE, 16384},
    {"64k", ALL, SIZE, 65536},
    {"64K", SIZE, SIZE, 65536},
    {"1.5M", SIZE, SIZE, 1572864},
    {"2g", SIZE, SIZE, UINT64_C(1) << 31},
    {"2m", SIZE, SIZE, 2 << 20},
    {"2m", TIME, TIME, UINT64_C(120000000000)},
    {"2m", SIZE | TIME, GT_E_FORMAT, 0},
    {"2M", SIZE | TIME, SIZE, 2 << 20},
    {"2min", SIZE | TIME, TIME, UINT64_C(120000000000)},
    {"10s", ALL, TIME, UINT64_C(10000000000)},
    {"1.25US", TIME, TIME, 1250},
    {"1.0009us", TIME, TIME, 1000},
    {"0.0000000005s", TIME, TIME, 0},
    {"5000insn", ALL, INSNS, 5000},
    {"18446744073709551615", NUMBER, NUMBER, UINT64_MAX},
    {"18446744073709551616", NUMBER, GT_E_RANGE, 0},
    {"18446744073.709551615s", TIME, TIME, UINT64_MAX},
    {"18446744073.709551616s", TIME, GT_E_RANGE, 0},
    {"17179869184g", SIZE, GT_E_RANGE, 0},
    {"111111111111111111111111111", NUMBER, GT_E_RANGE, 0},
    {"1.5", ALL, GT_E_FORMAT, 0},
    {"10s", SIZE, GT_E_FORMAT, 0},
    {"10", SIZE | TIME, GT_E_FORMAT, 0},
    {"", ALL, GT_E_FORMAT, 0},
    {"k", ALL, GT_E_FORMAT, 0},
    {"0x", ALL, GT_E_FORMAT, 0},
    {"0x1.5s", ALL, GT_E_FORMAT, 0},
    {"1.s", ALL, GT_E_FORMAT, 0},
    {".5s", ALL, GT_E_FORMAT, 0},
    {"1 s", ALL, GT_E_FORMAT, 0},
    {" 1s", ALL, GT_E_FORMAT, 0},
    {"-1s", ALL, GT_E_FORMAT, 0},
    {"1sx", ALL, GT_E_FORMAT, 0},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 7;
        int result =
            gt_text_quantity_parse(rows[i].text, strlen(rows[i].text), rows[i].kinds, &value);
        if (result != rows[i].result || (result > 0 && value != rows[i].value))
            fail_msg("'%s' as %u: %d, %llu", rows[i].text, rows[i].kinds, result,
                     (unsigned long long)value);
    }
}

/* Only the bytes that are given. */
static void test_part(void **state)
{
    uint64_t value = 0;
    (void)state;
    assert_int_equal(gt_text_quantity_parse("10ms", 3, SIZE, &value), SIZE);
    assert_int_equal(value, 10 << 20);
    assert_int_equal(gt_text_quantity_parse("10ms", 2, NUMBER, &value), NUMBER);
    assert_int_equal(value, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
