/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Indirect jumps of machines: inside a function, into another one, and interrupted. */
#include "track_machine.h"

/* As machine_start, but a, b and c have symbols. */
static struct guest *named_start(void)
{
    struct guest *g = machine_create();
    for (int i = 0; i < 3; i++)
        g->fn[i].flags = 0;
    call(g, 'a', 1, 'b');
    plain(g, 'b', 0);
    return g;
}

static void jump(struct guest *g, char name, unsigned n)
{
    run(g, block(g, name, n, GT_EXIT_JUMP_INDIRECT, 0));
}

/* To any block of its own, its entry too. */
static void test_inside(void **state)
{
    (void)state;
    struct guest *g = named_start();
    jump(g, 'b', 1);
    plain(g, 'b', 3);
    jump(g, 'b', 4);
    plain(g, 'b', 0);
    jump(g, 'b', 1);
    ret(g, 'b', 2);
    plain(g, 'a', 2);
    check(g, 0, "+b-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* A call in the jumper's place where that is an entry; else nothing. */
static void test_to_another(void **state)
{
    (void)state;
    struct guest *g = named_start();
    jump(g, 'b', 1);
    plain(g, 'c', 0);
    check(g, 0, "+b-b+c");
    jump(g, 'c', 1);
    plain(g, 'b', 2);
    ret(g, 'b', 3);
    plain(g, 'a', 2);
    check(g, 0, "+b-b+c-c");
    check_counters(g, -1);
    guest_destroy(g);
}

/* A function whose result is recorded ends with the one that it jumped to. */
static void test_result(void **state)
{
    (void)state;
    struct guest *g = named_start();
    g->fn[1].flags = GT_FUNC_RESULT;
    jump(g, 'b', 1);
    plain(g, 'c', 0);
    check(g, 0, "+b+c");
    ret(g, 'c', 1);
    plain(g, 'a', 2);
    check(g, 0, "+b+c-c-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* Of two that jump to each other without end some stay open, and all end at the one return. */
static void test_result_loop(void **state)
{
    (void)state;
    enum { JUMPS = 40, OPEN = 16 };
    struct guest *g = named_start();
    g->fn[1].flags = g->fn[2].flags = GT_FUNC_RESULT;
    uint32_t before = gt_stack_depth(g->t.stack) - 1;
    for (int i = 0; i < JUMPS; i++) {
        jump(g, i % 2 ? 'c' : 'b', 1);
        plain(g, i % 2 ? 'b' : 'c', 0);
    }
    assert_int_equal(gt_stack_depth(g->t.stack), before + OPEN);
    ret(g, 'b', 1);
    plain(g, 'a', 2);
    assert_int_equal(gt_stack_depth(g->t.stack), before);
    check_counters(g, -1);
    guest_destroy(g);
}

/* Functions without symbols have no known entries. */
static void test_unknown(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    jump(g, 'b', 1);
    plain(g, 'c', 0);
    ret(g, 'c', 1);
    plain(g, 'a', 1);
    check(g, 0, "+b-b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* An interrupt before it arrives changes nothing. */
static void test_interrupted(void **state)
{
    (void)state;
    struct guest *g = named_start();
    jump(g, 'b', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'b', 3);
    check(g, 0, "+b+h-h");
    jump(g, 'b', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'c', 0);
    check(g, 0, "+b+h-h+h-h-b+c");
    check_counters(g, GT_COUNT_HANDLERS, 2, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),  cmocka_unit_test(test_to_another),
        cmocka_unit_test(test_result),  cmocka_unit_test(test_result_loop),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
