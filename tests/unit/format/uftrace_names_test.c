/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of tasks: the bytes of a COMM record, and the feature that info then has. */
#include "recording/directory/dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char top[] = "/tmp/gt-names-XXXXXX";
static struct gt_uftrace_dir dir;

static uint64_t features(void)
{
    char path[300], *data;
    size_t size;
    struct gt_uftrace_info info = {.exename = "/bin/x"};
    snprintf(path, sizeof path, "%s/info", top);
    assert_int_equal(gt_uftrace_dir_put_info(&dir, &info, NULL), 0);
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    assert_int_equal(gt_uftrace_info_read(data, size, &info, NULL), 0);
    uint64_t mask = info.feat_mask;
    gt_uftrace_info_free(&info);
    free(data);
    return mask;
}

static void test_names(void **state)
{
    (void)state;
    static const uint8_t expected[2][48] = {
        {3, 0, 0, 0, 0, 0, 48, 0, 2, 1, 0, 0, 4, 3, 0, 0, 'a', '?', 'b', 0, 0, 0, 0, 0,
         0, 0, 0, 0, 0, 0, 0,  0, 2, 1, 0, 0, 4, 3, 0, 0, 8,   7,   6,   5, 4, 3, 2, 1},
        {3,   0,   0,   0,   0,   0,   48,  0,   2,   1,   0,   0,   4,   3,   0,   0,
         '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 0,
         2,   1,   0,   0,   4,   3,   0,   0,   9,   0,   0,   0,   0,   0,   0,   0},
    };
    char path[300], *data;
    size_t size;
    assert_false(features() & GT_UFTRACE_FEAT_PERF_EVENT);
    assert_int_equal(
        gt_uftrace_dir_add_name(&dir, UINT64_C(0x0102030405060708), 0x304, 0x102, "a\033b", NULL),
        0);
    assert_int_equal(gt_uftrace_dir_add_name(&dir, 9, 0x304, 0x102, "0123456789abcdefgh", NULL), 0);
    assert_true(features() & GT_UFTRACE_FEAT_PERF_EVENT);
    snprintf(path, sizeof path, "%s/perf-cpu0.dat", top);
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(data, expected, sizeof expected);
    free(data);
}

static void test_no_directory(void **state)
{
    (void)state;
    struct gt_uftrace_dir none = {.path = "/nonexistent"};
    assert_int_equal(gt_uftrace_dir_add_name(&none, 1, 1, 1, "x", NULL), GT_E_NOT_FOUND);
}

static int begin(void **state)
{
    (void)state;
    return !mkdtemp(top) || gt_uftrace_dir_create(&dir, top, NULL) ||
           gt_uftrace_dir_add_session(&dir, 1, 0x102, "00000000000000a1", "/bin/x", NULL) ||
           gt_uftrace_dir_add_task(&dir, 1, 0x304, 0x102, NULL);
}

static int end(void **state)
{
    (void)state;
    return gt_file_remove_dir(top, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_directory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
