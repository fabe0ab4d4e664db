/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of a machine's programs that do not come back to where they were made. */
#include "track_machine.h"

static void test_syscall(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    syscall_at(g, 'b', 1);
    plain(g, 'c', 0); /* a signal handler */
    check(g, 0, "+b+c");
    assert_int_equal(g->t.stack->top->kind, GT_FRAME_SIGNAL);
    call(g, 'c', 1, 'd');
    ret(g, 'd', 0);
    plain(g, 'c', 2);
    ret(g, 'c', 3);
    syscall_at(g, 'e', 1); /* which its frame returns to */
    check(g, 0, "+b+c+d-d");
    plain(g, 'b', 7);
    check(g, 0, "+b+c+d-d-c");
    ret(g, 'b', 8);
    plain(g, 'a', 1);
    check(g, 0, "+b+c+d-d-c-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* The end of a signal's handler leads to that of the next one: known by its address, or the
 * signal's number. It comes back where the first one hit. */
static void test_syscall_next_signal(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct guest *g = machine_start();
        char next = how == 0 ? 'c' : 'f';
        syscall_at(g, 'b', 1);
        plain(g, 'c', 0);
        ret(g, 'c', 3);
        syscall_at(g, 'e', 1);
        g->t.passed = (uint8_t[]){GT_PASSED_UNKNOWN, GT_PASSED_SIGNAL, GT_PASSED_OTHER}[how];
        plain(g, next, 0);
        check(g, 0, (const char *[]){"+b+c-c+c", "+b+c-c+f", "+b+c-c"}[how]);
        if (how < 2) {
            ret(g, next, 3);
            syscall_at(g, 'e', 1);
            plain(g, 'b', 2);
        }
        ret(g, 'b', 8);
        plain(g, 'a', 1);
        check(g, 0, (const char *[]){"+b+c-c+c-c-b", "+b+c-c+f-f-b", "+b+c-c-b"}[how]);
        check_counters(g, -1);
        guest_destroy(g);
    }
}

/* A handler's own system call during which another signal arrives; or which was its end. */
static void test_syscall_signal_in_handler(void **state)
{
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        struct guest *g = machine_start();
        syscall_at(g, 'b', 1);
        plain(g, 'c', 0);
        syscall_at(g, 'c', 1);
        g->t.passed = GT_PASSED_SIGNAL;
        plain(g, 'f', 0);
        ret(g, 'f', 1);
        syscall_at(g, 'e', 1);
        if (!ends) {
            plain(g, 'c', 2);
            check(g, 0, "+b+c+f-f");
            ret(g, 'c', 3);
            syscall_at(g, 'e', 1);
        }
        plain(g, 'b', 2);
        check(g, 0, "+b+c+f-f-c");
        check_counters(g, -1);
        guest_destroy(g);
    }
}

/* Those that do: to the next instruction, or to be made again. */
static void test_syscall_back(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_code *again = block(g, 'c', 0, GT_EXIT_PLAIN, 0);
    struct gt_code *next = block(g, 'd', 0, GT_EXIT_PLAIN, 0);
    again->pc = func_at('b') + 1 * BLOCK_SIZE + 4;
    next->pc = func_at('b') + 2 * BLOCK_SIZE;
    syscall_at(g, 'b', 1);
    arrive(g, again);
    g->last_exit = gt_track_last_exit_of_func(func(g, 'b'));
    syscall_at(g, 'b', 1);
    arrive(g, next);
    check(g, 0, "+b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* The kernel's handler of the system call goes to the guest program's signal handler. */
static void test_syscall_handled(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    syscall_at(g, 'b', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'c', 0);
    check(g, 0, "+b+h-h+c");
    syscall_at(g, 'c', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'b', 2);
    check(g, 0, "+b+h-h+c+h-h-c");
    check_counters(g, GT_COUNT_HANDLERS, 2, -1);
    guest_destroy(g);
}

/* The kernel's handler of the system call goes to another program, which has no arguments. */
static void test_syscall_replaced(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    syscall_at(g, 'b', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    g->t.passed = GT_PASSED_ZERO;
    plain(g, 'b', 2); /* back */
    check(g, 0, "+b+h-h");
    syscall_at(g, 'b', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'c', 0);
    check(g, 0, "+b+h-h+h-h-b+c");
    assert_int_equal(g->t.stack->top->kind, GT_FRAME_ROOT);
    check_counters(g, GT_COUNT_HANDLERS, 2, GT_COUNT_BEGUN, 1, -1);
    guest_destroy(g);
}

/* The system call has come back, and an interrupt whose vector is not known hits just then: the
 * exception return at its end tells. */
static void test_syscall_interrupted(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_code *vector = block(g, 'i', 0, GT_EXIT_PLAIN, 0);
    syscall_at(g, 'b', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    run(g, vector);
    assert_int_equal(vector->vector, GT_VECTOR_UNKNOWN);
    call(g, 'i', 1, 'j');
    ret(g, 'j', 0);
    plain(g, 'i', 2);
    assert_true(leave(g, 'i', 3));
    assert_int_equal(vector->vector, GT_VECTOR_YES);
    plain(g, 'b', 2); /* where the system call comes back to */
    check(g, 0, "+b+h-h+i+j-j-i");
    ret(g, 'b', 3);
    plain(g, 'a', 1);
    check(g, 0, "+b+h-h+i+j-j-i-b");
    assert_int_equal(g->t.stack->top - g->t.stack->base, 0);
    assert_int_equal(g->t.matched, 4);
    assert_false(leave(g, 'a', 2)); /* told once */
    check_counters(g, GT_COUNT_HANDLERS, 2, -1);
    guest_destroy(g);
}

/* A signal's handler indeed: what ends by an exception return is above it, was entered in its
 * place, is no vector, or is another one. */
static void test_syscall_not_interrupted(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct guest *g = machine_start();
        struct gt_code *handler = block(g, 'i', 0, GT_EXIT_PLAIN, 0);
        syscall_at(g, 'b', 1);
        run(g, handler);
        if (how == 0)
            enter(g, 'h');
        if (how == 1) {
            syscall_at(g, 'i', 1); /* the signal has been dealt with */
            plain(g, 'b', 2);
            call(g, 'b', 3, 'i');
            plain(g, 'i', 0);
        }
        if (how == 3) /* of a process's maker */
            g->t.stack->top->addr = func_at('j');
        if (how == 2)
            handler->vector = GT_VECTOR_NO;
        assert_int_equal(leave(g, "hiii"[how], 1), how == 0);
        assert_int_equal(handler->vector, how == 2 ? GT_VECTOR_NO : GT_VECTOR_UNKNOWN);
        check(g, 0, ((const char *[]){"+b+i+h-h", "+b+i-i+i", "+b+i", "+b+i"})[how]);
        guest_destroy(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syscall),
        cmocka_unit_test(test_syscall_next_signal),
        cmocka_unit_test(test_syscall_signal_in_handler),
        cmocka_unit_test(test_syscall_back),
        cmocka_unit_test(test_syscall_handled),
        cmocka_unit_test(test_syscall_replaced),
        cmocka_unit_test(test_syscall_interrupted),
        cmocka_unit_test(test_syscall_not_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
