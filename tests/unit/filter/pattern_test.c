/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions a pattern matches. */
#include "filter/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const forms[] = {"ns::push", "ns::push(int)", NULL};

static const struct gt_filter_function read_fn = {
    .name = "sys_read",
    .module = "/boot/vmlinux-6.1",
    .address = 0xffff000010,
    .file_address = 0x1010,
    .size = 0x20,
    .file = "/usr/src/linux/fs/read_write.c",
    .line = 600,
    .lines = "597-599,600-620",
    .kernel = true,
};
static const struct gt_filter_function push_fn = {
    .name = "_ZN2ns4pushEi",
    .also = forms,
    .module = "/usr/lib/libc++.so.1",
    .address = 0x7f0000001000,
    .file_address = 0x1000,
    .file = "push.cc",
    .line = 5,
};
static const struct gt_filter_function stub = {.name = "malloc", .module = "/bin/x", .plt = true};
static const struct gt_filter_function nameless = {.address = 0x4000, .size = 4};

static bool match_as(const char *text, enum gt_filter_match how, const struct gt_filter_function *f)
{
    struct gt_filter_pattern *p;
    struct gt_error err = {0};
    size_t at;
    if (gt_filter_pattern_parse(text, strlen(text), how, &p, &at, &err) < 0)
        fail_msg("%s: %zu: %s", text, at, err.text);
    bool found = gt_filter_pattern_match(p, f);
    gt_filter_pattern_free(p);
    return found;
}

static bool match(const char *text, const struct gt_filter_function *f)
{
    return match_as(text, GT_FILTER_MATCH_REGEX, f);
}

static bool match_file(const char *text, enum gt_filter_match how,
                       const struct gt_filter_function *f)
{
    struct gt_filter_pattern *p;
    size_t at;
    assert_int_equal(gt_filter_pattern_parse_file(text, strlen(text), how, &p, &at, NULL), 0);
    assert_true(gt_filter_pattern_needs_lines(p));
    bool found = gt_filter_pattern_match(p, f);
    gt_filter_pattern_free(p);
    return found;
}

static void assert_refused(const char *text, size_t place, const char *message)
{
    struct gt_filter_pattern *p;
    struct gt_error err;
    size_t at;
    assert_int_equal(
        gt_filter_pattern_parse(text, strlen(text), GT_FILTER_MATCH_REGEX, &p, &at, &err),
        GT_E_USAGE);
    assert_null(p);
    assert_int_equal(at, place);
    assert_non_null(strstr(err.text, message));
}

static void test_names(void **state)
{
    (void)state;
    assert_true(match("sys_read", &read_fn));
    assert_false(match("read", &read_fn)); /* one name: all of it */
    assert_true(match("read$", &read_fn)); /* an expression: any part */
    assert_true(match(".read", &read_fn));
    assert_false(match("^read", &read_fn));
    assert_true(match_as("sys_*", GT_FILTER_MATCH_GLOB, &read_fn));
    assert_false(match_as("s?s", GT_FILTER_MATCH_GLOB, &read_fn));
    assert_false(match("sys_read", &nameless));
    assert_false(match(".*", &nameless));
}

static void test_forms(void **state)
{
    (void)state;
    assert_true(match("_ZN2ns4pushEi", &push_fn));
    assert_true(match("ns::push", &push_fn));
    assert_true(match("ns::push\\(int\\)", &push_fn));
    assert_true(match("^ns::", &push_fn));
    assert_false(match("ns::pop", &push_fn));
    const struct gt_filter_function new_fn = {.name = "operator new(unsigned long)"};
    assert_true(match("operator new(unsigned long)", &new_fn)); /* no expression */
}

static void test_modules(void **state)
{
    (void)state;
    assert_true(match("vmlinux:sys_read", &read_fn)); /* up to the hyphen */
    assert_true(match("vmlinux-6.1:sys_.*", &read_fn));
    assert_false(match("vm:sys_read", &read_fn));
    assert_true(match("vm*:sys_read", &read_fn));
    assert_true(match("kernel:sys_read", &read_fn));
    assert_false(match("kernel:ns::push", &push_fn));
    assert_true(match("libc++:ns::push", &push_fn));
    assert_false(match("libc:ns::push", &push_fn));
    assert_true(match("PLT:malloc", &stub));
    assert_false(match("PLT:sys_read", &read_fn));
    assert_false(match("vmlinux:.*", &nameless));
    assert_true(match("[[:alpha:]]_read", &read_fn)); /* a colon in brackets */
    const struct gt_filter_function odd = {.name = "a:b"};
    assert_true(match("a\\:b", &odd));
    assert_true(match("^a\\:b$", &odd));
}

static void test_addresses(void **state)
{
    (void)state;
    assert_true(match("0xffff000010", &read_fn));
    assert_true(match("0xffff00002f", &read_fn));
    assert_false(match("0xffff000030", &read_fn));
    assert_false(match("0xffff00000f", &read_fn));
    assert_false(match("0x1010", &read_fn));
    assert_true(match("vmlinux:0x1010", &read_fn));
    assert_true(match("0x7f0000001000", &push_fn)); /* of unknown size: its first byte */
    assert_false(match("0x7f0000001001", &push_fn));
    assert_true(match("0x4003", &nameless));
}

static void test_lines(void **state)
{
    (void)state;
    assert_true(match("read_write.c:600", &read_fn));
    assert_true(match("fs/read_write.c:620", &read_fn));
    assert_false(match("fs/read_write.c:621", &read_fn));
    assert_false(match("write.c:600", &read_fn)); /* no component */
    assert_false(match("fs:600", &read_fn));      /* not the last one */
    assert_true(match("push.cc:5", &push_fn));
    assert_false(match("push.cc:6", &push_fn));
    assert_false(match("push.cc:0", &nameless));
}

static void test_files(void **state)
{
    (void)state;
    enum gt_filter_match regex = GT_FILTER_MATCH_REGEX, glob = GT_FILTER_MATCH_GLOB;
    assert_true(match_file("linux", regex, &read_fn));
    assert_true(match_file("linux/fs/", regex, &read_fn));
    assert_true(match_file("/usr/src", regex, &read_fn));
    assert_false(match_file("inux", regex, &read_fn));
    assert_false(match_file("lin", regex, &read_fn));
    assert_true(match_file("read_write.c", regex, &read_fn)); /* an expression, by its dot */
    assert_true(match_file("write\\.c$", regex, &read_fn));
    assert_false(match_file("write.c", glob, &read_fn));
    assert_true(match_file("*/read_write.?", glob, &read_fn));
    assert_false(match_file("linux", regex, &nameless));
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("", 0, "expected a function");
    assert_refused("m:", 2, "expected a function");
    assert_refused(":f", 0, "expected a module");
    assert_refused("m:f(x", 5, "missing closing parenthesis");
    assert_refused("m*[:f", 5, "missing terminating ]"); /* the colon is inside the bracket */
    assert_refused("0x", 0, "expected an address");
    assert_refused("0x12345678123456781", 0, "expected an address");
    assert_refused("m:0xg", 2, "expected an address");
}

static void test_questions(void **state)
{
    struct gt_filter_pattern *p;
    size_t at;
    (void)state;
    assert_int_equal(gt_filter_pattern_parse("f\\@1xyz", 4, GT_FILTER_MATCH_REGEX, &p, &at, NULL),
                     0);
    assert_string_equal(gt_filter_pattern_exact(p), "f@1");
    gt_filter_pattern_free(p);
    assert_int_equal(gt_filter_pattern_parse("m:f", 3, GT_FILTER_MATCH_REGEX, &p, &at, NULL), 0);
    assert_null(gt_filter_pattern_exact(p));
    assert_string_equal(gt_filter_pattern_name(p), "f");
    assert_false(gt_filter_pattern_needs_lines(p));
    gt_filter_pattern_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_forms),
        cmocka_unit_test(test_modules), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
