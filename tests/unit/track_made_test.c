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
    g->mark = gt_code_mark(code);
    enter(g, 'h');
    assert_true(gt_machine_leave(&g->t, &g->mark, ++g->time));
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

/* A process begins on another vCPU, which has run nothing so far. */
static void begin_process(struct guest *g, struct gt_thread *other)
{
    struct gt_code *from = block(g, 'x', 0, GT_EXIT_EXCEPTION_RETURN, 0);
    assert_true(gt_thread_init(other, &g->k, ++g->time));
    gt_machine_land(other, from, block(g, 'b', 2, GT_EXIT_PLAIN, 0), ++g->time);
}

static void test_maker(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_thread other = {0};
    make_call(g, block(g, 'b', 1, GT_EXIT_SYSCALL, 0));
    make_others(g, GT_TRACK_MADE_TRIES - 1);
    begin_process(g, &other);
    check(g, 1, "+b");
    assert_int_equal(other.stack->top->kind, GT_FRAME_CALL);
    assert_int_equal(other.stack->top->ret, func_at('a') + BLOCK_SIZE);
    assert_int_equal(other.doubts[GT_DOUBT_BEGUN], 1);
    assert_int_equal(other.calls, 0);
    gt_thread_finish(&other, ++g->time);
    guest_destroy(g);
}

/* The call was made too long ago: nothing is known of what called it. */
static void test_forgotten(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_thread other = {0};
    make_call(g, block(g, 'b', 1, GT_EXIT_SYSCALL, 0));
    make_others(g, GT_TRACK_MADE_TRIES);
    begin_process(g, &other);
    assert_int_equal(other.stack->top->kind, GT_FRAME_ROOT);
    assert_int_equal(other.doubts[GT_DOUBT_BEGUN], 1);
    gt_thread_finish(&other, ++g->time);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maker),
        cmocka_unit_test(test_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
