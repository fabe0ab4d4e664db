/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that are none, by what the called block does with the return address, and returns that are
 * jumps for it; a function whose rest a handler has done. */
#include "track_machine.h"

/* Block n calls block `at` of the function, which does that with the return address and ends so. */
static void call_over(struct guest *g, char name, unsigned n, unsigned at, enum gt_arrival arrival,
                      enum gt_code_exit exit)
{
    struct gt_code *to = block(g, name, at, exit, 0);
    to->arrival = arrival;
    gt_code_set_slow_flags(to);
    run(g, block(g, name, n, GT_EXIT_CALL, to->pc));
    run(g, to);
}

static struct guest *start(void)
{
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    return g;
}

/* A safe return: b's own. */
static void test_drops(void **state)
{
    (void)state;
    struct guest *g = start();
    call_over(g, 'b', 1, 3, GT_ARRIVAL_DROPS, GT_EXIT_RETURN);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    assert_int_equal(g->t.matched, 1);
    check_counters(g, -1);
    guest_destroy(g);
}

/* In a thunk that b jumped to. */
static void test_drops_in_thunk(void **state)
{
    (void)state;
    struct guest *g = start();
    plain(g, 'c', 0);
    call_over(g, 'c', 1, 3, GT_ARRIVAL_DROPS, GT_EXIT_RETURN);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b+c-c");
    check_counters(g, -1);
    guest_destroy(g);
}

/* Two calls over a trap, and a third that drops the addresses of all. */
static void test_drops_more(void **state)
{
    (void)state;
    struct guest *g = start();
    run(g, block(g, 'b', 1, GT_EXIT_CALL, func_at('b') + 3 * BLOCK_SIZE));
    run(g, block(g, 'b', 3, GT_EXIT_CALL, func_at('b') + 5 * BLOCK_SIZE));
    call_over(g, 'b', 5, 7, GT_ARRIVAL_DROPS_MORE, GT_EXIT_PLAIN);
    assert_int_equal(gt_stack_depth(g->t.stack), 2);
    ret(g, 'b', 8);
    plain(g, 'a', 1);
    check(g, 0, "+a+b+b+b-b-b-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* A retpoline in b: to an entry it is a tail call; inside b nothing. */
static void test_jumps(void **state)
{
    (void)state;
    struct guest *g = start();
    call_over(g, 'b', 1, 3, GT_ARRIVAL_REPLACES, GT_EXIT_RETURN);
    plain(g, 'b', 5);
    check(g, 0, "+a+b");
    call_over(g, 'b', 6, 8, GT_ARRIVAL_REPLACES, GT_EXIT_RETURN);
    plain(g, 'c', 0);
    check(g, 0, "+a+b-b+c");
    ret(g, 'c', 1);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b+c-c");
    assert_int_equal(g->t.matched, 1);
    check_counters(g, -1);
    guest_destroy(g);
}

/* The return is in a thunk that the called block jumps to. */
static void test_jumps_by_thunk(void **state)
{
    (void)state;
    struct guest *g = start();
    call_over(g, 'b', 1, 3, GT_ARRIVAL_REPLACES, GT_EXIT_PLAIN);
    plain(g, 'r', 0);
    ret(g, 'r', 1);
    plain(g, 'c', 0);
    ret(g, 'c', 1);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b+r-r+c-c");
    check_counters(g, -1);
    guest_destroy(g);
}

/* The stored address is b's own, as ftrace's return_to_handler stores it, or an outer frame's. */
static void test_returns(void **state)
{
    (void)state;
    struct guest *g = start();
    call_over(g, 'b', 1, 3, GT_ARRIVAL_REPLACES, GT_EXIT_RETURN);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    assert_int_equal(g->t.matched, 1);
    call(g, 'a', 2, 'b');
    call(g, 'b', 0, 'c');
    plain(g, 'c', 0);
    call_over(g, 'c', 1, 3, GT_ARRIVAL_REPLACES, GT_EXIT_RETURN);
    plain(g, 'a', 3);
    check(g, 0, "+a+b-b+b+c-c-b");
    check_counters(g, GT_ANOMALY_MISSED_RETURN, 1, -1);
    guest_destroy(g);
}

/* b's handler continues where b returns to: b was interrupted before its call of a safe return, or
 * before that ran. */
static void test_returned_inside(void **state)
{
    (void)state;
    for (int in_call = 0; in_call < 2; in_call++) {
        struct guest *g = guest_create(100, true);
        g->k.machine = true;
        call(g, 'a', 0, 'b');
        plain(g, 'b', 0);
        if (in_call)
            run(g, block(g, 'b', 1, GT_EXIT_CALL, func_at('b') + 3 * BLOCK_SIZE));
        enter(g, 'h');
        assert_true(leave(g, 'h', 1));
        plain(g, 'a', 1);
        check(g, 0, "+a+b+h-h-b");
        assert_int_equal(g->t.matched, 2);
        check_counters(g, GT_COUNT_HANDLERS, 1, -1);
        guest_destroy(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drops),           cmocka_unit_test(test_drops_in_thunk),
        cmocka_unit_test(test_drops_more),      cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_jumps_by_thunk),  cmocka_unit_test(test_returns),
        cmocka_unit_test(test_returned_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
