/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of machines: each guest thread's call stack is found again by the word that its stack
 * pointer was stored in, or by the stack pointer. */
#include "track_machine.h"

/* b, the main thread, has begun a thread that runs: it is in t, stack 1, and returned to nobody. */
static struct guest *two_threads(uint64_t old_sp, uint64_t new_sp)
{
    struct guest *g = machine_start();
    switch_to(g, 'b', 1, MAIN, 0, old_sp, new_sp);
    plain(g, 't', 0);
    return g;
}

/* A thread begins where a return goes nowhere, from a frame that has stored its stack pointer. */
static void test_begins(void **state)
{
    (void)state;
    struct guest *g = two_threads(MAIN_SP, T_SP);
    check(g, 0, "+b+s");
    check(g, 1, "+t");
    assert_int_equal(g->t.stack->top->kind, GT_FRAME_ROOT);
    assert_int_equal(g->k.stacks->next->sp, MAIN_SP);
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 1, -1);
    check_rules(g, GT_RULE_NEW_CONTEXT, 1, -1);
    guest_destroy(g);
}

/* Neither a stage of a boot that takes another stack, nor who only stores the stack pointer. */
static void test_no_thread(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    switch_to(g, 'b', 1, 0, 0, MAIN_SP, T_SP);
    plain(g, 't', 0);
    check(g, 0, "+b+s");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
    g = machine_start();
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, MAIN_SP); /* loaded, and the same */
    plain(g, 't', 0);
    check(g, 0, "+b+s");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
    g = machine_start();
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, T_SP);
    plain(g, 'b', 2); /* on another stack: its caller is there */
    check(g, 0, "+b+s-s");
    check_counters(g, -1);
    guest_destroy(g);
}

/* A call of c, which loads the stack pointer and goes back into its caller. */
static struct guest *leap_to(uint64_t sp)
{
    struct guest *g = machine_start();
    call(g, 'b', 0, 'c');
    plain(g, 'c', 0);
    switch_to(g, 'c', 1, 0, 0, MAIN_SP, sp);
    plain(g, 'b', 3);
    return g;
}

/* longjmp: the stack pointer is loaded, and control goes back into a function that is open. */
static void test_leaps(void **state)
{
    (void)state;
    struct guest *g = leap_to(MAIN_SP + 16); /* nearby, among its own frames */
    check(g, 0, "+b+c+s-s-c");
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    guest_destroy(g);
    g = machine_start(); /* where the stack pointer was stored, in the outer of two of the same */
    call(g, 'b', 0, 's');
    plain(g, 's', 0);
    gt_track_saved(&g->t, MAIN);
    ret(g, 's', 1);
    plain(g, 'b', 1);
    call(g, 'b', 2, 'b');
    plain(g, 'b', 0);
    call(g, 'b', 3, 'c');
    plain(g, 'c', 0);
    switch_to(g, 'c', 1, 0, MAIN, MAIN_SP - 0x400, MAIN_SP);
    plain(g, 'b', 1);
    check(g, 0, "+b+s-s+b+c+s-s-c-b");
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    guest_destroy(g);
    g = leap_to(MAIN_SP + 0x400); /* elsewhere it may be another's */
    check(g, 0, "+b+c+s");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

/* From one to the other and back, several times. Where stack pointers cannot be read, too. */
static void by_word(uint64_t main_sp, uint64_t t_sp)
{
    struct guest *g = two_threads(main_sp, t_sp);
    for (unsigned i = 0; i < 3; i++) {
        switch_to(g, 't', 1, T, MAIN, t_sp, main_sp);
        plain(g, 'b', 2);
        switch_to(g, 'b', 1, MAIN, T, main_sp, t_sp);
        plain(g, 't', 2);
    }
    check(g, 0, "+b+s-s+s-s+s-s+s");
    check(g, 1, "+t+s-s+s-s+s-s");
    assert_int_equal(g->n_texts, 2);
    assert_int_equal(g->t.matched, 6);
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 7, -1);
    guest_destroy(g);
}

static void test_by_word(void **state)
{
    (void)state;
    by_word(MAIN_SP, T_SP);
    by_word(GT_NO_ADDR, GT_NO_ADDR);
}

static void test_by_stack_pointer(void **state)
{
    (void)state;
    struct guest *g = two_threads(MAIN_SP, T_SP);
    switch_to(g, 't', 1, 0, 0, T_SP, MAIN_SP);
    plain(g, 'b', 2);
    load_sp(g, T_SP - 8, T_SP); /* where b's own frame is: t would have ended */
    assert_ptr_equal(g->t.stack->out, &g->texts[0]);
    switch_to(g, 'b', 1, 0, 0, MAIN_SP - 16, T_SP);
    plain(g, 't', 2);
    switch_to(g, 't', 6, 0, 0, T_SP, MAIN_SP); /* it is elsewhere now */
    plain(g, 'b', 2);
    check(g, 0, "+b+s-s+s");
    check(g, 1, "+t+s-s+s");
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 3, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

/* main, t and u: u runs. */
static struct guest *three_threads(void)
{
    struct guest *g = two_threads(MAIN_SP, T_SP);
    switch_to(g, 't', 1, T, 0, T_SP, U_SP);
    plain(g, 'u', 0);
    check(g, 2, "+u");
    return g;
}

/* The word is of main, the value is t's: the value is right. */
static void test_disagree(void **state)
{
    (void)state;
    struct guest *g = three_threads();
    switch_to(g, 'u', 1, U, MAIN, U_SP, T_SP);
    plain(g, 't', 2);
    check(g, 1, "+t+s-s");
    switch_to(g, 't', 3, T, MAIN, T_SP, 0x7777); /* nobody's: the word is not believed */
    assert_true(g->t.stack->top->flags & GT_FRAME_SP_LOADED);
    plain(g, 't', 4);
    check(g, 0, "+b+s");
    check(g, 1, "+t+s-s+s-s");
    check_counters(g, GT_COUNT_BEGUN, 2, GT_COUNT_SWITCHED, 3, -1);
    guest_destroy(g);
}

/* What saved has returned, and another function was called in its caller's place. */
static void test_stale_word(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    call(g, 'b', 1, 'c');
    call(g, 'c', 0, 's');
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    gt_track_saved(&g->t, MAIN);
    ret(g, 's', 0);
    ret(g, 'c', 1);
    call(g, 'b', 2, 'd');
    switch_to(g, 'd', 0, T, 0, MAIN_SP, T_SP);
    plain(g, 't', 0);
    switch_to(g, 't', 1, U, MAIN, T_SP, GT_NO_ADDR);
    assert_int_equal(g->t.counters[GT_COUNT_SWITCHED], 1);
    check(g, 0, "+b+c+s-s-c+d+s");
    guest_destroy(g);
}

/* The word of a thread that is gone is another thread's now. Nobody says that it is another but the
 * return, which is not to where the first one was called from. */
static void test_dead_word(void **state)
{
    (void)state;
    struct guest *g = two_threads(GT_NO_ADDR, GT_NO_ADDR);
    switch_to(g, 't', 1, T, MAIN, GT_NO_ADDR, GT_NO_ADDR);
    plain(g, 'b', 2);
    switch_to(g, 'b', 1, MAIN, T, GT_NO_ADDR, GT_NO_ADDR);
    plain(g, 'u', 0);
    check(g, 1, "+t+s-s-t");
    check(g, 2, "+u");
    assert_int_equal(g->k.saved_contexts[0].slot, 0);
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        assert_int_not_equal(g->k.saved_contexts[i].slot, T);
    switch_to(g, 'u', 1, T, MAIN, GT_NO_ADDR, GT_NO_ADDR);
    plain(g, 'b', 2);
    check(g, 0, "+b+s-s+s-s");
    assert_ptr_equal(g->t.stack->out, &g->texts[0]);
    check_counters(g, GT_COUNT_BEGUN, 2, GT_COUNT_SWITCHED, 5, -1);
    guest_destroy(g);
}

/* Known by the value, too: then it is that thread, and a wrong return is one of its own. */
static void test_sure_word(void **state)
{
    (void)state;
    struct guest *g = two_threads(MAIN_SP, T_SP);
    switch_to(g, 't', 1, T, MAIN, T_SP, MAIN_SP);
    assert_int_equal(g->t.stack->top->flags, 0);
    plain(g, 'u', 0);
    check(g, 0, "+b+s");
    assert_int_equal(g->n_texts, 2);
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 2, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

/* Two contexts cannot be suspended at one stack pointer: the first is gone. */
static void test_same_stack_pointer(void **state)
{
    (void)state;
    struct guest *g = three_threads();
    uint64_t left = g->k.stacks->next->last_time;
    switch_to(g, 'u', 1, U, MAIN, T_SP, MAIN_SP); /* u is on t's stack */
    check(g, 1, "+t+s-s-t");
    assert_int_equal(g->texts[1].time, left);
    check(g, 2, "+u+s");
    plain(g, 'b', 2);
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, T_SP);
    plain(g, 'u', 2);
    check(g, 2, "+u+s-s");
    guest_destroy(g);
    g = three_threads(); /* the same where another one begins */
    switch_to(g, 'u', 1, U, 0, T_SP, 0x7777);
    plain(g, 'v', 0);
    check(g, 1, "+t+s-s-t");
    check(g, 3, "+v");
    guest_destroy(g);
}

/* A word that the context has stored itself leads to no other: it is on its own stack again. */
static void test_own_word(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    call(g, 'b', 1, 's');
    plain(g, 's', 0);
    gt_track_saved(&g->t, MAIN);
    load_sp(g, MAIN_SP, U_SP);
    assert_int_equal(g->t.stack->top->flags, GT_FRAME_SP_LOADED | GT_FRAME_SP_STORED);
    gt_track_restored(&g->t, MAIN);
    load_sp(g, U_SP, MAIN_SP);
    assert_int_equal(g->t.stack->top->flags, GT_FRAME_SP_RELOADED);
    assert_int_equal(g->t.nonlocal.n_restored, 0);
    ret(g, 's', 1);
    plain(g, 't', 0);
    check(g, 0, "+b+s");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

/* t is gone, then v begins: in a stack that has ended, unless so many are to be kept. */
static void ended_stack(uint32_t keep, size_t texts)
{
    struct guest *g = three_threads();
    g->k.keep_stacks = keep;
    switch_to(g, 'u', 1, U, MAIN, T_SP, MAIN_SP);
    plain(g, 'b', 2);
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, 0x7777);
    plain(g, 'v', 0);
    assert_int_equal(g->n_texts, texts);
    check(g, texts == 3 ? 1 : 3, texts == 3 ? "+t+s-s-t+v" : "+v");
    assert_int_equal(g->t.stack->n_handlers, 0);
    guest_destroy(g);
}

static void test_keep_stacks(void **state)
{
    (void)state;
    ended_stack(0, 3);
    ended_stack(3, 3);
    ended_stack(4, 4);
}

/* ---- several vCPUs, and one output for each ------------------------------------------------- */

/* A context goes on another vCPU, and is not taken from one that runs it. */
static void test_other_vcpu(void **state)
{
    (void)state;
    struct guest *g = two_threads(MAIN_SP, T_SP);
    struct gt_track_thread first, second = {0};
    assert_true(gt_track_thread_init(&second, &g->k, g->time));
    check(g, 2, "");
    first = g->t;
    g->t = second; /* the first vCPU stays in t */
    uint64_t last_exit = g->last_exit;
    g->last_exit = 0;
    call(g, 'w', 0, 'x');
    switch_to(g, 'x', 1, U, MAIN, U_SP, MAIN_SP);
    plain(g, 'b', 2);
    check(g, 0, "+b+s-s");
    assert_int_equal(g->t.counters[GT_COUNT_SWITCHED], 1);
    second = g->t;
    g->t = first;
    g->last_exit = last_exit;
    switch_to(g, 't', 1, T, MAIN, T_SP, MAIN_SP); /* that runs */
    assert_ptr_equal(g->t.stack->out, &g->texts[1]);
    check(g, 0, "+b+s-s");
    gt_track_thread_finish(&second, g->time);
    guest_destroy(g);
}

static bool open_one(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    (void)t, (void)time;
    s->out = &((struct guest *)self)->texts[0];
    return true;
}

/* All contexts of a vCPU in one output: the frames of the one that runs are open in it. */
static void test_one_output(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    g->sink.open = open_one;
    g->k.one_output = true;
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, T_SP);
    plain(g, 't', 0);
    check(g, 0, "+b+s-s-b+t");
    switch_to(g, 't', 1, T, MAIN, T_SP, MAIN_SP);
    check(g, 0, "+b+s-s-b+t+s-s-t+b+s");
    plain(g, 'b', 2);
    check(g, 0, "+b+s-s-b+t+s-s-t+b+s-s");
    switch_to(g, 'b', 1, MAIN, T, MAIN_SP, T_SP);
    plain(g, 't', 2);
    check(g, 0, "+b+s-s-b+t+s-s-t+b+s-s+s-s-b+t+s-s");
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 3, -1);
    gt_track_close_suspended(&g->k, g->time);
    check(g, 0, "+b+s-s-b+t+s-s-t+b+s-s+s-s-b+t+s-s");
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begins),           cmocka_unit_test(test_leaps),
        cmocka_unit_test(test_no_thread),        cmocka_unit_test(test_by_word),
        cmocka_unit_test(test_by_stack_pointer), cmocka_unit_test(test_disagree),
        cmocka_unit_test(test_stale_word),       cmocka_unit_test(test_dead_word),
        cmocka_unit_test(test_sure_word),        cmocka_unit_test(test_same_stack_pointer),
        cmocka_unit_test(test_own_word),         cmocka_unit_test(test_keep_stacks),
        cmocka_unit_test(test_other_vcpu),       cmocka_unit_test(test_one_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
