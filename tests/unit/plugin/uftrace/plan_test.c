/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan of a recording: which callbacks and which sink, by what its arguments and the host say.
 */
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/transfer.h"
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/select/level.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NO_SCOREBOARD = 1, SCOREBOARD = 5, PROGRAM = 0, MACHINE = 1 };

static const struct gt_recorder_plan *plan_of(unsigned vcpus, int abi, const char *const *words)
{
    const struct gt_recorder *r = recorder_start("aarch64", vcpus, abi, words);
    for (int i = 0; i < 2; i++) {
        assert_non_null(r->plan[i].sink);
        for (int e = GT_ENTRY_BLOCK; e < GT_ENTRIES; e++)
            if (e != GT_ENTRY_BLOCK_COUNTED && e != GT_ENTRY_UNKNOWN_COUNTED && e < GT_ENTRY_VALUED)
                assert_non_null(r->plan[i].entry[e].fn);
    }
    return gt_recorder_plan(r);
}

static void check(const struct gt_recorder_plan *p, enum gt_recorder_entry entry,
                  gt_host_exec_fn fn, bool registers)
{
    assert_ptr_equal(p->entry[entry].fn, fn);
    assert_int_equal(p->entry[entry].registers, registers);
}

static void test_plain(void **state)
{
    (void)state;
    const struct gt_recorder_plan *p = plan_of(MACHINE, SCOREBOARD, NULL);
    assert_ptr_equal(p->sink, &gt_run_sink);
    assert_false(p->asks);
    check(p, GT_ENTRY_BLOCK, gt_run_on_transfer, false);
    check(p, GT_ENTRY_BLOCK_COUNTED, gt_run_on_counted_transfer, false);
    check(p, GT_ENTRY_INSIDE, gt_run_on_transfer_inside, true);
    check(p, GT_ENTRY_SLOW, gt_run_on_slow_block, true);
    check(p, GT_ENTRY_UNKNOWN_COUNTED, gt_run_on_counted_unknown_block, false);
    check(p, GT_ENTRY_VALUED, NULL, false);
}

/* A program's stack pointer is read at all its blocks. */
static void test_program(void **state)
{
    (void)state;
    const struct gt_recorder_plan *p = plan_of(PROGRAM, SCOREBOARD, NULL);
    check(p, GT_ENTRY_BLOCK, gt_run_on_transfer, true);
    check(p, GT_ENTRY_BLOCK_COUNTED, gt_run_on_counted_transfer, true);
}

static void test_no_scoreboard(void **state)
{
    (void)state;
    static const char *const words[] = {"filter=f", NULL};
    const struct gt_recorder_plan *p = plan_of(PROGRAM, NO_SCOREBOARD, words);
    assert_ptr_equal(p->sink, &gt_select_filtered_sink);
    assert_true(p->asks);
    check(p, GT_ENTRY_BLOCK, gt_run_on_block, false);
    check(p, GT_ENTRY_INSIDE, gt_run_on_block, false);
    check(p, GT_ENTRY_SLOW, gt_run_on_slow_block, false);
    check(p, GT_ENTRY_UNKNOWN, gt_run_on_unknown_block, false);
    check(p, GT_ENTRY_BLOCK_COUNTED, NULL, false);
}

static void test_filters(void **state)
{
    (void)state;
    static const char *const words[] = {"filter=f", NULL};
    const struct gt_recorder_plan *p = plan_of(MACHINE, SCOREBOARD, words);
    assert_ptr_equal(p->sink, &gt_select_filtered_sink);
    assert_true(p->asks);
    check(p, GT_ENTRY_BLOCK, gt_run_on_filtered_transfer, false);
    check(p, GT_ENTRY_BLOCK_COUNTED, gt_run_on_filtered_counted_transfer, false);
    check(p, GT_ENTRY_INSIDE, gt_run_on_transfer_inside, true);
}

static void test_values(void **state)
{
    (void)state;
    static const char *const words[] = {"argument=f@arg1", NULL};
    const struct gt_recorder_plan *p = plan_of(MACHINE, SCOREBOARD, words);
    assert_ptr_equal(p->sink, &gt_run_sink);
    check(p, GT_ENTRY_BLOCK, gt_run_on_transfer, true);
    check(p, GT_ENTRY_VALUED, gt_run_on_valued_transfer, true);
    check(p, GT_ENTRY_RESULT, gt_run_on_valued_return, true);
}

static void test_levels(void **state)
{
    (void)state;
    static const char *const words[] = {"trace-privilege-level=on", "filter=f", NULL};
    const struct gt_recorder_plan *p = plan_of(MACHINE, SCOREBOARD, words);
    assert_ptr_equal(p->sink, &gt_select_level_sink);
    assert_true(p->asks);
    check(p, GT_ENTRY_BLOCK, gt_run_on_filtered_transfer, false);
}

#define WITH_RECORDER(test) cmocka_unit_test_teardown(test, recorder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RECORDER(test_plain),         WITH_RECORDER(test_program), WITH_RECORDER(test_filters),
        WITH_RECORDER(test_no_scoreboard), WITH_RECORDER(test_values),  WITH_RECORDER(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
