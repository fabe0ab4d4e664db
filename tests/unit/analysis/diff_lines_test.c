/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines, many bytes at a time (execlog/compare/source.h), against lines one after the other. */
#include "execlog/compare/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 6000, TURNS = 3000 };

static uint32_t seed = 1;

static uint32_t roll(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static uint64_t count(const char *text, size_t n)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

static size_t alike(const char *text, size_t n, size_t prefix)
{
    size_t at = 0;
    do {
        while (at < n && text[at++] != '\n')
            ;
    } while (prefix && n - at >= prefix && memcmp(text + at, text, prefix) == 0);
    return at;
}

/* Lines of up to `longest` bytes, most of which begin with the same number. */
static size_t make(char *out, size_t most, const char *number, const char *others, uint32_t longest)
{
    size_t n = 0, prefix = strlen(number);
    while (n + prefix + longest + 1 < most) {
        memcpy(out + n, roll(60) || n == 0 ? number : others, prefix);
        n += prefix;
        for (uint32_t left = roll(longest); left; left--)
            out[n++] = (char)(' ' + roll(90));
        out[n++] = '\n';
    }
    return n - roll(2);
}

static void test_any(void **state)
{
    static const char *const numbers[][2] = {
        {"7, ", "8, "}, {"7, ", "7; "}, {"10, ", "11, "}, {"10, ", "10,x"}, {"100, ", "101, "}};
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        const char *const *pair = numbers[turn % 5];
        size_t room = roll(SIZE) + 300, longest = roll(200) + 1;
        char *made = malloc(room);
        size_t n = make(made, room, pair[0], pair[1], (uint32_t)longest);
        char *text = malloc(n ? n : 1); /* so that memory checkers see what is read beyond it */
        memcpy(text, made, n);
        assert_int_equal(gt_diff_lines_count(text, n), count(text, n));
        size_t prefix = turn % 7 == 0 ? 0 : strlen(pair[0]);
        if (n >= prefix && n)
            assert_int_equal(gt_diff_lines_alike(text, n, prefix), alike(text, n, prefix));
        free(text);
        free(made);
    }
}

/* More newlines than a byte counts, and none. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    char *text = malloc(MANY);
    memset(text, '\n', MANY);
    assert_int_equal(gt_diff_lines_count(text, MANY), MANY);
    assert_int_equal(gt_diff_lines_alike(text, MANY, 0), 1);
    memset(text, 'x', MANY);
    assert_int_equal(gt_diff_lines_count(text, MANY), 0);
    assert_int_equal(gt_diff_lines_alike(text, MANY, 3), MANY);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
