/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine's thread that was not followed for a time: no call stands below a function that is not
 * known to have called it. */
#include "track/unfollowed.h"
#include "track_machine.h"

/* Functions have names. a had called b when the thread was not followed any more; now it is again,
 * on stack 1, in a function that nobody knows of. */
static struct guest *followed_again(void)
{
    struct guest *g = machine_create();
    for (int i = 0; i < FUNCS; i++)
        g->fn[i].flags = 0;
    plain(g, 'a', 0);
    call(g, 'a', 1, 'b');
    plain(g, 'b', 0);
    gt_track_stop_following(&g->t, ++g->time);
    gt_track_end_suspended(&g->k, ++g->time);
    g->k.unfollowed = true;
    g->k.keep_stacks = STACKS;
    gt_track_follow_again(&g->t, ++g->time);
    g->last_exit = 0;
    check(g, 0, "+a+b-b-a");
    return g;
}

/* The same in a handler, which has jumped to its function r. */
static struct guest *in_handler(void)
{
    struct guest *g = followed_again();
    plain(g, 'h', 1);
    plain(g, 'r', 0);
    check(g, 1, "+r");
    return g;
}

/* Control is in a block of the function that has no callback, and calls from there. */
static void call_unseen(struct guest *g, char from, unsigned n, char target)
{
    g->last_exit = gt_code_last_exit(block(g, from, n, GT_EXIT_CALL, func_at(target)));
    plain(g, target, 0);
}

/* Its exception return ends what it has called, wherever that leads. */
static void test_handler_ends(void **state)
{
    (void)state;
    struct guest *g = in_handler();
    assert_false(leave(g, 'r', 1));
    check(g, 1, "+r-r");
    call_unseen(g, 'c', 3, 'd');
    check(g, 1, "+r-r+d");
    ret(g, 'd', 1);
    plain(g, 'c', 4);
    ret(g, 'c', 5); /* out of a call that is not known */
    plain(g, 'e', 2);
    call(g, 'e', 3, 'f');
    plain(g, 'f', 0);
    check(g, 1, "+r-r+d-d+f");
    check_counters(g, GT_COUNT_BEFORE, 1, -1);
    guest_destroy(g);
}

/* The first block that is followed is a handler's, which stores the program's stack pointer and
 * loads another one. It ends into a block that has no callback. */
static void test_begins_in_handler(void **state)
{
    (void)state;
    struct guest *g = followed_again();
    plain(g, 'h', 0);
    gt_track_saved(&g->t, MAIN);
    load_sp(g, MAIN_SP, T_SP);
    assert_false(leave(g, 'h', 1));
    call_unseen(g, 'c', 3, 'd');
    check(g, 1, "+h-h+d");
    guest_destroy(g);
}

/* To the middle of a function: that is none that begins. To its entry: it is. */
static void test_arrives(void **state)
{
    (void)state;
    struct guest *g = in_handler();
    leave(g, 'r', 1);
    plain(g, 'c', 2);
    check(g, 1, "+r-r");
    call(g, 'c', 3, 'd');
    plain(g, 'd', 0);
    check(g, 1, "+r-r+d");
    guest_destroy(g);
    g = in_handler();
    leave(g, 'r', 1);
    plain(g, 'c', 0);
    check(g, 1, "+r-r+c");
    guest_destroy(g);
}

/* A handler that was seen to begin ends as ever, also within one that was not. */
static void test_nested(void **state)
{
    (void)state;
    struct guest *g = in_handler();
    call(g, 'r', 1, 'c');
    plain(g, 'c', 0);
    enter(g, 'i');
    assert_true(leave(g, 'i', 1));
    check(g, 1, "+r+c+i-i");
    guest_destroy(g);
}

/* Below `lowest` exception returns are also jumps. */
static void test_bios(void **state)
{
    (void)state;
    struct guest *g = in_handler();
    g->k.lowest = func_at('z');
    leave(g, 'r', 1);
    check(g, 1, "+r");
    guest_destroy(g);
}

/* Where another task's newest system call returns to, a thread continues that is not known: it has
 * not called what the other task has. */
static void test_other_task(void **state)
{
    (void)state;
    struct guest *g = followed_again();
    plain(g, 'b', 2);
    call(g, 'b', 3, 'c');
    g->t.calling_sp = g->t.returned_sp = MAIN_SP;
    syscall_at(g, 'c', 0);
    enter(g, 'k');
    gt_track_go_on_unknown(&g->t, ++g->time);
    leave(g, 'k', 1);
    plain(g, 'c', 1);
    check(g, 2, "");
    call(g, 'c', 2, 'd');
    plain(g, 'd', 0);
    check(g, 2, "+d");
    guest_destroy(g);
}

/* A function whose caller is not known returns to it. */
static void test_unknown_caller(void **state)
{
    (void)state;
    struct guest *g = in_handler();
    assert_true(gt_machine_returns(&g->t, func_at('h') + 0x50)); /* it is no handler that begins */
    plain(g, 'r', 2);
    g->last_exit = gt_code_last_exit(block(g, 's', 3, GT_EXIT_RETURN, 0)); /* where r has jumped */
    plain(g, 'h', 5);
    check(g, 1, "+r-r");
    check_counters(g, GT_COUNT_BEFORE, 1, -1);
    call(g, 'h', 6, 'c');
    plain(g, 'c', 0);
    assert_false(gt_machine_returns(&g->t, func_at('h') + 0x50));
    check(g, 1, "+r-r+c");
    guest_destroy(g);
    g = followed_again(); /* a caller that is known: r stays open, whose result is recorded */
    func(g, 'r')->flags = GT_FUNC_RESULT;
    plain(g, 'h', 1);
    call(g, 'h', 2, 'r');
    plain(g, 'r', 0);
    plain(g, 'c', 0);
    ret(g, 'c', 1);
    plain(g, 'e', 2);
    check(g, 1, "+r+c");
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    guest_destroy(g);
}

/* It ends within the kernel: nobody saw it begin, as expected. */
static void test_within_kernel(void **state)
{
    (void)state;
    struct guest *g = in_handler();
    leave(g, 'r', 1);
    struct gt_code *from = block(g, 'r', 1, GT_EXIT_EXCEPTION_RETURN, 0);
    struct gt_code *to = block(g, 'c', 2, GT_EXIT_PLAIN, 0);
    from->pc |= UINT64_C(1) << 63;
    to->pc |= UINT64_C(1) << 63;
    gt_machine_resolve(&g->t, from, to, ++g->time);
    check(g, 1, "+r-r");
    check_counters(g, -1);
    guest_destroy(g);
}

/* A program's system call that ends elsewhere may be the end of a signal's handler, whatever the
 * first argument's register has; at a function's entry another program begins. */
static void test_sigreturn(void **state)
{
    (void)state;
    for (int cleared = 0; cleared < 2; cleared++) {
        struct guest *g = followed_again();
        syscall_at(g, 't', 1);
        enter(g, 'k');
        leave(g, 'k', 1);
        g->t.passed = cleared ? GT_PASSED_ZERO : GT_PASSED_UNKNOWN;
        plain(g, 'c', 3);
        check(g, 1, "+k-k");
        call(g, 'c', 4, 'd');
        plain(g, 'd', 0);
        check(g, 1, "+k-k+d");
        guest_destroy(g);
    }
    struct guest *g = followed_again();
    syscall_at(g, 't', 1);
    enter(g, 'k');
    leave(g, 'k', 1);
    g->t.passed = GT_PASSED_ZERO;
    plain(g, 'c', 0);
    check(g, 1, "+k-k+c");
    guest_destroy(g);
}

/* A return that goes nowhere, after another stack pointer was loaded: an old context continues in
 * the middle of a function, a new one at an entry. */
static void test_contexts(void **state)
{
    (void)state;
    struct guest *g = followed_again();
    plain(g, 'b', 2);
    call(g, 'b', 3, 'c');
    plain(g, 'c', 0);
    switch_to(g, 'c', 1, MAIN, 0, MAIN_SP, T_SP);
    plain(g, 't', 2);
    check(g, 2, "");
    call(g, 't', 3, 'd');
    plain(g, 'd', 0);
    switch_to(g, 'd', 1, T, 0, T_SP, U_SP);
    plain(g, 'u', 0);
    check(g, 1, "+c+s");
    check(g, 2, "+d+s");
    check(g, 3, "+u");
    guest_destroy(g);
}

/* r calls b, which makes a system call with that stack pointer. */
static struct guest *makes_process(uint64_t sp)
{
    struct guest *g = followed_again();
    plain(g, 'r', 0);
    call(g, 'r', 1, 'b');
    plain(g, 'b', 0);
    g->t.calling_sp = sp;
    syscall_at(g, 'b', 1);
    enter(g, 'k');
    leave(g, 'k', 1);
    return g;
}

/* A process begins on another vCPU, where the system call returns to. */
static void check_process(struct guest *g, uint64_t sp, const char *text)
{
    struct gt_track_thread process = {0};
    struct gt_code *from = block(g, 'k', 1, GT_EXIT_EXCEPTION_RETURN, 0);
    size_t stack = g->n_texts;
    assert_true(gt_track_thread_init(&process, &g->k, ++g->time));
    process.returned_sp = sp;
    gt_machine_resolve(&process, from, block(g, 'b', 2, GT_EXIT_PLAIN, 0), ++g->time);
    check(g, stack, text);
    assert_true(process.stack->cut);
    gt_track_thread_finish(&process, ++g->time);
}

/* A process has those calls of its maker that are known; what is below them is not known to it
 * either. Where the stack pointer is another one, or is not told, a call may have made the process
 * that was not followed. */
static void test_process(void **state)
{
    (void)state;
    struct guest *g = makes_process(MAIN_SP);
    check_process(g, MAIN_SP, "+r+b");
    check_process(g, T_SP, "");
    guest_destroy(g);
    g = makes_process(0);
    check_process(g, 0, "");
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handler_ends),
        cmocka_unit_test(test_arrives),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_bios),
        cmocka_unit_test(test_other_task),
        cmocka_unit_test(test_unknown_caller),
        cmocka_unit_test(test_sigreturn),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_within_kernel),
        cmocka_unit_test(test_begins_in_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
