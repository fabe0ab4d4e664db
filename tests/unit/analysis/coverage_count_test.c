/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts by address: what is at the ends of regions, between them and beyond them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "etrace/coverage/count.h"

static struct gt_coverage three_regions(void)
{
    struct gt_coverage c = {0};
    assert_int_equal(gt_coverage_add_region(&c, "b", 0x2000, 0x10, 2, NULL), GT_OK);
    assert_int_equal(gt_coverage_add_region(&c, "a", 0x1000, 0x100, 0, NULL), GT_OK);
    assert_int_equal(gt_coverage_add_region(&c, "c", UINT64_MAX - 15, 15, 0, NULL), GT_OK);
    assert_int_equal(gt_coverage_begin(&c, NULL), GT_OK);
    return c;
}

static void counts_ranges(void **state)
{
    (void)state;
    struct gt_coverage c = three_regions();
    gt_coverage_add(&c, 0x1000, 0x1004);
    gt_coverage_add(&c, 0x1002, 0x1100);
    gt_coverage_add(&c, 0xff0, 0x1001);  /* begins before */
    gt_coverage_add(&c, 0x10ff, 0x1200); /* ends behind */
    gt_coverage_add(&c, 0x10f0, 0x2004); /* over the gap */
    gt_coverage_add(&c, 0x2004, 0x2005); /* part of a step */
    gt_coverage_add(&c, 0x1100, 0x2000); /* between */
    gt_coverage_add(&c, UINT64_MAX - 1, UINT64_MAX);
    gt_coverage_add(&c, 0x1004, 0x1004);
    gt_coverage_add(&c, 0x1005, 0x1004);
    assert_int_equal(c.entries, 8);
    assert_int_equal(c.elsewhere, 1);
    gt_coverage_finish(&c);
    assert_int_equal(gt_coverage_at(&c, 0xfff), 0);
    assert_int_equal(gt_coverage_at(&c, 0x1000), 2);
    assert_int_equal(gt_coverage_at(&c, 0x1001), 1);
    assert_int_equal(gt_coverage_at(&c, 0x1003), 2);
    assert_int_equal(gt_coverage_at(&c, 0x1004), 1);
    assert_int_equal(gt_coverage_at(&c, 0x10f0), 2);
    assert_int_equal(gt_coverage_at(&c, 0x10ff), 3);
    assert_int_equal(gt_coverage_at(&c, 0x1100), 0);
    assert_int_equal(gt_coverage_at(&c, 0x2003), 1);
    assert_int_equal(gt_coverage_at(&c, 0x2004), 1);
    assert_int_equal(gt_coverage_at(&c, 0x2008), 0);
    assert_int_equal(gt_coverage_at(&c, UINT64_MAX - 1), 1);
    assert_int_equal(gt_coverage_at(&c, UINT64_MAX), 0);
    assert_int_equal(gt_coverage_most(&c, 0x1004, 0x1100), 3);
    assert_int_equal(gt_coverage_most(&c, 0x1004, 0x10f0), 1);
    assert_int_equal(gt_coverage_most(&c, 0x1100, 0x2000), 0);
    assert_int_equal(gt_coverage_most(&c, 0x2005, 0x2007), 1);
    gt_coverage_free(&c);
}

static void adds_times(void **state)
{
    (void)state;
    struct gt_coverage c = three_regions();
    assert_int_equal(gt_coverage_add_times(&c, 0x1010, 0x1020, UINT64_C(1) << 62), GT_OK);
    assert_int_equal(gt_coverage_add_times(&c, 0x1018, 0x1020, (UINT64_C(1) << 62) - 1), GT_OK);
    assert_int_equal(gt_coverage_add_times(&c, 0x1018, 0x1020, 1), GT_E_RANGE);
    gt_coverage_finish(&c);
    assert_true(gt_coverage_at(&c, 0x1010) == UINT64_C(1) << 62);
    assert_true(gt_coverage_at(&c, 0x101f) == UINT64_MAX / 2);
    assert_int_equal(gt_coverage_at(&c, 0x1020), 0);
    gt_coverage_free(&c);
}

static void refuses_overlaps(void **state)
{
    (void)state;
    struct gt_coverage c = {0};
    struct gt_error err = {0};
    assert_int_equal(gt_coverage_begin(&c, NULL), GT_E_NOT_FOUND);
    assert_int_equal(gt_coverage_add_region(&c, "a", 0x1000, 0x10, 0, NULL), GT_OK);
    assert_int_equal(gt_coverage_add_region(&c, "b", 0x100f, 0x10, 0, NULL), GT_OK);
    assert_int_equal(gt_coverage_begin(&c, &err), GT_E_RANGE);
    assert_string_equal(err.text, "a and b both have code at 0x100f");
    gt_coverage_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_ranges),
        cmocka_unit_test(adds_times),
        cmocka_unit_test(refuses_overlaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
