/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The newest time of a machine, for others: which recordings have it, and what it says. */
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/run/transfer.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_track_func fn = {.lo = 0x1000, .hi = 0x2000};

/* What another process reads; UINT64_MAX: there is no file. */
static uint64_t shown(const struct gt_recorder *r)
{
    g_autofree char *path = g_build_filename(r->output.dir.path, ".now", NULL), *bytes = NULL;
    gsize size;
    uint64_t time;
    if (!g_file_get_contents(path, &bytes, &size, NULL))
        return UINT64_MAX;
    assert_int_equal(size, sizeof time);
    memcpy(&time, bytes, sizeof time);
    return time;
}

static void test_time(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    assert_int_equal(shown(r), 0);
    gt_recorder_live_clock_set(&r->hot.live, 12345);
    assert_int_equal(shown(r), 12345);
    gt_recorder_live_clock_set(&r->hot.live, UINT64_C(1) << 40);
    assert_int_equal(shown(r), UINT64_C(1) << 40);
    host_double.events->exit(r);
    assert_int_equal(shown(r), UINT64_MAX);
}

/* A transfer on the slow path says its time; the hot path's are transfer_test.c's. */
static void test_transfer(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    struct gt_code from = {.pc = 0x1000, .size = 4, .fn = &fn, .exit = GT_EXIT_CALL_INDIRECT},
                   to = {.pc = 0x1100, .size = 4, .fn = &fn};
    recorder_begin_vcpu(0);
    struct gt_vcpu *v = gt_vcpu_at(r, 0);
    gt_run_vcpu_begin(v, gt_run_vcpu_score(r, v, 0), &from);
    gt_run_transfer_slowly(
        &(struct gt_recorder_transfer){v, &to, gt_code_last_exit(&from), 77, NULL});
    assert_int_equal(shown(r), 77);
}

static void expect_none(const char *target, unsigned vcpus, const char *const *words)
{
    struct gt_recorder *r = recorder_start(target, vcpus, 2, words);
    assert_int_equal(shown(r), UINT64_MAX);
    assert_null(r->hot.live.now);
    gt_recorder_live_clock_set(&r->hot.live, 5);
    recorder_stop(r);
}

/* The host's clock everybody has, and programs nobody watches. */
static void test_recordings_without(void **state)
{
    (void)state;
    static const char *const host[] = {"clock=host", NULL}, *const insn[] = {"clock=insn", NULL};
    expect_none("aarch64", 1, host);
    expect_none("aarch64", 2, NULL);
    expect_none("aarch64", 2, insn); /* each vCPU has its own time */
    expect_none("aarch64", 0, insn);
}

/* A file that is there already is another's. */
static void test_file_exists(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    struct gt_recorder_live_clock first = r->hot.live;
    r->hot.live = (struct gt_recorder_live_clock){0};
    gt_recorder_live_clock_create(r);
    assert_null(r->hot.live.now);
    assert_int_equal(shown(r), 0);
    gt_recorder_live_clock_remove(&r->hot.live); /* not its own */
    assert_int_equal(shown(r), 0);
    r->hot.live = first;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(time),
        TEST(transfer),
        TEST(recordings_without),
        TEST(file_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
