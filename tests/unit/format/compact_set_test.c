/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of parts that are unusual: another clock in each, very many, without the newest one. */
#include "compact_split_util.h"

#include <sys/resource.h>

static bool every_other(const void *self)
{
    static unsigned blocks;
    (void)self;
    return blocks++ % 2;
}

/* The clock is another one in each part, and in the middle of one. */
static void test_clocks(void **state)
{
    (void)state;
    exact = every_other;
    begin();
    add_as(NUMBER, 0, 5, 1);
    add_as(NUMBER, 5 * EACH, 4, UINT32_MAX);
    finish();
    exact = NULL;
    check_all(9 * EACH);
}

/* A process has fewer descriptors than the recording has parts. */
static void test_thousand(void **state)
{
    (void)state;
    struct rlimit old, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 256;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    begin();
    add_as(NUMBER, 0, 1000, 1);
    finish();
    check_all(1000 * EACH);
    assert_int_equal(gt_compact_part_at(path).number, 1001);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* The newest part was lost: a change makes one that leaves its number out. One that a killed
 * process has begun is taken. */
static void test_newest_missing(void **state)
{
    (void)state;
    struct gt_error none = {0};
    record();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(gt_compact_work_open(path, true, NULL, &work, &err), 0);
    assert_true(work.restored);
    assert_int_equal(gt_compact_part_at(path).number, BLOCKS + 2);
    assert_int_equal(gt_compact_work_close(&work, true, &none), 0);
    check_all(BLOCKS * EACH);
    assert_int_equal(gt_compact_work_open(path, true, NULL, &work, &err), 0);
    assert_false(work.restored);
    const struct gt_compact_part next = {gt_compact_part_at(path).set, BLOCKS + 1, 0};
    char begun[GT_COMPACT_PART_PATH];
    snprintf(begun, sizeof begun, "%s/.guesttrace-5.part", work.dir.path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(gt_compact_part_create(begun, &next, &err), 0);
    gt_compact_work_leave(&work);
    assert_int_equal(gt_compact_work_open(path, true, NULL, &work, &err), 0);
    assert_int_equal(gt_compact_part_at(path).number, BLOCKS + 1);
    finish();
    check_all(BLOCKS * EACH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_clocks, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_thousand, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_newest_missing, make_folder, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
