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
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_to_another),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
