/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters that say their totals more than once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "etrace/coverage/counters.h"

static struct gt_coverage_counters *counters;

static int set_up(void **state)
{
    (void)state;
    counters = gt_coverage_counters_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gt_coverage_counters_destroy(counters);
    return 0;
}

static void says(uint64_t range, uint64_t total, uint64_t before, uint64_t more)
{
    assert_int_equal(gt_coverage_counters_say(counters, range, range + 4, total, before), more);
}

static void test_snapshots(void **state)
{
    (void)state;
    says(16, 5, 0, 5);
    says(32, 7, 0, 7);
    says(16, 5, 5, 0);
    says(16, 9, 5, 4);
    says(32, 8, 7, 1);
    says(16, UINT64_MAX, 9, UINT64_MAX - 9);
}

/* Two counters of one range, whose totals pass each other. */
static void test_same_range(void **state)
{
    (void)state;
    says(16, 5, 0, 5);
    says(16, 7, 0, 7);
    says(16, 10, 5, 5);
    says(16, 12, 7, 5);
    says(16, 12, 10, 2);
    says(16, 13, 12, 1);
    says(16, 14, 12, 2);
}

/* The first reader had what was said before: the total is what ran. */
static void test_not_from_the_beginning(void **state)
{
    (void)state;
    says(16, 100, 90, 100);
    says(16, 101, 100, 1);
}

/* What was said in between is not there. */
static void test_dropped(void **state)
{
    (void)state;
    says(16, 5, 0, 5);
    says(16, 50, 0, 50);
    says(16, 20, 12, 15);
    says(16, 70, 60, 20);
    says(16, 21, 20, 1);
    says(16, 3, 2, 3);
}

static void test_many_of_a_range(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2 * GT_COVERAGE_COUNTERS_MAX; i++)
        says(16, 1, 0, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_snapshots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_from_the_beginning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_of_a_range, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
