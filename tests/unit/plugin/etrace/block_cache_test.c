/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block cache alone: what is one block, what is another, what lives how long. */
#include "etrace/plugin/recorder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_etrace recorder;

static int setup(void **state)
{
    (void)state;
    const struct gt_host_info host = {.target = "x86_64", .abi = 7};
    return gt_etrace_init(&recorder, &host, NULL);
}

static int teardown(void **state)
{
    (void)state;
    gt_etrace_fini(&recorder);
    return 0;
}

static struct gt_etrace_block *add(uint64_t start, uint64_t end, const uint8_t *sizes, uint16_t n)
{
    const struct gt_etrace_block want = {.start = start, .end = end, .insns = n};
    return gt_etrace_cache_block(&recorder, &want, sizes);
}

static void equal_blocks_are_one(void **state)
{
    (void)state;
    const uint8_t sizes[] = {1, 3}, others[] = {3, 1};
    struct gt_etrace_block *b = add(0x1000, 0x1004, sizes, 2);
    assert_ptr_equal(add(0x1000, 0x1004, sizes, 2), b);
    assert_ptr_not_equal(add(0x1000, 0x1004, others, 2), b);
    assert_ptr_not_equal(add(0x1000, 0x1001, sizes, 1), b);
    assert_ptr_equal(add(0x1000, 0x1004, sizes, 2), b);
    assert_int_equal(gt_etrace_insn_size(b, 0), 1);
    assert_int_equal(gt_etrace_insn_size(b, 1), 3);
}

/* Starts in one group of 4 bytes share a bit, and a chain. */
static void neighbours_are_distinguished(void **state)
{
    (void)state;
    const uint8_t one[] = {1};
    struct gt_etrace_block *blocks[256];
    for (uint64_t i = 0; i < 256; i++)
        blocks[i] = add(0x2000 + i, 0x2001 + i, one, 1);
    for (uint64_t i = 0; i < 256; i++) {
        assert_int_equal(blocks[i]->start, 0x2000 + i);
        assert_ptr_equal(add(0x2000 + i, 0x2001 + i, one, 1), blocks[i]);
    }
    assert_ptr_not_equal(add(0x2000 + GT_PAGE, 0x2001 + GT_PAGE, one, 1), blocks[0]);
}

static void coverage_lists_each_range_once(void **state)
{
    (void)state;
    const uint8_t sizes[] = {1, 3}, others[] = {3, 1}, third[] = {2, 2};
    recorder.flags = GT_ETRACE_F_COVERAGE;
    struct gt_etrace_block *a = add(0x1000, 0x1004, sizes, 2), *b = add(0x1000, 0x1004, others, 2);
    struct gt_etrace_block *c = add(0x1000, 0x1004, third, 2), *d = add(0x1000, 0x1001, sizes, 1);
    assert_int_equal(recorder.cache.ranges->len, 2);
    assert_ptr_equal(recorder.cache.ranges->pdata[0], a);
    assert_ptr_equal(recorder.cache.ranges->pdata[1], d);
    assert_ptr_equal(a->cold->same_range, c);
    assert_ptr_equal(c->cold->same_range, b);
    assert_null(b->cold->same_range);
    assert_null(d->cold);
}

static void without_coverage_nothing_is_listed(void **state)
{
    (void)state;
    const uint8_t sizes[] = {1};
    assert_null(add(0x1000, 0x1001, sizes, 1)->cold);
    assert_int_equal(recorder.cache.ranges->len, 0);
}

static void a_cleared_cache_is_empty(void **state)
{
    (void)state;
    const uint8_t sizes[] = {1};
    add(0x1000, 0x1001, sizes, 1)->counter = 7;
    gt_etrace_cache_clear(&recorder);
    assert_int_equal(add(0x1000, 0x1001, sizes, 1)->counter, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_blocks_are_one),           TEST(neighbours_are_distinguished),
        TEST(coverage_lists_each_range_once), TEST(without_coverage_nothing_is_listed),
        TEST(a_cleared_cache_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
