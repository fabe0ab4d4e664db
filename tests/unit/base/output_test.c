/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formatting by hand gives what printf gives, across the buffer's borders too. */
#include "base/output.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_output out;

static void test_hex(void **state)
{
    (void)state;
    uint64_t v = 0;
    for (int i = 0; i < 100000; i++) {
        char expected[20], got[40];
        memset(got, 'x', sizeof got);
        uint64_t shifted = v >> (i % 64);
        snprintf(expected, sizeof expected, "%" PRIx64, shifted);
        char *end = gt_text_hex_put(got, shifted);
        *end = '\0';
        assert_string_equal(got, expected);
        for (size_t at = 17; at < sizeof got; at++)
            assert_int_equal(got[at], 'x');
        v = v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
}

static void test_borders(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    assert_non_null(f);
    size_t size = 3 * (size_t)GT_OUTPUT_SIZE;
    char *large = malloc(size), *expected = malloc(2 * size), *got = malloc(2 * size),
         *p = expected;
    assert_true(large && expected && got);
    memset(large, 'z', size);
    gt_output_init(&out, fileno(f));
    for (uint64_t i = 0, v = 1; i < 40000; i++, v *= 7) {
        gt_output_decimal(&out, v);
        gt_output_text(&out, " ");
        p += sprintf(p, "%" PRIu64 " ", v);
    }
    gt_output_bytes(&out, large, size / 3);
    memcpy(p, large, size / 3);
    p += size / 3;
    gt_output_bytes(&out, "", 0);
    gt_output_bytes(&out, large, size / 3 + 1);
    memcpy(p, large, size / 3 + 1);
    p += size / 3 + 1;
    assert_int_equal(gt_output_finish(&out, "it", NULL), 0);
    size_t len = (size_t)(p - expected);
    assert_int_equal(pread(fileno(f), got, 2 * size, 0), len);
    assert_memory_equal(got, expected, len);
    free(large);
    free(expected);
    free(got);
    fclose(f);
}

static void test_failure(void **state)
{
    (void)state;
    struct gt_error err = {0};
    gt_output_init(&out, -1);
    for (int i = 0; i < 100000; i++)
        gt_output_text(&out, "some text");
    assert_int_equal(gt_output_finish(&out, "it", &err), GT_E_IO);
    assert_string_equal(err.text, "it: cannot be written: Bad file descriptor");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
