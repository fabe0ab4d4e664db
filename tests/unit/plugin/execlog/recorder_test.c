/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder is a value: two of them in one process do not meet. Callbacks are held back. */
#include "execlog/plugin/exec.h"
#include "execlog/plugin/finish.h"
#include "execlog/plugin/recorder.h"
#include "host_double.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_exlog one, two;

static void begin(struct gt_exlog *e)
{
    assert_int_equal(gt_exlog_init(e, &host_double.info, NULL), 0);
    e->sink = &gt_exlog_text;
    gt_exlog_on_vcpu_init(e, 0);
}

static int setup(void **state)
{
    (void)state;
    host_double_start("aarch64", 0, 1);
    begin(&one);
    begin(&two);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gt_exlog_on_exit(&one);
    gt_exlog_on_exit(&two);
    gt_exlog_fini(&one);
    gt_exlog_fini(&two);
    host_double_stop();
    return 0;
}

/* The lines of a block at pc have begun on vCPU 0. */
static void run(struct gt_exlog *e, uint64_t pc)
{
    struct gt_exlog_vcpu *v = &e->vcpus[0];
    const struct gt_exlog_insn insn = {
        .pc = pc, .opcode = 7, .disassembly = "nop", .step = GT_EXLOG_LOG};
    v->block = gt_exlog_cache_block(e, &insn, 1, 1);
    v->delivered = 0;
    *v->started = 1;
    gt_exlog_deliver(e, v);
}

static void two_recorders_have_their_own_lines(void **state)
{
    (void)state;
    assert_int_equal(gt_exlog_add_address(&one, "1000", NULL), 0);
    assert_null(two.filter.addresses);
    run(&one, 0x1000);
    run(&two, 0x2000);
    run(&one, 0x3000);
    gt_exlog_on_exit(&one);
    assert_string_equal(host_double.log->str, "0, 0x1000, 0x7, \"nop\"\n0, 0x3000, 0x7, \"nop\"\n");
    g_string_truncate(host_double.log, 0);
    run(&two, 0x4000);
    gt_exlog_on_exit(&two);
    assert_string_equal(host_double.log->str, "0, 0x2000, 0x7, \"nop\"\n0, 0x4000, 0x7, \"nop\"\n");
    gt_exlog_on_exit(&two);
}

static void an_ended_recorder_lets_nobody_in(void **state)
{
    (void)state;
    struct gt_exlog_vcpu *v = &one.vcpus[0];
    assert_true(gt_exlog_enter(&one, v));
    assert_int_equal(v->busy, 1);
    gt_exlog_leave(v);
    assert_int_equal(v->busy, 0);
    gt_exlog_on_exit(&one);
    assert_false(gt_exlog_enter(&one, v));
    assert_int_equal(v->busy, 0);
    assert_false(gt_exlog_hold(&one));
    assert_true(gt_exlog_enter(&two, &two.vcpus[0]));
    gt_exlog_leave(&two.vcpus[0]);
}

static bool began; /* atomic */

static void *enter_and_leave(void *vcpu)
{
    struct gt_exlog_vcpu *v = vcpu;
    __atomic_store_n(&began, true, __ATOMIC_SEQ_CST);
    bool entered = gt_exlog_enter(v->recorder, v);
    if (entered) {
        __atomic_store_n(&v->counted, 1, __ATOMIC_SEQ_CST);
        gt_exlog_leave(v);
    }
    return entered ? vcpu : NULL;
}

/* A callback that begins while the vCPUs are held back runs after that. */
static void a_callback_is_held_back(void **state)
{
    (void)state;
    pthread_t thread;
    void *entered;
    struct gt_exlog_vcpu *v = &one.vcpus[0];
    assert_true(gt_exlog_hold(&one));
    assert_int_equal(pthread_create(&thread, NULL, enter_and_leave, v), 0);
    while (!__atomic_load_n(&began, __ATOMIC_SEQ_CST))
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_int_equal(__atomic_load_n(&v->counted, __ATOMIC_SEQ_CST), 0);
    gt_gate_open(&one.gate);
    pthread_join(thread, &entered);
    assert_ptr_equal(entered, v);
    assert_int_equal(v->counted, 1);
    v->counted = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_recorders_have_their_own_lines),
        TEST(an_ended_recorder_lets_nobody_in),
        TEST(a_callback_is_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
