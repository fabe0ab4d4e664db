/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names are shown as they are, and nothing in them reaches the terminal. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, size_t n, const char *expected)
{
    char got[256];
    memset(got, 'x', sizeof got);
    char *end = gt_text_escape_put(got, text, n);
    assert_true((size_t)(end - got) <= GT_ESCAPE_GROWTH * n);
    assert_int_equal(*end, 'x');
    *end = '\0';
    assert_string_equal(got, expected);
}

#define CHECK(text, expected) check(text, sizeof(text) - 1, expected)

static void test_names(void **state)
{
    (void)state;
    CHECK("", "");
    CHECK("std::vector<int>::operator[](unsigned long)",
          "std::vector<int>::operator[](unsigned long)");
    CHECK("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac "
                                                              "\xf0\x9f\x98\x80");
    CHECK("\xc2\xa0", "\xc2\xa0");
}

static void test_hostile(void **state)
{
    (void)state;
    CHECK("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd");
    CHECK("\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m");
    CHECK("x\0y", "x\\x00y");
    CHECK("\x7f", "\\x7f");
    CHECK("\xc2\x9b", "\\xc2\\x9b"); /* CSI in one character */
    CHECK("\x9b", "\\x9b");
    CHECK("\xff\xfe", "\\xff\\xfe");
    CHECK("\xc3", "\\xc3");                   /* cut */
    CHECK("\xc0\x8a", "\\xc0\\x8a");          /* a newline, too long */
    CHECK("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half of a pair */
}

/* Each byte value alone is printable or hex. */
static void test_bytes(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text = (char)c, expected[8];
        if (c >= ' ' && c < 0x7f)
            snprintf(expected, sizeof expected, "%c", c);
        else
            snprintf(expected, sizeof expected, "\\x%02x", c);
        check(&text, 1, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
