/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracker in a machine: blocks that are shared by several virtual addresses of one page, code
 * of which no function is known, and x86 kernels' retpolines. */
#include "track_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What was recorded: "+ADDR" and "-ADDR". */
static char said[512];

static void say(char what, uint64_t addr)
{
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%c%llx ", what, (unsigned long long)addr);
}

static void on_enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self, (void)s, (void)time, (void)depth;
    say('+', addr);
}

static void on_leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self, (void)s, (void)time, (void)depth;
    say('-', addr);
}

static bool on_open(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    (void)t, (void)time;
    s->out = self;
    return true;
}

static void on_close(void *self, struct gt_stack *s)
{
    (void)self;
    s->out = NULL;
}

static const struct gt_track_sink sink = {on_enter, on_leave, on_open, on_close};
static struct gt_track_func anon = {.hi = UINT64_MAX, .flags = GT_FUNC_ANON};

struct machine {
    struct gt_track tracker;
    struct gt_track_thread thread;
    uint64_t last_exit;
};

static int set_up(void **state)
{
    static struct machine m;
    memset(&m, 0x5a, sizeof m);
    memset(said, 0, sizeof said);
    if (!gt_track_init(&m.tracker, &sink, said, 1024, true))
        return -1;
    m.tracker.machine = true;
    memset(&m.thread, 0, sizeof m.thread);
    m.last_exit = 0;
    *state = &m;
    return gt_track_thread_init(&m.thread, &m.tracker, 1) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct machine *m = *state;
    gt_track_thread_finish(&m->thread, 100);
    gt_track_finish(&m->tracker);
    return 0;
}

static struct gt_code block(uint64_t pc, enum gt_code_exit exit, uint64_t target)
{
    struct gt_code c = {
        .pc = pc, .size = 0x10, .target = target, .fn = &anon, .insns = 4, .exit = exit};
    return c;
}

static void run(struct machine *m, struct gt_code *code)
{
    gt_code_set_slow_flags(code);
    uint64_t stays = gt_track_last_exit_of_func(code->fn);
    if (m->last_exit != stays &&
        (m->last_exit == 0 ||
         !transfer_plain(&m->thread, code, m->last_exit, 1, &sink, said, 1024)))
        m->last_exit = gt_track_slow(&m->thread, code, m->last_exit, 1);
    m->last_exit = gt_code_last_exit(code);
}

static void expect(const struct machine *m, const char *text, uint64_t matched, uint64_t aliased)
{
    assert_string_equal(said, text);
    assert_int_equal(m->thread.matched, matched);
    assert_int_equal(m->thread.counters[GT_COUNT_ALIASED], aliased);
}

static uint64_t severe(const struct machine *m)
{
    uint64_t sum = 0;
    for (int i = 0; i < GT_COUNTERS; i++)
        if (gt_track_counter_is_anomaly(i))
            sum += m->thread.counters[i];
    return sum;
}

/* The callee was translated where a kernel is linked, the caller where it lies before paging. */
static void test_call_and_return(void **state)
{
    struct machine *m = *state;
    struct gt_code caller = block(0x40001230, GT_EXIT_CALL, 0x40005678);
    struct gt_code callee = block(0xffff800008005678, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0xffff800008001240, GT_EXIT_PLAIN, 0);
    run(m, &caller);
    run(m, &callee);
    run(m, &after);
    expect(m, "+ffff800008005678 -ffff800008005678 ", 1, 2);
    assert_int_equal(severe(m), 0);
    assert_int_equal(m->thread.calls, 1);
    assert_int_equal(m->thread.counters[GT_RULE_PAGE_ALIAS], 1);
}

static void test_other_offset_is_none(void **state)
{
    struct machine *m = *state;
    struct gt_code caller = block(0x40001230, GT_EXIT_CALL, 0x40005678);
    struct gt_code vector = block(0xffff800008005688, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0xffff800008001244, GT_EXIT_CALL_INDIRECT, 0);
    struct gt_code other = block(0x40006000, GT_EXIT_RETURN, 0);
    run(m, &after);
    run(m, &other);
    run(m, &caller);
    run(m, &vector);
    run(m, &after);
    expect(m, "+40006000 ", 0, 0);
    assert_int_equal(m->thread.counters[GT_ANOMALY_DIVERTED_CALL], 1);
    assert_int_equal(m->thread.counters[GT_ANOMALY_UNKNOWN_RETURN], 2);
}

/* The top frame would do but for the page; the one below is it exactly. */
static void test_exact_goes_first(void **state)
{
    struct machine *m = *state;
    struct gt_code outer = block(0x40001230, GT_EXIT_CALL, 0x40005000);
    struct gt_code inner = block(0x40005000, GT_EXIT_CALL_INDIRECT, 0);
    struct gt_code far = block(0x40007230, GT_EXIT_CALL, 0x40006000);
    struct gt_code leaf = block(0x40006000, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0x40001240, GT_EXIT_PLAIN, 0);
    run(m, &outer);
    run(m, &inner);
    run(m, &far);
    run(m, &leaf);
    run(m, &after);
    expect(m, "+40005000 +40007230 +40006000 -40006000 -40007230 -40005000 ", 0, 0);
    assert_int_equal(m->thread.counters[GT_ANOMALY_MISSED_RETURN], 1);
}

/* A return to nowhere closes nothing: all code is without symbols, to be in it says nothing. */
static void test_no_guess_without_symbols(void **state)
{
    struct machine *m = *state;
    struct gt_code caller = block(0x40001230, GT_EXIT_CALL, 0x40005678);
    struct gt_code callee = block(0x40005678, GT_EXIT_RETURN, 0);
    struct gt_code elsewhere = block(0x40009004, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0x40001240, GT_EXIT_PLAIN, 0);
    run(m, &caller);
    run(m, &callee);
    run(m, &elsewhere);
    expect(m, "+40005678 ", 0, 0);
    assert_int_equal(m->thread.counters[GT_ANOMALY_UNKNOWN_RETURN], 1);
    run(m, &after);
    expect(m, "+40005678 -40005678 ", 1, 0);
    assert_int_equal(m->thread.counters[GT_COUNT_UNWOUND], 0);
}

/* Firmware may enter its first code by a return; there was no call. */
static void test_first_jump_as_return(void **state)
{
    struct machine *m = *state;
    struct gt_code reset = block(0x1000, GT_EXIT_RETURN, 0);
    struct gt_code start = block(0x80000000, GT_EXIT_CALL, 0x80000100);
    struct gt_code callee = block(0x80000100, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0x80000010, GT_EXIT_RETURN, 0);
    run(m, &reset);
    run(m, &start);
    run(m, &callee);
    run(m, &after);
    expect(m, "+80000100 -80000100 ", 1, 0);
    assert_int_equal(severe(m), 0);
    assert_int_equal(m->thread.counters[GT_RULE_FIRST_STEP], 1);
    run(m, &start);
    assert_int_equal(severe(m), 1);
}

/* caller: call thunk; thunk: call over; trap; over: mov target, (sp); ret; target: ret */
static void test_retpoline(void **state)
{
    struct machine *m = *state;
    struct gt_code caller = block(0x1000, GT_EXIT_CALL, 0x2000);
    struct gt_code thunk = block(0x2000, GT_EXIT_CALL, 0x2018);
    struct gt_code over = block(0x2018, GT_EXIT_RETURN, 0);
    struct gt_code target = block(0x3004, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0x1010, GT_EXIT_PLAIN, 0);
    run(m, &caller);
    run(m, &thunk);
    run(m, &over);
    run(m, &target);
    run(m, &after);
    expect(m, "+2000 +2018 -2018 -2000 +3004 -3004 ", 1, 0);
    assert_int_equal(severe(m), 0);
    assert_int_equal(m->thread.counters[GT_RULE_RETPOLINE], 1);
}

static void test_retpoline_elsewhere(void **state)
{
    struct machine *m = *state;
    struct gt_code caller = block(0x1000, GT_EXIT_CALL, 0x1031);
    struct gt_code callee = block(0x1031, GT_EXIT_RETURN, 0);
    struct gt_code nowhere = block(0x3004, GT_EXIT_PLAIN, 0);
    run(m, &caller);
    run(m, &callee);
    run(m, &nowhere);
    expect(m, "+1031 ", 0, 0);
    assert_int_equal(m->thread.counters[GT_ANOMALY_UNKNOWN_RETURN], 1);
}

/* push next; ...; ret; next: code that goes on after a jump to itself. */
static void test_own_address(void **state)
{
    struct machine *m = *state;
    struct gt_code caller = block(0x1000, GT_EXIT_CALL, 0x5000);
    struct gt_code pushes = block(0x5000, GT_EXIT_RETURN, 0);
    struct gt_code next = block(0x5010, GT_EXIT_RETURN, 0);
    struct gt_code after = block(0x1010, GT_EXIT_PLAIN, 0);
    run(m, &caller);
    run(m, &pushes);
    run(m, &next);
    run(m, &after);
    expect(m, "+5000 -5000 ", 1, 0);
    assert_int_equal(severe(m), 0);
    assert_int_equal(m->thread.counters[GT_RULE_OWN_ADDRESS], 1);
}

/* In a process a block has one address. */
static void test_processes_have_none(void **state)
{
    struct machine *m = *state;
    m->tracker.machine = false;
    struct gt_code caller = block(0x40001230, GT_EXIT_CALL, 0x40005678);
    struct gt_code callee = block(0x50005678, GT_EXIT_PLAIN, 0);
    run(m, &caller);
    run(m, &callee);
    expect(m, "", 0, 0);
    assert_int_equal(m->thread.counters[GT_ANOMALY_DIVERTED_CALL], 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_call_and_return),     TEST(test_other_offset_is_none),
        TEST(test_exact_goes_first),    TEST(test_no_guess_without_symbols),
        TEST(test_processes_have_none), TEST(test_first_jump_as_return),
        TEST(test_retpoline),           TEST(test_retpoline_elsewhere),
        TEST(test_own_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
