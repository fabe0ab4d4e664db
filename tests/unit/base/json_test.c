/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer puts commas, quotes and escapes, whatever the strings hold and the buffer's borders
 * cut, and refuses what is no JSON. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_output out;
static FILE *file;
static struct gt_json j;

static void start(enum gt_json_strings strings)
{
    file = tmpfile();
    assert_non_null(file);
    gt_output_init(&out, fileno(file));
    gt_json_init(&j, &out, strings);
    gt_json_resume(&j);
}

/* What was written, terminated; the caller frees it. */
static char *finish(size_t *n)
{
    gt_json_commit(&j);
    assert_int_equal(gt_output_finish(&out, "it", NULL), 0);
    *n = (size_t)lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, *n + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, *n, 0), *n);
    fclose(file);
    return text;
}

static void expect(const char *expected)
{
    size_t n;
    char *text = finish(&n);
    assert_string_equal(text, expected);
    free(text);
}

static void test_nesting(void **state)
{
    (void)state;
    start(GT_JSON_ESCAPE);
    gt_json_begin_object(&j);
    gt_json_key(&j, "empty");
    gt_json_begin_array(&j);
    gt_json_end_array(&j);
    gt_json_key(&j, "list");
    gt_json_begin_array(&j);
    gt_json_u64(&j, 1);
    gt_json_begin_object(&j);
    gt_json_key(&j, "a");
    gt_json_name(&j, "b");
    gt_json_end_object(&j);
    gt_json_bool(&j, true);
    gt_json_end_array(&j);
    gt_json_key(&j, "last");
    gt_json_bool(&j, false);
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_begin_array(&j);
    gt_json_newline(&j);
    gt_json_text(&j, "x");
    gt_json_newline(&j);
    gt_json_text(&j, "");
    gt_json_newline(&j);
    gt_json_end_array(&j);
    gt_json_end_line(&j);
    gt_json_u64(&j, 1);
    gt_json_end_line(&j);
    gt_json_text(&j, "x");
    expect("{\"empty\":[],\"list\":[1,{\"a\":\"b\"},true],\"last\":false}\n[\n\"x\",\n\"\"\n]"
           "\n1\n\"x\"");
}

static void test_numbers(void **state)
{
    (void)state;
    start(GT_JSON_ESCAPE);
    gt_json_begin_array(&j);
    gt_json_u64(&j, 0);
    gt_json_u64(&j, 99);
    gt_json_u64(&j, 100);
    gt_json_u64(&j, UINT64_MAX);
    gt_json_i64(&j, INT64_MIN);
    gt_json_i64(&j, -1);
    gt_json_thousandths(&j, 0);
    gt_json_thousandths(&j, 1002003);
    gt_json_thousandths(&j, UINT64_MAX);
    gt_json_hex(&j, 0);
    gt_json_hex(&j, UINT64_MAX);
    gt_json_number(&j, "-1.5e9");
    gt_json_end_array(&j);
    expect("[0,99,100,18446744073709551615,-9223372036854775808,-1,0.000,1002.003,"
           "18446744073709551.615,\"0x0\",\"0xffffffffffffffff\",-1.5e9]");
}

/* Bytes that are not UTF-8: half a character at the end, one that is too long, half of a pair. */
static const char odd[] = "a\"\\/'\x01\n\x7f\x80\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc0\xaf"
                          "\xed\xa0\x80\xe2\x82";

static void test_strings(void **state)
{
    (void)state;
    start(GT_JSON_ESCAPE);
    gt_json_begin_array(&j);
    gt_json_text(&j, odd);
    gt_json_string(&j, "\0\xff", 2);
    gt_json_string(&j, "\xe2\x82\xac", 2);
    gt_json_end_array(&j);
    expect("[\"a\\\"\\\\/'\\u0001\\u000a\\u007f\\udc80\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\udcc0"
           "\\udcaf\\udced\\udca0\\udc80\\udce2\\udc82\",\"\\u0000\\udcff\",\"\\udce2\\udc82\"]");
    start(GT_JSON_REPLACE);
    gt_json_begin_array(&j);
    gt_json_text(&j, odd);
    gt_json_end_array(&j);
#define UNKNOWN "\xef\xbf\xbd"
    expect("[\"a\\\"\\\\/'???" UNKNOWN "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" UNKNOWN UNKNOWN
               UNKNOWN UNKNOWN UNKNOWN UNKNOWN UNKNOWN "\"]");
}

/* Characters of every length at every place of a piece's border, and escapes of six bytes. */
static void test_borders(void **state)
{
    (void)state;
    enum { N = 100000 };
    static const char *const unit[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x01"};
    char *text = malloc(N + 8);
    assert_non_null(text);
    for (size_t u = 0; u < sizeof unit / sizeof *unit; u++)
        for (size_t shift = 0; shift < 4; shift++) {
            size_t n = shift, size = strlen(unit[u]), got;
            memset(text, 'y', shift);
            for (; n < N; n += size)
                memcpy(text + n, unit[u], size);
            start(GT_JSON_ESCAPE);
            gt_json_begin_array(&j);
            gt_json_string(&j, text, n);
            gt_json_end_array(&j);
            char *json = finish(&got), *p = json + 2 + shift;
            bool escaped = u == 4;
            assert_int_equal(got, 4 + (escaped ? shift + 6 * (n - shift) : n));
            for (size_t i = shift; i < n; i += size, p += escaped ? 6 : size)
                assert_memory_equal(p, escaped ? "\\u0001" : unit[u], escaped ? 6 : size);
            free(json);
        }
    free(text);
}

static void test_long_names(void **state)
{
    (void)state;
    static const size_t sizes[] = {GT_JSON_INLINE, GT_JSON_INLINE + 1, GT_OUTPUT_SIZE - 1,
                                   GT_OUTPUT_SIZE, 3 * (size_t)GT_OUTPUT_SIZE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t before = 0; before < 8; before++) {
            size_t n = sizes[i], got;
            char *name = malloc(n + 1);
            assert_non_null(name);
            memset(name, 'n', n);
            name[n] = '\0';
            start(GT_JSON_ESCAPE);
            gt_json_begin_array(&j);
            for (size_t k = 0; k < (GT_OUTPUT_SIZE - before) / 2; k++)
                gt_json_u64(&j, 7);
            gt_json_begin_object(&j);
            gt_json_key(&j, name);
            gt_json_name(&j, name);
            gt_json_end_object(&j);
            gt_json_end_array(&j);
            char *json = finish(&got), *p = strchr(json, '{');
            assert_int_equal(got, 2 * ((GT_OUTPUT_SIZE - before) / 2) + 2 * n + 9);
            assert_memory_equal(p, "{\"n", 3);
            assert_memory_equal(p + 1 + n, "n\":\"n", 5);
            assert_string_equal(json + got - 4, "n\"}]");
            free(json);
            free(name);
        }
}

static void value_without_key(void)
{
    gt_json_begin_object(&j);
    gt_json_u64(&j, 1);
}

static void key_in_array(void)
{
    gt_json_begin_array(&j);
    gt_json_key(&j, "k");
}

static void key_outside(void)
{
    gt_json_key(&j, "k");
}

static void two_keys(void)
{
    gt_json_begin_object(&j);
    gt_json_key(&j, "k");
    gt_json_key(&j, "l");
}

static void end_after_key(void)
{
    gt_json_begin_object(&j);
    gt_json_key(&j, "k");
    gt_json_end_object(&j);
}

static void other_end(void)
{
    gt_json_begin_object(&j);
    gt_json_end_array(&j);
}

static void end_outside(void)
{
    gt_json_end_object(&j);
}

static void end_array_outside(void)
{
    gt_json_end_array(&j);
}

static void second_text(void)
{
    gt_json_begin_array(&j);
    gt_json_end_array(&j);
    gt_json_begin_array(&j);
}

static void line_inside(void)
{
    gt_json_begin_array(&j);
    gt_json_end_line(&j);
}

static void array_without_key(void)
{
    gt_json_begin_object(&j);
    gt_json_begin_array(&j);
}

static void too_deep(void)
{
    for (int i = 0; i < 63; i++)
        gt_json_begin_array(&j);
}

static void not_resumed(void)
{
    gt_json_commit(&j);
    gt_json_begin_array(&j);
}

static void deepest(void)
{
    for (int i = 0; i < 62; i++)
        gt_json_begin_array(&j);
    for (int i = 0; i < 62; i++)
        gt_json_end_array(&j);
}

/* How a child ends that does this. */
static bool aborts(void (*misuse)(void))
{
    start(GT_JSON_ESCAPE);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (freopen("/dev/null", "w", stderr))
            misuse();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    fclose(file);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_misuse(void **state)
{
    (void)state;
    static void (*const misuses[])(void) = {
        value_without_key, key_in_array,      key_outside, two_keys,          end_after_key,
        other_end,         end_outside,       line_inside, array_without_key, too_deep,
        not_resumed,       end_array_outside, second_text};
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++)
        assert_true(aborts(misuses[i]));
    assert_false(aborts(deepest));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),    cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),    cmocka_unit_test(test_borders),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
