/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of mapped files: the text as it is described, round trip, cut at every byte, odd ones. */
#include "etrace/format/mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef01234567"

static const struct {
    struct gt_etrace_mapping m;
    const char *text;
} samples[] = {
    {{0x555555554000, 0x555555559000, 0x555555554000, ID, "/bin/ls"},
     "mapping 0x555555554000-0x555555559000 0x555555554000 " ID " /bin/ls\n"},
    {{0x1000, 0x2000, 0, "", "/a b\nc"}, "mapping 0x1000-0x2000 0x0 - /a b\\012c\n"},
    {{0, UINT64_MAX, UINT64_MAX, "ab", "x"},
     "mapping 0x0-0xffffffffffffffff 0xffffffffffffffff ab x\n"},
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static void check_same(const struct gt_etrace_mapping *a, const struct gt_etrace_mapping *b)
{
    assert_true(a->start == b->start && a->end == b->end && a->base == b->base);
    assert_string_equal(a->build_id, b->build_id);
    assert_string_equal(a->path, b->path);
}

static void test_round_trip(void **state)
{
    char text[GT_ETRACE_MAPPING_MAX];
    struct gt_etrace_mapping back;
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        size_t n = gt_etrace_mapping_put(&samples[i].m, text);
        assert_int_equal(n, strlen(samples[i].text));
        assert_memory_equal(text, samples[i].text, n);
        memset(&back, 0xa5, sizeof back);
        assert_true(gt_etrace_mapping_get(text, n, &back));
        check_same(&back, &samples[i].m);
        assert_true(gt_etrace_mapping_get(text, n - 1, &back)); /* without its newline */
        check_same(&back, &samples[i].m);
    }
}

/* Up to the path a piece is no mapping; the bytes behind the end are not looked at. */
static void test_cut(void **state)
{
    struct gt_etrace_mapping back;
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const char *text = samples[i].text;
        size_t path = 0;
        for (int spaces = 0; spaces < 4; path++)
            spaces += text[path] == ' ';
        for (size_t n = 0; n <= path; n++) {
            char *piece = malloc(n + 1);
            memcpy(piece, text, n);
            assert_false(gt_etrace_mapping_get(piece, n, &back));
            free(piece);
        }
    }
}

static void test_longest_path(void **state)
{
    static struct gt_etrace_mapping m = {1, 2, 0, ID, ""}, back;
    static char text[GT_ETRACE_MAPPING_MAX + 8];
    (void)state;
    memset(m.path, '\n', sizeof m.path - 1);
    size_t n = gt_etrace_mapping_put(&m, text);
    assert_true(n <= GT_ETRACE_MAPPING_MAX);
    assert_true(gt_etrace_mapping_get(text, n, &back));
    check_same(&back, &m);
    memcpy(text + n - 1, "x\n", 2);
    assert_false(gt_etrace_mapping_get(text, n + 1, &back));
}

static void test_others(void **state)
{
    static const char *const others[] = {
        "mapping",
        "mapping of memory\n",
        "pc=0x1000\n",
        "Mapping 0x1-0x2 0x0 - a\n",
        "mapping 0x2-0x2 0x0 - a\n",
        "mapping 0x3-0x2 0x0 - a\n",
        "mapping 1-2 0 - a\n",
        "mapping 0x1-0x10000000000000000 0x0 - a\n",
        "mapping 0xA-0xB 0x0 - a\n",
        "mapping 0x1-0xaF 0x0 - a\n",
        "mapping 0X1-0x2 0x0 - a\n",
        "mapping 0x-0x2 0x0 - a\n",
        "mapping 0x1-0x2 0x0 " ID "0 a\n",
        "mapping 0x1-0x2 0x0  a\n",
        "mapping 0x1-0x2 0x0 - \n",
    };
    struct gt_etrace_mapping back;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(gt_etrace_mapping_get(others[i], strlen(others[i]), &back));
    assert_false(gt_etrace_mapping_get("mapping 0x1-0x2 0x0 - a\0b\n", 26, &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_longest_path),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
