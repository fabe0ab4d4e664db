/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of a machine begin with a copy of their maker's stack: track/machine.h. */
#include "track_machine.h"

/* Where the system call of b, called by a, comes back to. */
static uint64_t place(void)
{
    return func_at('b') + 2 * BLOCK_SIZE;
}

static void make_call(struct guest *g, struct gt_code *code)
{
    g->last_exit = gt_code_last_exit(code);
    enter(g, 'h');
    assert_true(gt_machine_leave(&g->t, &g->last_exit, ++g->time));
}

/* So many others, in places that are kept where that one is. */
static void make_others(struct guest *g, unsigned n)
{
    struct gt_code *code = block(g, 'c', 0, GT_EXIT_SYSCALL, 0);
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t pc = 0x100000; n > 0; pc += 4)
        if (pc * hash >> 54 == place() * hash >> 54) {
            code->pc = pc - code->size;
            make_call(g, code);
            n--;
        }
}

/* The same, with the stack there. */
static void make_call_at(struct guest *g, uint64_t sp)
{
    g->t.calling_sp = sp;
    make_call(g, block(g, 'b', 1, GT_EXIT_SYSCALL, 0));
}

/* A process begins on another vCPU, which has run nothing so far. */
static void begin_process_at(struct guest *g, struct gt_track_thread *other, uint64_t sp)
{
    struct gt_code *from = block(g, 'x', 0, GT_EXIT_EXCEPTION_RETURN, 0);
    assert_true(gt_track_thread_init(other, &g->k, ++g->time));
    other->returned_sp = sp;
    gt_machine_resolve(other, from, block(g, 'b', 2, GT_EXIT_PLAIN, 0), ++g->time);
}

static void begin_process(struct guest *g, struct gt_track_thread *other)
{
    begin_process_at(g, other, 0);
}

static void test_maker(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_track_thread other = {0};
    make_call(g, block(g, 'b', 1, GT_EXIT_SYSCALL, 0));
    make_others(g, GT_TRACK_FORK_SNAPSHOTS - 1);
    begin_process(g, &other);
    check(g, 1, "+b");
    assert_int_equal(other.stack->top->kind, GT_FRAME_CALL);
    assert_int_equal(other.stack->top->ret, func_at('a') + BLOCK_SIZE);
    assert_int_equal(other.counters[GT_COUNT_BEGUN], 1);
    assert_int_equal(other.calls, 0);
    gt_track_thread_finish(&other, ++g->time);
    guest_destroy(g);
}

/* The call was made too long ago: nothing is known of what called it. */
static void test_forgotten(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_track_thread other = {0};
    make_call(g, block(g, 'b', 1, GT_EXIT_SYSCALL, 0));
    make_others(g, GT_TRACK_FORK_SNAPSHOTS);
    begin_process(g, &other);
    assert_int_equal(other.stack->top->kind, GT_FRAME_ROOT);
    assert_int_equal(other.counters[GT_COUNT_BEGUN], 1);
    gt_track_thread_finish(&other, ++g->time);
    guest_destroy(g);
}

static uint32_t depth_of_process(struct guest *g, uint64_t sp)
{
    struct gt_track_thread other = {0};
    begin_process_at(g, &other, sp);
    uint32_t depth = gt_stack_depth(other.stack);
    gt_track_thread_finish(&other, ++g->time);
    return depth;
}

/* Two were made at the same place, from different depths of calls; b is called by a, then by c. A
 * thread has a stack of its own, and a host may tell none: then the last one's callers are taken.
 */
static void test_stack_pointer(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    make_call_at(g, MAIN_SP);
    uint32_t depth = gt_stack_depth(g->t.stack);
    call(g, 'b', 0, 'c');
    call(g, 'c', 0, 'b');
    make_call_at(g, T_SP);
    assert_int_equal(depth_of_process(g, MAIN_SP), depth);
    assert_int_equal(depth_of_process(g, T_SP), depth + 2);
    assert_int_equal(depth_of_process(g, U_SP), depth + 2);
    assert_int_equal(depth_of_process(g, 0), depth + 2);
    make_call_at(g, MAIN_SP);
    assert_int_equal(depth_of_process(g, MAIN_SP), depth + 2);
    guest_destroy(g);
}

/* A process that was made leaps to where its maker had stored the stack pointer, in s. */
static void test_leap(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_track_thread other = {0};
    call(g, 'b', 0, 's');
    plain(g, 's', 0);
    gt_track_saved(&g->t, MAIN);
    ret(g, 's', 1);
    plain(g, 'b', 1);
    make_call_at(g, MAIN_SP);
    begin_process_at(g, &other, MAIN_SP);
    struct gt_code *back = block(g, 'b', 1, GT_EXIT_PLAIN, 0);
    assert_false(gt_machine_longjmp(&other, back, ++g->time));
    gt_track_restored(&other, MAIN);
    gt_machine_switch(&other, T_SP, U_SP, ++g->time);
    assert_false(gt_machine_longjmp(&other, block(g, 'b', 3, GT_EXIT_PLAIN, 0), ++g->time));
    assert_true(gt_machine_longjmp(&other, back, ++g->time));
    assert_int_equal(gt_stack_depth(other.stack), gt_stack_depth(g->t.stack));
    assert_int_equal(other.counters[GT_COUNT_UNWOUND], 1);
    gt_track_thread_finish(&other, ++g->time);
    guest_destroy(g);
}

/* l loads the stack pointer that s has stored, and runs on into a block. True where no transfer is
 * plain then: a jump to where s had returned ends l's call. */
static bool may_leap_after(uint64_t next_pc)
{
    static const struct gt_track_func leaping = {.flags = GT_FUNC_ANON};
    struct guest *g = machine_start();
    call(g, 'b', 0, 's');
    plain(g, 's', 0);
    gt_track_saved(&g->t, MAIN);
    ret(g, 's', 1);
    plain(g, 'b', 1);
    uint32_t depth = gt_stack_depth(g->t.stack);
    call(g, 'b', 2, 'l');
    plain(g, 'l', 0);
    gt_track_restored(&g->t, MAIN);
    gt_machine_switch(&g->t, T_SP, U_SP, ++g->time);
    struct gt_code next = {.pc = next_pc, .size = 4, .insns = 1, .fn = func(g, 'l')};
    (void)gt_track_slow(&g->t, &next, gt_track_last_exit_of_func(&leaping), ++g->time);
    bool may = g->t.slow_flags & GT_SLOW_LONGJMP;
    (void)gt_track_slow(&g->t, block(g, 'b', 1, GT_EXIT_PLAIN, 0),
                        gt_track_last_exit_of_jump(func(g, 'l')), ++g->time);
    assert_int_equal(gt_stack_depth(g->t.stack), depth);
    assert_int_equal(g->t.counters[GT_COUNT_UNWOUND], 1);
    assert_false(g->t.slow_flags & GT_SLOW_LONGJMP);
    guest_destroy(g);
    return may;
}

static void test_leap_over_pages(void **state)
{
    (void)state;
    assert_true(may_leap_after(0x7001));
    assert_false(may_leap_after(0x7020)); /* no page begins there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maker),           cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_stack_pointer),   cmocka_unit_test(test_leap),
        cmocka_unit_test(test_leap_over_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
