/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A take function takes what it names, or nothing; numbers end at their largest value. */
#include "base/cursor.h"
#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef bool (*take)(struct gt_text_cursor *c, uint64_t max, uint64_t *out);

/* Memory of its size, so that a sanitizer sees who reads beyond it. */
static void check(take f, const char *text, uint64_t max, bool good, uint64_t value, size_t taken)
{
    size_t n = strlen(text);
    char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, text, n);
    struct gt_text_cursor c = {exact, n};
    uint64_t got = 77;
    if (f(&c, max, &got) != good)
        fail_msg("\"%s\" is %staken", text, good ? "not " : "");
    assert_true(got == (good ? value : 77));
    assert_ptr_equal(c.at, exact + taken);
    assert_int_equal(c.left, n - taken);
    free(exact);
}

static void none(take f, const char *text, uint64_t max)
{
    check(f, text, max, false, 0, 0);
}

static void some(take f, const char *text, uint64_t max, uint64_t value, size_t taken)
{
    check(f, text, max, true, value, taken);
}

static void test_decimal(void **state)
{
    (void)state;
    some(gt_text_take_dec, "0", 0, 0, 1);
    some(gt_text_take_dec, "12a", UINT64_MAX, 12, 2);
    some(gt_text_take_dec, "000000000000000000000000000007 ", 9, 7, 30);
    some(gt_text_take_dec, "18446744073709551615", UINT64_MAX, UINT64_MAX, 20);
    some(gt_text_take_dec, "4294967295", UINT32_MAX, UINT32_MAX, 10);
    none(gt_text_take_dec, "18446744073709551616", UINT64_MAX);
    none(gt_text_take_dec, "99999999999999999999999", UINT64_MAX);
    none(gt_text_take_dec, "4294967296", UINT32_MAX);
    none(gt_text_take_dec, "1", 0);
    none(gt_text_take_dec, "10", 9);
    static const char *const no_number[] = {"", " 1", "-1", "+1", "a", "/", ":"};
    for (size_t i = 0; i < sizeof no_number / sizeof *no_number; i++)
        none(gt_text_take_dec, no_number[i], UINT64_MAX);
}

static void test_hex(void **state)
{
    (void)state;
    static const take both[] = {gt_text_take_hex, gt_text_take_lower_hex};
    for (size_t i = 0; i < 2; i++) {
        some(both[i], "09afg", UINT64_MAX, 0x9af, 4);
        some(both[i], "ffffffffffffffff", UINT64_MAX, UINT64_MAX, 16);
        some(both[i], "00ffffffffffffffff-", UINT64_MAX, UINT64_MAX, 18);
        some(both[i], "0x1", UINT64_MAX, 0, 1);
        some(both[i], "ff", 0xff, 0xff, 2);
        none(both[i], "10000000000000000", UINT64_MAX);
        none(both[i], "100", 0xff);
        none(both[i], "f", 14);
        static const char *const no_number[] = {"", " 1", "-1", "g", "G", "`", "@", "x1"};
        for (size_t k = 0; k < sizeof no_number / sizeof *no_number; k++)
            none(both[i], no_number[k], UINT64_MAX);
    }
    some(gt_text_take_hex, "aBcDeFG", UINT64_MAX, 0xabcdef, 6);
    some(gt_text_take_lower_hex, "aBc", UINT64_MAX, 0xa, 1);
    none(gt_text_take_lower_hex, "A", UINT64_MAX);
    assert_true(gt_text_is_hex("09afAF", 6) && gt_text_is_hex("", 0));
    assert_false(gt_text_is_hex("0g", 2));
}

static void test_words(void **state)
{
    (void)state;
    struct gt_text_cursor all = {"ab cd\n\nlast", 11}, line, word;
    bool whole;
    assert_true(gt_text_take_line(&all, &line, &whole) && whole && line.left == 5);
    assert_false(gt_text_take(&line, "abc"));
    assert_true(gt_text_take_word(&line, &word) && word.left == 2);
    assert_false(gt_text_take_word(&line, &word)); /* the space comes first */
    assert_true(gt_text_take(&line, " ") && gt_text_take(&line, "") && gt_text_take(&line, "cd"));
    assert_false(gt_text_take_word(&line, &word) || gt_text_take(&line, "\n"));
    assert_true(gt_text_take_line(&all, &line, &whole) && whole && !line.left);
    assert_true(gt_text_take_line(&all, &line, &whole) && !whole && line.left == 4);
    assert_false(gt_text_take_line(&all, &line, &whole));
}

static void test_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t lo, last;
    } good[] = {{"0", 0, 0},
                {"0x1f", 0x1f, 0x1f},
                {"0XAb-aC", 0xab, 0xab},
                {"0000000000000000000010-0x20", 0x10, 0x1f},
                {"0-ffffffffffffffff", 0, UINT64_MAX - 1}};
    static const char *const bad[] = {"",
                                      "0x",
                                      "g",
                                      "1-",
                                      "-1",
                                      "2-1",
                                      "1-1",
                                      "1-2 ",
                                      "1 ",
                                      "0x0x1",
                                      "10000000000000000",
                                      "1-10000000000000000"};
    uint64_t lo, last;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(gt_text_range_parse(good[i].text, &lo, &last));
        assert_true(lo == good[i].lo && last == good[i].last);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(gt_text_range_parse(bad[i], &lo, &last));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
