/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers that are not plain calls and returns: each rule of resolve.c, and its counter. */
#include "track_guest.h"

static struct guest *start(void)
{
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    return g;
}

static void test_stub(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'p')->flags = func(g, 'q')->flags = GT_FUNC_STUB;
    call(g, 'a', 0, 'p'); /* one stub jumps to another */
    plain(g, 'p', 0);
    plain(g, 'q', 1);
    plain(g, 'b', 0);
    ret(g, 'b', 1);
    plain(g, 'a', 1);
    plain(g, 'p', 0); /* a tail call through a stub */
    plain(g, 'c', 0);
    check(g, 0, "+a+b-b-a+c");
    check_counters(g, -1);
    guest_destroy(g);
}

static void test_jump(void **state)
{
    (void)state;
    struct guest *g = start();
    plain(g, 'b', 0);
    plain(g, 'c', 0); /* to an entry: a tail call */
    plain(g, 'd', 3); /* into a middle: nothing */
    ret(g, 'd', 4);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b+c-c");
    check_counters(g, -1);
    guest_destroy(g);
    g = guest_create(100, false);
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    plain(g, 'c', 0);
    ret(g, 'c', 1);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    guest_destroy(g);
}

/* Before anything was called a jump to an entry opens the root. */
static void test_jump_first(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    plain(g, 'a', 1);
    plain(g, 'b', 0);
    check(g, 0, "+b");
    assert_int_equal(g->t.stack->top->kind, GT_FRAME_ROOT);
    ret(g, 'b', 1);
    plain(g, 'a', 2);
    check(g, 0, "+b-b");
    assert_int_equal(g->t.matched, 1);
    check_counters(g, -1);
    guest_destroy(g);
}

static void test_diverted(void **state)
{
    (void)state;
    struct guest *g = start();
    plain(g, 'c', 0);
    check(g, 0, "+a-a+c");
    check_counters(g, GT_ANOMALY_DIVERTED_CALL, 1, -1);
    call(g, 'c', 1, 'd');
    plain(g, 'e', 5);
    check(g, 0, "+a-a+c");
    check_counters(g, GT_ANOMALY_DIVERTED_CALL, 2, -1);
    guest_destroy(g);
}

static void test_missed_return(void **state)
{
    (void)state;
    struct guest *g = start();
    call(g, 'b', 0, 'c');
    call(g, 'c', 0, 'd');
    ret(g, 'd', 0);
    plain(g, 'a', 1); /* where b returns to */
    check(g, 0, "+a+b+c+d-d-c-b");
    check_counters(g, GT_ANOMALY_MISSED_RETURN, 1, -1);
    check_rules(g, GT_RULE_OUTER_RETURN, 1, -1);
    guest_destroy(g);
}

/* An exception lands in the middle of a function on the stack. */
static void test_landing_pad(void **state)
{
    (void)state;
    struct guest *g = start();
    call(g, 'b', 0, 'c');
    call(g, 'c', 0, 'd');
    ret(g, 'd', 0);
    plain(g, 'b', 7);
    check(g, 0, "+a+b+c+d-d-c");
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    call(g, 'b', 8, 'b'); /* now it is there twice: the innermost is taken */
    call(g, 'b', 0, 'c');
    ret(g, 'c', 0);
    plain(g, 'b', 7);
    check(g, 0, "+a+b+c+d-d-c+b+c-c");
    check_counters(g, GT_COUNT_UNWOUND, 1, GT_ANOMALY_GUESSED_FRAME, 1, -1);
    check_rules(g, GT_RULE_OUTER_FUNCTION, 1, GT_RULE_RECURSIVE_FUNCTION, 1, -1);
    guest_destroy(g);
}

/* Code without symbols is many functions: the nearest entry at or below the transfer is the one. */
static void test_anonymous(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'z')->flags = GT_FUNC_ANON;
    call(g, 'a', 0, 'z');
    run(g, block(g, 'z', 0, GT_EXIT_CALL, func_at('z') + 0x200));
    run(g, block(g, 'z', 0x20, GT_EXIT_CALL, func_at('z') + 0x100));
    run(g, block(g, 'z', 0x10, GT_EXIT_CALL, func_at('c')));
    ret(g, 'c', 0);
    plain(g, 'z', 0x28); /* in what began at 0x200, two frames down */
    check(g, 0, "+a+z+z+z+c-c-z");
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    run(g, block(g, 'z', 0x29, GT_EXIT_CALL, func_at('z') + 0x100));
    run(g, block(g, 'z', 0x10, GT_EXIT_CALL, func_at('z') + 0x200));
    run(g, block(g, 'z', 0x20, GT_EXIT_CALL, func_at('c')));
    ret(g, 'c', 0);
    plain(g, 'z', 0x18); /* in what began at 0x100, not in what begins behind it */
    assert_int_equal(g->t.stack->top->addr, func_at('z') + 0x100);
    run(g, block(g, 'z', 0x19, GT_EXIT_CALL, func_at('z') + 0x100));
    run(g, block(g, 'z', 0x10, GT_EXIT_CALL, func_at('c')));
    ret(g, 'c', 0);
    plain(g, 'z', 0x18); /* which is there twice now */
    check_counters(g, GT_COUNT_UNWOUND, 2, GT_ANOMALY_GUESSED_FRAME, 1, -1);
    guest_destroy(g);
}

static void test_pushed_return(void **state)
{
    (void)state;
    struct guest *g = start();
    ret(g, 'b', 0);
    plain(g, 'c', 0);
    ret(g, 'c', 1);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b+c-c");
    check_counters(g, -1);
    assert_int_equal(g->t.matched, 1);
    check_rules(g, GT_RULE_PUSHED_TARGET, 1, -1);
    guest_destroy(g);
}

/* The jump leaves the function with what it called of itself: code that asked for its own address.
 */
static void test_pushed_return_inside(void **state)
{
    (void)state;
    struct guest *g = start();
    run(g, block(g, 'b', 0, GT_EXIT_CALL, func_at('b') + 0x50));
    ret(g, 'b', 5);
    plain(g, 'c', 0);
    check(g, 0, "+a+b+b-b-b+c");
    check_counters(g, -1);
    plain(g, 'd', 3); /* another function's return to an entry is not the top frame's jump */
    ret(g, 'd', 4);
    plain(g, 'e', 0);
    check(g, 0, "+a+b+b-b-b+c");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

/* A thread's first function has no return address: it returns wherever it likes. */
static void test_root_return(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    ret(g, 'a', 0);
    plain(g, 'b', 3);
    check(g, 0, "+a-a");
    check_counters(g, -1);
    check_rules(g, GT_RULE_FIRST_FUNCTION, 1, -1);
    guest_destroy(g);
    g = guest_create(100, true);
    plain(g, 'a', 0);
    ret(g, 'd', 3); /* not the first function's */
    plain(g, 'b', 3);
    check(g, 0, "+a");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

static void test_unknown_return(void **state)
{
    (void)state;
    struct guest *g = start();
    ret(g, 'b', 0);
    plain(g, 'c', 3);
    check(g, 0, "+a+b");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    ret(g, 'c', 4);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    check_rules(g, GT_RULE_NO_CALL, 1, -1);
    guest_destroy(g);
}

/* A signal handler interrupts `at`; the last exit is what at's end had made it. */
static void test_signal(void **state)
{
    (void)state;
    struct guest *g = start();
    func(g, 'h')->flags = func(g, 'i')->flags = GT_FUNC_HANDLER;
    plain(g, 'h', 0); /* before the call of b has landed */
    call(g, 'h', 1, 'c');
    ret(g, 'c', 0);
    plain(g, 'i', 0); /* before the return has landed, and in it */
    ret(g, 'i', 1);
    plain(g, 't', 0);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    plain(g, 'h', 2);
    ret(g, 'h', 3);
    plain(g, 't', 0);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    ret(g, 'b', 0);
    plain(g, 'a', 1);
    check(g, 0, "+a+h+c+i-i-c-h+b-b");
    check_counters(g, GT_COUNT_SIGNALS, 2, -1);
    check_rules(g, GT_RULE_SIGNAL_HANDLER, 2, -1);
    guest_destroy(g);
}

/* After a handler the block that a fault left goes on in its middle: its end is still to come. */
static void test_resumed(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    struct gt_code *whole = block(g, 'a', 0, GT_EXIT_CALL, func_at('b'));
    struct gt_code *rest = block(g, 'a', 0, GT_EXIT_CALL, func_at('b'));
    rest->pc += 4;
    rest->entry = false;
    run(g, whole); /* where the last exit is written before the block: it is not yet true */
    plain(g, 'h', 0);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    run(g, rest);
    check(g, 0, "+a+h-h");
    plain(g, 'b', 0);
    check(g, 0, "+a+h-h+b");
    check_counters(g, GT_COUNT_SIGNALS, 1, -1);
    plain(g, 'h', 0); /* in the middle of a function */
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    plain(g, 'b', 2);
    check(g, 0, "+a+h-h+b+h-h");
    plain(g, 'h', 0);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    plain(g, 'b', 0); /* the entry again is no tail call */
    check(g, 0, "+a+h-h+b+h-h+h-h");
    guest_destroy(g);
}

static void test_handler_called(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    call(g, 'a', 0, 'h'); /* by its name */
    ret(g, 'h', 0);
    icall(g, 'a', 1); /* by a pointer */
    ret(g, 'h', 0);
    run(g, block(g, 'a', 2, GT_EXIT_JUMP_HANDLER, func_at('h'))); /* as a tail call */
    plain(g, 'h', 0);
    check(g, 0, "+a+h-h+h-h-a+h");
    check_counters(g, -1);
    guest_destroy(g);
    g = guest_create(100, true);
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    run(g, block(g, 'a', 0, GT_EXIT_JUMP_HANDLER, func_at('h'))); /* a branch that is not taken */
    plain(g, 'a', 1);
    for (int i = 0; i < 100; i++) {
        call(g, 'a', 2, 'h');
        ret(g, 'h', 0);
        plain(g, 'a', 3);
    }
    assert_int_equal(gt_stack_depth(g->t.stack), 1);
    assert_true(g->t.n_signals <= 1);
    check_counters(g, -1);
    guest_destroy(g);
}

/* What looked like a call of the handler was a signal after all, as its end shows. */
static void test_handler_after_call(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    icall(g, 'a', 0);
    ret(g, 'h', 0);
    plain(g, 't', 0);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    ret(g, 'b', 0); /* the call arrives now */
    plain(g, 'a', 1);
    check(g, 0, "+a+h-h+b-b");
    check_counters(g, GT_COUNT_SIGNALS, 1, -1);
    /* called, returned, and so of no use to a later sigreturn */
    icall(g, 'a', 2);
    ret(g, 'h', 0);
    plain(g, 'a', 3);
    uint64_t last_exit = g->last_exit;
    assert_int_equal(gt_track_sigreturn(&g->t, g->last_exit, g->time), last_exit);
    check_counters(g, GT_COUNT_SIGNALS, 1, GT_ANOMALY_UNKNOWN_SIGRETURN, 1, -1);
    guest_destroy(g);
}

/* A handler that jumps out is forgotten with its frame. */
static void test_handler_left(void **state)
{
    (void)state;
    struct guest *g = start();
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    plain(g, 'b', 0);
    plain(g, 'h', 0);
    call(g, 'h', 1, 'l');
    plain(g, 'l', 0);
    gt_track_switched(&g->t, 0);
    plain(g, 'a', 1); /* longjmp to where b was called */
    check(g, 0, "+a+b+h+l-l-h-b");
    assert_int_equal(g->t.n_signals, 0);
    call(g, 'a', 2, 'b');
    call(g, 'b', 0, 'c');
    plain(g, 'c', 0);
    gt_track_sigreturn(&g->t, g->last_exit, g->time);
    assert_int_equal(gt_stack_depth(g->t.stack), 3);
    check_counters(g, GT_COUNT_SIGNALS, 1, GT_COUNT_UNWOUND, 1, GT_ANOMALY_UNKNOWN_SIGRETURN, 1,
                   -1);
    guest_destroy(g);
}

static void test_signals_nest(void **state)
{
    (void)state;
    struct guest *g = start();
    func(g, 'h')->flags = func(g, 'i')->flags = GT_FUNC_HANDLER;
    plain(g, 'b', 0);
    for (int i = 0; i < 100; i++)
        plain(g, i % 2 ? 'i' : 'h', 0);
    assert_int_equal(gt_stack_depth(g->t.stack), 102);
    for (int i = 0; i < 100; i++)
        g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    assert_int_equal(gt_stack_depth(g->t.stack), 2);
    check_counters(g, GT_COUNT_SIGNALS, 100, GT_COUNT_BEYOND_DEPTH, 2, -1); /* 100 are recorded */
    guest_destroy(g);
}

/* The kernel's trampoline may have a symbol, and the handler's return to it is no jump. */
static void test_trampoline(void **state)
{
    (void)state;
    struct guest *g = start();
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    plain(g, 'b', 0);
    ret(g, 'h', 0);
    plain(g, 't', 0);
    check(g, 0, "+a+b+h");
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    check(g, 0, "+a+b+h-h");
    check_counters(g, GT_COUNT_SIGNALS, 1, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stub),           cmocka_unit_test(test_jump),
        cmocka_unit_test(test_jump_first),     cmocka_unit_test(test_diverted),
        cmocka_unit_test(test_missed_return),  cmocka_unit_test(test_landing_pad),
        cmocka_unit_test(test_anonymous),      cmocka_unit_test(test_pushed_return),
        cmocka_unit_test(test_root_return),    cmocka_unit_test(test_unknown_return),
        cmocka_unit_test(test_signal),         cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_handler_called), cmocka_unit_test(test_handler_after_call),
        cmocka_unit_test(test_handler_left),   cmocka_unit_test(test_signals_nest),
        cmocka_unit_test(test_trampoline),     cmocka_unit_test(test_pushed_return_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
