/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of machines that say where they go on, by pushing that address: track/machine.h. */
#include "track_machine.h"

/* What comes is another's, though it only calls. */
static void test_pushed(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_code *on = block(g, 'b', 3, GT_EXIT_PLAIN, 0);
    gt_machine_saved(&g->t, MAIN, on->pc);
    load_sp(g, MAIN_SP, T_SP);
    assert_ptr_equal(g->t.stack->out, &g->texts[1]);
    call(g, 'b', 1, 't');
    plain(g, 't', 0);
    switch_to(g, 't', 1, T, MAIN, T_SP, MAIN_SP);
    arrive(g, on);
    call(g, 'b', 4, 'c');
    ret(g, 'c', 0);
    plain(g, 'b', 5);
    check(g, 0, "+b+c-c");
    check(g, 1, "+t+s");
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 2, -1);
    check_rules(g, GT_RULE_PUSHED_CONTEXT, 1, -1);
    guest_destroy(g);
}

static void test_as_ever(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    gt_machine_saved(&g->t, MAIN, 0);
    load_sp(g, MAIN_SP, T_SP);
    call(g, 'b', 1, 't');
    plain(g, 't', 0);
    check(g, 0, "+b+t");
    check_counters(g, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pushed),
        cmocka_unit_test(test_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
