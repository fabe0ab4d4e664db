/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several call stacks: coroutines that begin, wait, go on and end; threads. */
#include "track_contexts.h"

static void test_coroutine(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *first = g->t.stack;
    assert_true(first->coroutine);
    swap(g, 'c', 0, 0x200000, 0x100000);
    plain(g, 'a', 1);
    check(g, 0, "+a+s-s");
    check(g, 1, "+c+s");
    begin(g, 1);
    assert_ptr_not_equal(g->t.stack, first);
    swap(g, 'c', 0, 0x210000, 0x200000); /* from the second to the first */
    plain(g, 'c', 1);
    assert_ptr_equal(g->t.stack, first);
    check(g, 1, "+c+s-s");
    check(g, 2, "+c+s");
    gt_track_close_suspended(&g->k, g->time);
    check(g, 0, "+a+s-s+s-s-a");
    check(g, 2, "+c+s-s-c");
    check(g, 1, "+c+s-s");
    assert_non_null(first->thread);
    check_counters(g, GT_COUNT_SWITCHED, 4, -1);
    guest_destroy(g);
}

/* A coroutine whose output is refused is followed all the same, on the slow path. */
static void test_refused(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    g->refuses = true;
    begin(g, 0);
    assert_true(g->t.stack->coroutine);
    assert_true(g->t.slow_flags & GT_SLOW_SILENT);
    g->refuses = false;
    swap(g, 'c', 0, 0x200000, 0x100000);
    plain(g, 'a', 1);
    assert_int_equal(g->t.slow_flags, 0);
    check(g, 0, "+a+s-s");
    guest_destroy(g);
}

/* A coroutine whose first function returned is over: the next one has its task. */
static void test_reuse(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *first = g->t.stack;
    ret(g, 'c', 0);
    plain(g, 'e', 0); /* what the first function returns to loads the next context */
    gt_track_restored(&g->t, 0x100000);
    gt_track_switched(&g->t, 0);
    ret(g, 'e', 1);
    plain(g, 'a', 1);
    assert_null(first->thread);
    begin(g, 1);
    assert_ptr_equal(g->t.stack, first);
    assert_int_equal(g->n_texts, 2);
    check(g, 1, "+c-c+c");
    guest_destroy(g);
}

/* In a forked child an ended one's task is the parent's. */
static void test_reuse_forked(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    ret(g, 'c', 0);
    plain(g, 'e', 0);
    gt_track_restored(&g->t, 0x100000);
    gt_track_switched(&g->t, 0);
    ret(g, 'e', 1);
    plain(g, 'a', 1);
    gt_track_forked(&g->t, g->time);
    begin(g, 1);
    check(g, 1, "+c-c");
    check(g, 3, "+c");
    guest_destroy(g);
}

/* Without a saved context a suspended stack is known by where its top frame returns to. */
static void test_suspended(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *coroutine = g->t.stack;
    swap(g, 'c', 0, 0, 0x900000);
    plain(g, 'a', 1);
    assert_ptr_not_equal(g->t.stack, coroutine);
    check(g, 0, "+a+s-s");
    swap(g, 'a', 1, 0, 0x900000);
    plain(g, 'c', 1);
    assert_ptr_equal(g->t.stack, coroutine);
    check(g, 1, "+c+s-s");
    check_counters(g, GT_COUNT_SWITCHED, 3, -1);
    check_rules(g, GT_RULE_SUSPENDED_STACK, 2, -1);
    guest_destroy(g);
}

/* Two suspended stacks, and frames of the running one, may return there: one that was suspended in
 * the same function goes first, then frames, then any. */
static void test_suspended_choice(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *in_s = g->t.stack, *in_x;
    call(g, 'c', 0, 's');
    leave(g, 's', 'a', 1);
    call(g, 'a', 1, 's');
    leave(g, 's', 'd', 0); /* the second one begins, and waits in x */
    in_x = g->t.stack;
    call(g, 'd', 0, 'c');
    call(g, 'c', 0, 'x');
    leave(g, 'x', 'a', 2);
    call(g, 'a', 2, 's');
    leave(g, 's', 'c', 1);
    assert_ptr_equal(g->t.stack, in_s);
    call(g, 'c', 1, 'e');
    leave(g, 'e', 'c', 1); /* no frame returns there: any */
    assert_ptr_equal(g->t.stack, in_x);
    guest_destroy(g);
}

static void test_suspended_or_frame(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct guest *g = guest_create(100, true);
        begin(g, 0);
        struct gt_stack *other = g->t.stack;
        call(g, 'c', 0, 'x');
        leave(g, 'x', 'a', 1);
        call(g, 'a', 1, 's');
        leave(g, 's', 'd', 0);
        call(g, 'd', 0, 'c');
        call(g, 'c', 0, 's');
        call(g, 's', 0, same ? 'x' : 'e');
        leave(g, same ? 'x' : 'e', 'c', 1); /* where the frame of s returns to, and x in `other` */
        assert_int_equal(g->t.stack == other, same);
        guest_destroy(g);
    }
}

/* A stack that another thread runs is not suspended. */
static void test_running(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    struct gt_track_thread first = g->t;
    assert_true(gt_track_thread_init(&g->t, &g->k, g->time));
    g->last_exit = 0;
    ret(g, 'e', 0);
    g->t.stack->top->kind = GT_FRAME_CALL;
    plain(g, 'a', 1);
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    struct gt_track_thread second = g->t;
    gt_track_thread_finish(&first, g->time);
    g->t = second;
    guest_destroy(g);
}

/* Each stack has its own handlers: the one that a return from a signal ends is of the running
 * stack. */
static void test_signals_apart(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'h')->flags = func(g, 'i')->flags = GT_FUNC_HANDLER;
    plain(g, 'a', 0);
    plain(g, 'h', 0);
    call(g, 'h', 1, 's');
    leave(g, 's', 'c', 0);
    call(g, 'c', 1, 'd');
    plain(g, 'd', 0);
    plain(g, 'i', 0);
    check(g, 1, "+c+d+i");
    call(g, 'i', 1, 's');
    leave(g, 's', 'h', 2);
    check(g, 0, "+a+h+s-s");
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    check(g, 0, "+a+h+s-s-h");
    assert_int_equal(g->t.n_signals, 1);
    guest_destroy(g);
}

/* setcontext jumps to a coroutine's first function; nobody else's jump begins one. */
static void test_restorer(void **state)
{
    (void)state;
    for (int restorer = 0; restorer < 2; restorer++) {
        struct guest *g = guest_create(100, true);
        func(g, 'l')->flags = restorer ? GT_FUNC_RESTORER : 0;
        call(g, 'a', 0, 'l');
        load(g, 0x300000);
        plain(g, 'c', 0);
        check(g, 0, restorer ? "+a+l" : "+a+l-l+c");
        assert_int_equal(g->n_texts, 1 + restorer);
        guest_destroy(g);
    }
}

/* swapcontext jumps to setcontext, whose frame takes the place of its own where jumps are calls;
 * who resumes the coroutine goes on inside swapcontext. */
static void test_jump_to_restorer(void **state)
{
    (void)state;
    for (int tail_calls = 0; tail_calls < 2; tail_calls++) {
        struct guest *g = guest_create(100, tail_calls);
        func(g, 's')->flags = GT_FUNC_SAVER | GT_FUNC_RESTORER;
        func(g, 'l')->flags = GT_FUNC_RESTORER | GT_FUNC_SET_CONTEXT;
        call(g, 'a', 0, 's');
        arrive(g, block(g, 's', 0, GT_EXIT_PLAIN, 0));
        gt_track_saved(&g->t, 0x100000);
        g->last_exit = gt_track_last_exit_of_func(func(g, 's'));
        load(g, 0x300000);
        plain(g, 'c', 0);
        call(g, 'c', 1, 'l');
        load(g, 0x100000);
        ret(g, 's', 1);
        plain(g, 'a', 1);
        check(g, 0, tail_calls ? "+a+s-s+l-l" : "+a+s-s");
        check(g, 1, "+c+l-l-c");
        check_counters(g, GT_COUNT_SWITCHED, 2, -1);
        guest_destroy(g);
    }
}

/* A coroutine's first function is done and has jumped to setcontext: its task is free, whether that
 * has a frame or not. */
static void test_end_by_restorer(void **state)
{
    (void)state;
    for (int tail_calls = 0; tail_calls < 2; tail_calls++) {
        struct guest *g = guest_create(100, tail_calls);
        func(g, 'l')->flags = GT_FUNC_RESTORER | GT_FUNC_SET_CONTEXT;
        begin(g, 0);
        const struct gt_stack *first = g->t.stack;
        load(g, 0x100000);
        plain(g, 'a', 1);
        check(g, 1, tail_calls ? "+c-c+l-l" : "+c-c");
        begin(g, 1);
        assert_ptr_equal(g->t.stack, first);
        guest_destroy(g);
    }
}

/* A call with a new stack pointer is a call: functions that align or change their stack. */
static void test_switched_call(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    plain(g, 'a', 0);
    gt_track_switched(&g->t, 0);
    call(g, 'a', 1, 'b');
    arrive(g, block(g, 'b', 0, GT_EXIT_RETURN, 0));
    gt_track_switched(&g->t, 0);
    ret(g, 'b', 0);
    plain(g, 'a', 2);
    check(g, 0, "+a+b-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* A thread's saved contexts go with it; a stack that another thread runs is nobody's to resume. */
static void test_threads(void **state)
{
    (void)state;
    struct guest *g = nested_saves(1);
    struct gt_track_thread first = g->t;
    assert_true(gt_track_thread_init(&g->t, &g->k, g->time));
    g->last_exit = 0;
    plain(g, 'e', 0);
    call(g, 'e', 1, 'l');
    load(g, 0x100000);
    plain(g, 'b', 1);
    check_counters(g, -1);
    check(g, 1, "+e+l");
    struct gt_track_thread second = g->t;
    g->t = first;
    gt_track_thread_finish(&g->t, g->time);
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        assert_int_equal(g->k.saved_contexts[i].slot, 0);
    check(g, 0, "+a+b+s-s+b-b-b-a");
    assert_true(g->texts[0].closed && !g->texts[1].closed);
    g->t = second;
    guest_destroy(g);
}

/* fork: the coroutines that were suspended are the parent's too; here they have no output until
 * they go on. */
static void test_forked_coroutine(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    swap(g, 'c', 0, 0x200000, 0x100000);
    plain(g, 'a', 1);
    gt_track_forked(&g->t, g->time);
    check(g, 2, "+a");
    swap(g, 'a', 1, 0x100000, 0x200000);
    plain(g, 'c', 1);
    check(g, 1, "+c+s");
    check(g, 3, "+c+s-s");
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coroutine),        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_reuse_forked),     cmocka_unit_test(test_suspended),
        cmocka_unit_test(test_suspended_choice), cmocka_unit_test(test_suspended_or_frame),
        cmocka_unit_test(test_running),          cmocka_unit_test(test_signals_apart),
        cmocka_unit_test(test_restorer),         cmocka_unit_test(test_switched_call),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_forked_coroutine), cmocka_unit_test(test_jump_to_restorer),
        cmocka_unit_test(test_end_by_restorer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
