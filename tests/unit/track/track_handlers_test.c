/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack pointers that handlers of machines load: stacks for interrupts, and other threads. */
#include "track_machine.h"

/* A stack for interrupts: taken on the way in, or by what the handler calls. No thread of its own.
 */
static void test_interrupt_stack(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    enter(g, 'h');
    gt_track_saved(&g->t, U);
    load_sp(g, MAIN_SP, U_SP);
    assert_int_equal(g->t.stack->top->flags & GT_FRAME_SP_LOADED, 0);
    call(g, 'h', 1, 'i');
    ret(g, 'i', 0);
    plain(g, 'h', 2);
    assert_true(leave(g, 'h', 3));
    plain(g, 'b', 1);
    enter(g, 'h');
    call(g, 'h', 1, 'i');
    plain(g, 'i', 0);
    load_sp(g, MAIN_SP, U_SP);
    assert_true(g->t.stack->top->flags & GT_FRAME_SP_LOADED);
    call(g, 'i', 1, 'j');
    ret(g, 'j', 0);
    plain(g, 'i', 2);
    load_sp(g, U_SP, MAIN_SP);
    ret(g, 'i', 3);
    plain(g, 'h', 2);
    assert_true(leave(g, 'h', 3));
    check(g, 0, "+b+h+i-i-h+h+i+j-j-i-h");
    assert_int_equal(g->k.n_stacks, 1);
    check_counters(g, GT_COUNT_HANDLERS, 2, -1);
    guest_destroy(g);
}

/* It is on the way in still where another one hit and has ended: on riscv64 a machine's timer and
 * messages among its vCPUs are those of another level, which may come at any instruction. */
static void test_interrupted_on_the_way_in(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    enter(g, 'h');
    enter(g, 'm');
    call(g, 'm', 1, 'i');
    enter(g, 'n');
    assert_true(leave(g, 'n', 1));
    ret(g, 'i', 0);
    plain(g, 'm', 2);
    assert_true(leave(g, 'm', 3));
    plain(g, 'h', 1);
    gt_track_saved(&g->t, U);
    load_sp(g, MAIN_SP, U_SP);
    assert_int_equal(g->t.stack->top->flags, GT_FRAME_SP_STORED);
    call(g, 'h', 2, 'i');
    plain(g, 'i', 0);
    load_sp(g, U_SP, MAIN_SP);
    assert_int_equal(g->t.stack->top->flags, GT_FRAME_SP_LOADED);
    ret(g, 'i', 1);
    plain(g, 'h', 3);
    assert_true(leave(g, 'h', 4));
    plain(g, 'b', 1);
    check(g, 0, "+b+h+m+n-n+i-i-m+i-i-h");
    check_counters(g, GT_COUNT_HANDLERS, 3, -1);
    guest_destroy(g);
}

/* The end of a handler goes to a thread that has not run yet: what it interrupted waits in it. */
static void test_begins_from_handler(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    call(g, 'b', 1, 'c');
    enter(g, 'h');
    call(g, 'h', 1, 'i');
    ret(g, 'i', 0);
    plain(g, 'h', 2);
    gt_track_saved(&g->t, MAIN);
    load_sp(g, MAIN_SP, T_SP);
    assert_false(leave(g, 'h', 3));
    plain(g, 't', 0);
    check(g, 0, "+b+h+i-i");
    check(g, 1, "+t");
    enter(g, 'h');
    call(g, 'h', 1, 'i');
    ret(g, 'i', 0);
    plain(g, 'h', 2);
    gt_track_saved(&g->t, T);
    gt_track_restored(&g->t, MAIN);
    load_sp(g, T_SP, MAIN_SP);
    check(g, 1, "+t+h+i-i");
    assert_true(leave(g, 'h', 3)); /* main's own handler, with the call that was on its way */
    plain(g, 'c', 0);
    check(g, 0, "+b+h+i-i-h+c");
    check_counters(g, GT_COUNT_HANDLERS, 2, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 2, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupt_stack),
        cmocka_unit_test(test_interrupted_on_the_way_in),
        cmocka_unit_test(test_begins_from_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
