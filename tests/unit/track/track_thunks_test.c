/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that are none, by what the called block does with the return address, and returns that are
 * jumps for it; a function whose rest a handler has done. */
#include "track_machine.h"

/* Block n calls block `at` of the function, which does that with the return address and ends so. */
static void call_over(struct guest *g, char name, unsigned n, unsigned at,
                      enum gt_track_arrival arrival, enum gt_code_exit exit)
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

/* A block of b that calls another one, over a trap or not. */
static struct gt_code *calls_inside(struct guest *g, unsigned n, unsigned at, bool trap)
{
    struct gt_code *c = block(g, 'b', n, GT_EXIT_CALL, func_at('b') + at * BLOCK_SIZE);
    c->detail = trap;
    c->arrival = GT_ARRIVAL_INSIDE;
    gt_code_set_slow_flags(c);
    return c;
}

/* Two calls over a trap, and a third that drops the addresses of all: none is recorded. If they are
 * not over a trap, the first was a call as far as was known. */
static void test_drops_more(void **state)
{
    (void)state;
    for (int trap = 0; trap < 2; trap++) {
        struct guest *g = start();
        run(g, calls_inside(g, 1, 3, trap));
        run(g, calls_inside(g, 3, 5, trap));
        run(g, calls_inside(g, 5, 7, trap));
        struct gt_code *to = calls_inside(g, 7, 7, false);
        to->exit = GT_EXIT_PLAIN;
        to->arrival = GT_ARRIVAL_DROPS_MORE;
        run(g, to);
        assert_int_equal(gt_stack_depth(g->t.stack), 2);
        ret(g, 'b', 8);
        plain(g, 'a', 1);
        check(g, 0, trap ? "+a+b-b" : "+a+b+b+b-b-b-b");
        check_counters(g, trap ? -1 : GT_ANOMALY_MISSED_RETURN, 2, -1);
        guest_destroy(g);
    }
}

/* What a called block does not show, as it loops: the addresses stay, and are dropped later. */
static void test_filled_in_loop(void **state)
{
    (void)state;
    struct guest *g = start();
    struct gt_code *to = calls_inside(g, 3, 3, false);
    to->exit = GT_EXIT_PLAIN;
    for (int i = 0; i < 32; i++) {
        run(g, calls_inside(g, 1, 3, true));
        run(g, to);
    }
    ret(g, 'b', 5);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* The trap lies on two pages: the call sees the first half, the block after it the second. */
static void test_trap_on_two_pages(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        struct guest *g = start();
        struct gt_code *from = calls_inside(g, 1, 0, true), *to = calls_inside(g, 3, 5, false);
        to->pc += 4096;
        from->target = to->pc;
        to->exit = GT_EXIT_PLAIN;
        to->arrival = after ? GT_ARRIVAL_AFTER_TRAP : GT_ARRIVAL_INSIDE;
        run(g, from);
        run(g, to);
        call(g, 'b', 4, 'c');
        plain(g, 'c', 0);
        check(g, 0, after ? "+a+b+c" : "+a+b+c+c"); /* the sink names addresses by their page */
        guest_destroy(g);
    }
}

/* A call into the middle of b, to a retpoline there: the call is that of its target. If it is none,
 * it is recorded with its own time. */
static void test_inline_thunk(void **state)
{
    (void)state;
    struct guest *g = start();
    run(g, calls_inside(g, 1, 3, false));
    run(g, calls_inside(g, 3, 5, true));
    check(g, 0, "+a+b");
    struct gt_code *to = block(g, 'b', 5, GT_EXIT_RETURN, 0);
    to->arrival = GT_ARRIVAL_REPLACES;
    gt_code_set_slow_flags(to);
    run(g, to);
    plain(g, 'c', 0);
    check(g, 0, "+a+b+c");
    ret(g, 'c', 1);
    plain(g, 'b', 2);
    check(g, 0, "+a+b+c-c");
    run(g, calls_inside(g, 6, 8, false));
    to = calls_inside(g, 8, 8, false);
    to->exit = GT_EXIT_RETURN;
    run(g, to);
    check(g, 0, "+a+b+c-c");
    plain(g, 'b', 7);
    check(g, 0, "+a+b+c-c+b-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* b jumps to the thunk d, which jumps to c, or back into b as a computed goto does. */
static void test_jumped_thunk(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        struct guest *g = start();
        struct gt_code *d = block(g, 'd', 0, GT_EXIT_CALL, func_at('d') + 2 * BLOCK_SIZE);
        d->detail = true;
        gt_code_set_slow_flags(d);
        run(g, d);
        struct gt_code *to = block(g, 'd', 2, GT_EXIT_RETURN, 0);
        to->arrival = GT_ARRIVAL_REPLACES;
        gt_code_set_slow_flags(to);
        run(g, to);
        plain(g, back ? 'b' : 'c', back ? 3 : 0);
        check(g, 0, back ? "+a+b" : "+a+b-b+d-d+c");
        ret(g, back ? 'b' : 'c', 4);
        plain(g, 'a', 1);
        assert_int_equal(gt_stack_depth(g->t.stack), 1);
        check_counters(g, -1);
        guest_destroy(g);
    }
}

/* A handler begins while it is not known what the thunk is, or what was called in b: they are
 * recorded, and the handler ends as any other. */
static void test_interrupted(void **state)
{
    (void)state;
    for (int jumped = 0; jumped < 2; jumped++) {
        struct guest *g = start();
        g->k.machine = true;
        struct gt_code *d = block(g, 'd', 0, GT_EXIT_CALL, func_at('d') + 2 * BLOCK_SIZE);
        d->detail = true;
        gt_code_set_slow_flags(d);
        if (!jumped)
            run(g, calls_inside(g, 1, 3, false));
        run(g, jumped ? d : calls_inside(g, 3, 5, true));
        enter(g, 'h');
        plain(g, 'h', 1);
        assert_true(leave(g, 'h', 2));
        struct gt_code *to = block(g, jumped ? 'd' : 'b', jumped ? 2 : 5, GT_EXIT_RETURN, 0);
        to->arrival = GT_ARRIVAL_REPLACES;
        gt_code_set_slow_flags(to);
        run(g, to);
        plain(g, 'c', 0);
        check(g, 0, jumped ? "+a+b-b+d+h-h-d+c" : "+a+b+b+h-h-b+c");
        ret(g, 'c', 1);
        plain(g, jumped ? 'a' : 'b', jumped ? 1 : 2);
        assert_int_equal(gt_stack_depth(g->t.stack), jumped ? 1 : 2);
        check_counters(g, GT_COUNT_HANDLERS, 1, -1);
        guest_destroy(g);
    }
}

/* A call of what runs on into b is one of b. */
static void test_runs_on(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    struct gt_code *pad = block(g, 'p', 0, GT_EXIT_PLAIN, 0);
    pad->arrival = GT_ARRIVAL_RUNS_ON;
    gt_code_set_slow_flags(pad);
    run(g, block(g, 'a', 0, GT_EXIT_CALL, pad->pc));
    arrive(g, pad);
    ret(g, 'b', 0);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    assert_int_equal(g->t.matched, 1);
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
        cmocka_unit_test(test_drops),
        cmocka_unit_test(test_drops_in_thunk),
        cmocka_unit_test(test_drops_more),
        cmocka_unit_test(test_filled_in_loop),
        cmocka_unit_test(test_trap_on_two_pages),
        cmocka_unit_test(test_inline_thunk),
        cmocka_unit_test(test_jumped_thunk),
        cmocka_unit_test(test_runs_on),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_jumps_by_thunk),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_returned_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
