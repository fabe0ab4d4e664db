/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a call as bytes and as text, and the lists that users write. */
#include "recording/values/payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t ten[10] = {0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0x40}; /* 3.0 in x87's 80 bits */

static const struct gt_value_item items[] = {
    {.format = 'd', .size = 4, .number = 1, .name = "fd"},
    {.format = 's', .number = 2, .name = "path"},
    {.format = 'f', .size = 10, .number = 1},
    {.format = 'c', .size = 1, .number = 3},
    {.format = 's', .number = 4},
    {.format = 's', .number = 5},
    {.format = 'x', .size = 8, .number = 6},
    {.format = 's', .number = 7},
};
enum { N = sizeof items / sizeof *items };

static const struct gt_value_list list = {
    .n = N,
    .value = {{.kind = GT_VALUE_WORD, .word = (uint64_t)-2},
              {.kind = GT_VALUE_BYTES, .size = 5, .bytes = "a\"b\n\x80"},
              {.kind = GT_VALUE_BYTES, .size = 10, .bytes = ten},
              {.kind = GT_VALUE_WORD, .word = 'x'},
              {.kind = GT_VALUE_BAD_ADDRESS, .word = 0x1234},
              {.kind = GT_VALUE_BAD_ADDRESS},
              {.kind = GT_VALUE_ABSENT},
              {.kind = GT_VALUE_CUT, .size = 9, .bytes = "long text"}}};

static void shows(const struct gt_value_item *item, const struct gt_value_list *values,
                  const char *want)
{
    struct gt_text t = {0};
    gt_values_show(&t, NULL, item, values, true, NULL, NULL);
    assert_string_equal(t.data, want);
    gt_text_free(&t);
}

static void test_words(void **state)
{
    uint64_t words[GT_VALUES_BYTES / 8];
    struct gt_value_list got;
    (void)state;
    memset(words, 0xee, sizeof words);
    size_t n = gt_values_put_words(words, &list);
    assert_int_equal(n, 1 + 1 + 2 + 3 + 1 + 1 + 1 + 0 + 3);
    assert_int_equal(gt_values_get_words(words, n, &got), n);
    shows(items, &got,
          "fd=-2, path=\"a\\\"b\\n\\x80\", 3.000000, 'x', <0x1234>, NULL, ?, \"long text\"...");
    assert_int_equal(gt_values_get_words(words, n + 1, &got), n);
    for (size_t less = 0; less < n; less++)
        assert_int_equal(gt_values_get_words(words, less, &got), 0);
}

static void test_words_refused(void **state)
{
    struct gt_value_list got;
    (void)state;
    for (uint64_t kind = 5; kind < 16; kind++)
        assert_int_equal(gt_values_get_words((uint64_t[]){1 | kind << 8, 0}, 2, &got), 0);
    assert_int_equal(gt_values_get_words((uint64_t[]){15}, 1, &got), 0);
    assert_int_equal(gt_values_get_words((uint64_t[]){0}, 1, &got), 1);
    assert_int_equal(gt_values_get_words((uint64_t[]){0 | 1 << 8, 0}, 2, &got), 0);
    assert_int_equal(gt_values_get_words((uint64_t[]){1 | 2 << 8, 257, 0, 0}, 4, &got), 0);
    assert_int_equal(gt_values_get_words((uint64_t[]){1 | 2 << 8, UINT64_MAX, 0}, 3, &got), 0);
    assert_int_equal(gt_values_get_words((uint64_t[]){1 | 2 << 8, 7, UINT64_MAX}, 3, &got), 0);
    assert_int_equal(gt_values_get_words((uint64_t[]){1 | 2 << 8, 8, UINT64_MAX}, 3, &got), 3);
}

/* Of `exponent`, the bits above the 112 of the mantissa, and the mantissa's upper 64. */
static void shows_quad(unsigned exponent, uint64_t high, const char *want)
{
    static const struct gt_value_item item = {.format = 'f', .size = 16, .number = 1};
    uint8_t bytes[16] = {0};
    for (unsigned i = 0; i < 8; i++)
        bytes[6 + i] = (uint8_t)(high >> (8 * i));
    bytes[14] = (uint8_t)exponent;
    bytes[15] = (uint8_t)(exponent >> 8);
    const struct gt_value_list one = {
        .n = 1, .value = {{.kind = GT_VALUE_BYTES, .size = 16, .bytes = bytes}}};
    shows(&item, &one, want);
}

/* IEEE's binary128: an exponent of 15 bits less 16383, a mantissa without its first bit. */
static void test_quad(void **state)
{
    (void)state;
    shows_quad(0, 0, "0.000000");
    shows_quad(0x8000, 0, "-0.000000");
    shows_quad(0x4000, UINT64_C(0xc000000000000000), "3.500000"); /* 1.75 * 2 */
    shows_quad(0xbfff, 0, "-1.000000");
    shows_quad(0x4000 + 62, UINT64_C(1) << 1, "9223372036854775809.000000"); /* 2^63 + 1 */
    shows_quad(0x7fff, 0, "inf");
    shows_quad(0xffff, 0, "-inf");
    shows_quad(0x7fff, 1, "nan");
    shows_quad(0x7ffe, 0, "5.94866e+4931"); /* 2^16383 */
}

static void test_uftrace(void **state)
{
    uint8_t bytes[GT_VALUES_BYTES];
    struct gt_value_list got;
    struct gt_bytes_reader r;
    (void)state;
    size_t n = gt_values_put_uftrace(bytes, items, &list, GT_VALUE_STRING_MOST);
    /* 4, 2 + 5 + 1, 10 + 2, 1 + 3, 2 + 8 + 2, 2 + 4 + 2, 8, 2 + 12 + 2 */
    assert_int_equal(n, 4 + 8 + 12 + 4 + 12 + 8 + 8 + 16);
    assert_memory_equal(bytes, "\xfe\xff\xff\xff\5\0a\"b\n\x80", 11);
    gt_bytes_reader_init(&r, bytes, n);
    assert_int_equal(gt_values_get_uftrace(&r, items, N, &got), 0);
    assert_int_equal(r.left, 0);
    shows(items, &got,
          "fd=-2, path=\"a\\\"b\\n\\x80\", 3.000000, 'x', <0x1234>, NULL, 0x0, \"long text...\"");
    for (size_t less = 0; less < n; less++) {
        gt_bytes_reader_init(&r, bytes, less);
        assert_int_equal(gt_values_get_uftrace(&r, items, N, &got), GT_E_TRUNC);
    }
    assert_int_equal(gt_values_get_uftrace(&r, items, GT_VALUES_MOST + 1, &got), GT_E_FORMAT);
}

/* What one string is read as, and that it is written as the same bytes. */
static struct gt_value read_string(const char *text, size_t n)
{
    static uint8_t bytes[600], again[600];
    static const struct gt_value_item item = {.format = 's'};
    struct gt_value_list got;
    struct gt_bytes_reader r;
    memset(bytes, 0, sizeof bytes);
    bytes[0] = (uint8_t)n;
    bytes[1] = (uint8_t)(n >> 8);
    memcpy(bytes + 2, text, n);
    gt_bytes_reader_init(&r, bytes, (2 + n + 7) / 8 * 8);
    assert_int_equal(gt_values_get_uftrace(&r, &item, 1, &got), 0);
    assert_int_equal(gt_values_put_uftrace(again, &item, &got, sizeof again - 16),
                     (2 + n + 7) / 8 * 8);
    assert_memory_equal(bytes, again, n + 2);
    return got.value[0];
}

static void test_strings(void **state)
{
    char text[300];
    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text + GT_VALUE_STRING_MOST, "...", 3);
    struct gt_value cut = read_string(text, GT_VALUE_STRING_MOST + 3);
    assert_int_equal(cut.kind, GT_VALUE_CUT);
    assert_int_equal(cut.size, GT_VALUE_STRING_MOST);
    assert_int_equal(read_string(text, GT_VALUE_STRING_MOST + 4).kind, GT_VALUE_BYTES);
    assert_int_equal(read_string(text + 1, GT_VALUE_STRING_MOST + 2).kind, GT_VALUE_BYTES);
    assert_int_equal(read_string(text, GT_VALUE_STRING_MOST).kind, GT_VALUE_BYTES);
    struct gt_value bad = read_string("<0x1f>", 6);
    assert_int_equal(bad.kind, GT_VALUE_BAD_ADDRESS);
    assert_int_equal(bad.word, 0x1f);
    /* these would be written otherwise */
    assert_int_equal(read_string("<0x01f>", 7).kind, GT_VALUE_BYTES);
    assert_int_equal(read_string("<0x0>", 5).kind, GT_VALUE_BYTES);
    assert_int_equal(read_string("<0x1F>", 6).kind, GT_VALUE_BYTES);
    assert_int_equal(read_string("\xff\xff\xff\xff", 4).kind, GT_VALUE_BAD_ADDRESS);
}

/* The longest list fits what callers have room for, in both forms. */
static void test_longest(void **state)
{
    static const char text[GT_VALUE_STRING_MOST + 100] = {0};
    static uint8_t bytes[GT_VALUES_BYTES];
    static uint64_t words[GT_VALUES_BYTES / 8];
    struct gt_value_item item[GT_VALUES_MOST];
    struct gt_value_list most = {.n = GT_VALUES_MOST};
    (void)state;
    for (size_t i = 0; i < GT_VALUES_MOST; i++) {
        item[i] = (struct gt_value_item){.format = 's'};
        most.value[i] = (struct gt_value){.kind = GT_VALUE_CUT, .size = sizeof text, .bytes = text};
    }
    assert_in_range(gt_values_put_uftrace(bytes, item, &most, GT_VALUE_STRING_MOST), 3600,
                    sizeof bytes);
    assert_in_range(gt_values_put_words(words, &most), 400, sizeof words / 8);
}

static const char *name_of(void *self, uint64_t addr)
{
    (void)self;
    return addr == 0x40 ? "main" : NULL;
}

static const char *show_one(char format, unsigned size, const char *type, uint64_t word)
{
    static char out[200];
    static struct gt_value_enumerator modes[] = {{"READ", 1}, {"WRITE", 2}, {"ALL", -1}};
    struct gt_value_enum enums[] = {{"mode", false, modes, 3}, {"bits", true, modes, 2}};
    const struct gt_values values = {.enums = enums, .n_enums = 2};
    const struct gt_value_item item = {.format = format, .size = (uint16_t)size, .type = type};
    struct gt_value_list one = {.n = 1};
    struct gt_text t = {0};
    gt_value_set(&one.value[0], &item, &word, size ? size : 8);
    gt_values_show(&t, &values, &item, &one, true, name_of, NULL);
    snprintf(out, sizeof out, "%s", t.data);
    gt_text_free(&t);
    return out;
}

static void test_shown(void **state)
{
    float f = -1.5f;
    double d = NAN;
    uint64_t bits = 0;
    (void)state;
    assert_string_equal(show_one('d', 1, NULL, 0xff), "-1");
    assert_string_equal(show_one('u', 1, NULL, 0xff), "255");
    assert_string_equal(show_one('x', 4, NULL, UINT32_MAX), "0xffffffff");
    assert_string_equal(show_one('o', 8, NULL, 8), "010");
    assert_string_equal(show_one('i', 4, NULL, (uint32_t)-5), "-5");
    assert_string_equal(show_one('i', 8, NULL, 100001), "0x186a1");
    assert_string_equal(show_one('c', 1, NULL, '\''), "'\\''");
    assert_string_equal(show_one('c', 1, NULL, 0), "'\\0'");
    assert_string_equal(show_one('b', 1, NULL, 2), "true");
    assert_string_equal(show_one('p', 8, NULL, 0x40), "&main");
    assert_string_equal(show_one('p', 8, NULL, 0), "0x0");
    assert_string_equal(show_one('e', 4, "mode", UINT32_MAX), "ALL");
    assert_string_equal(show_one('e', 4, "mode", 7), "7");
    assert_string_equal(show_one('e', 4, "bits", 7), "READ|WRITE|0x4");
    assert_string_equal(show_one('e', 4, "bits", 0), "0x0");
    assert_string_equal(show_one('e', 4, "else", 7), "7");
    assert_string_equal(show_one('t', 4, "pair", 0x20001), "pair{0x20001}");
    memcpy(&bits, &f, sizeof f);
    assert_string_equal(show_one('f', 4, NULL, bits), "-1.500000");
    memcpy(&bits, &d, sizeof d);
    assert_string_equal(show_one('f', 8, NULL, bits), "nan");
}

static int parse(const char *text, struct gt_value_request *r, size_t *n, struct gt_error *err)
{
    void *storage;
    int status = gt_value_parse(text, r, n, &storage, err);
    if (!status && *n && r[0].item.n_pieces && r[0].item.piece[0].reg)
        assert_int_not_equal(strlen(r[0].item.piece[0].reg), 0);
    free(storage);
    return status;
}

static void test_lists(void **state)
{
    struct gt_value_request r[2 * GT_VALUES_MOST];
    struct gt_error err = {0};
    void *storage;
    size_t n;
    (void)state;
    assert_int_equal(
        gt_value_parse("retval/i64,fparg1/32,arg3/e:file::mode%rdx,arg2/s,arg7%stack+2,"
                       "arg1/*,fparg2/f80,arg8/t16:pair,arg9/x",
                       r, &n, &storage, &err),
        0);
    assert_int_equal(n, 9);
    assert_true(r[0].item.number == 1 && r[0].fields && r[0].item.format == 'i');
    assert_true(r[1].item.format == 's' && !r[1].fields && r[1].item.size == 0);
    assert_string_equal(r[2].item.type, "file::mode");
    assert_string_equal(r[2].item.piece[0].reg, "rdx");
    assert_true(!r[3].item.piece[0].reg && r[3].item.piece[0].offset == 2);
    assert_true(r[4].item.format == 't' && r[4].item.size == 16 && !r[4].item.n_pieces);
    assert_true(r[5].item.format == 'x' && r[5].item.size == 0);
    assert_true(r[6].item.is_float && r[6].item.size == 4);
    assert_true(r[7].item.is_float && r[7].item.size == 10);
    assert_true(r[8].item.is_return && r[8].item.size == 8);
    free(storage);
}

static void test_lists_refused(void **state)
{
    static const char *const bad[][2] = {
        {"", "argN, fpargN or retval"},
        {"arg", "argN"},
        {"arg0", "from 1"},
        {"arg99999", "argN"},
        {"arg1,", "argN"},
        {"arg1/", "a format"},
        {"arg1/q", "a format"},
        {"arg1/d12", "8, 16, 32 or 64"},
        {"arg1/s64", "64 bits"},
        {"fparg1/16", "32, 64, 80 or 128"},
        {"arg1/e:", "enumeration"},
        {"arg1/t", "size of the struct"},
        {"arg1/t65", "size of the struct"},
        {"arg1/t8:", "struct's name"},
        {"arg1%", "register"},
        {"arg1%stack+0", "words"},
        {"arg1 x", "a comma"},
        {"retval,", "argN"},
    };
    struct gt_value_request r[2 * GT_VALUES_MOST];
    char many[200] = "arg1";
    size_t n;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_error err = {0};
        int status = parse(bad[i][0], r, &n, &err);
        if (status != GT_E_USAGE || !strstr(err.text, bad[i][1]))
            fail_msg("%s: %d: '%s' has no '%s'", bad[i][0], status, err.text, bad[i][1]);
    }
    for (int i = 1; i < GT_VALUES_MOST; i++)
        strcat(many, ",arg1");
    assert_int_equal(parse(many, r, &n, NULL), 0);
    strcat(many, ",arg1");
    assert_int_equal(parse(many, r, &n, NULL), GT_E_USAGE);
}

static void test_is_item(void **state)
{
    (void)state;
    assert_true(gt_value_is_item("arg1", 4));
    assert_true(gt_value_is_item("retval/d", 8));
    assert_true(gt_value_is_item("fparg1%xmm0", 11));
    assert_true(gt_value_is_item("arg12x", 5));
    assert_false(gt_value_is_item("arg12x", 6));
    assert_false(gt_value_is_item("args", 4));
    assert_false(gt_value_is_item("retvals", 7));
    assert_false(gt_value_is_item("trace-on", 8));
    assert_false(gt_value_is_item("arg", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),         cmocka_unit_test(test_words_refused),
        cmocka_unit_test(test_quad),          cmocka_unit_test(test_uftrace),
        cmocka_unit_test(test_strings),       cmocka_unit_test(test_longest),
        cmocka_unit_test(test_shown),         cmocka_unit_test(test_lists),
        cmocka_unit_test(test_lists_refused), cmocka_unit_test(test_is_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
