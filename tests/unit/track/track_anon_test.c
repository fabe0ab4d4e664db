/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code without symbols, where the stack pointer was loaded before a jump: a call in the jumper's
 * place, or back to a frame. The file's code is `m` to `z`, one anonymous function. */
#include "track_guest.h"

static struct guest *start(bool tail_calls)
{
    struct guest *g = guest_create(100, tail_calls);
    struct gt_track_func *file = func(g, 'm');
    *file = (struct gt_track_func){.lo = func_at('m'), .hi = func_at('z'), .flags = GT_FUNC_ANON};
    return g;
}

/* A call of the n-th block of the file's code. */
static void call_file(struct guest *g, char name, unsigned n, unsigned target)
{
    run(g, block(g, name, n, GT_EXIT_CALL, func_at('m') + target * BLOCK_SIZE));
}

static void jump_switched(struct guest *g, char name, unsigned to)
{
    plain(g, name, 2);
    gt_track_switched(&g->t, 0);
    plain(g, 'm', to);
}

/* The dynamic linker goes on to a function of the file, one of whose functions is on the stack. */
static void test_far_jump_is_call(void **state)
{
    (void)state;
    struct guest *g = start(true);
    call_file(g, 'a', 0, 0x10);
    call(g, 'm', 0x10, 'b');
    call(g, 'b', 0, 'c');
    plain(g, 'c', 0);
    jump_switched(g, 'c', 0x80);
    check(g, 0, "+a+m+b+c-c+m");
    assert_int_equal(g->t.stack->top->addr, func_at('m') + 0x80 * BLOCK_SIZE);
    ret(g, 'm', 0x81);
    plain(g, 'b', 1);
    ret(g, 'b', 2);
    plain(g, 'm', 0x11);
    check(g, 0, "+a+m+b+c-c+m-m-b");
    check_counters(g, -1);
    guest_destroy(g);
}

static void test_far_jump_no_tail_calls(void **state)
{
    (void)state;
    struct guest *g = start(false);
    call_file(g, 'a', 0, 0x10);
    call(g, 'm', 0x10, 'b');
    plain(g, 'b', 0);
    jump_switched(g, 'b', 0x80);
    check(g, 0, "+a+m+b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* To where a frame returns it is a longjmp, wherever from. */
static void test_far_jump_to_return(void **state)
{
    (void)state;
    struct guest *g = start(true);
    call_file(g, 'a', 0, 0x10);
    call(g, 'm', 0x10, 'b');
    call(g, 'b', 0, 'c');
    plain(g, 'c', 0);
    jump_switched(g, 'c', 0x11);
    check(g, 0, "+a+m+b+c-c-b");
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    check_rules(g, GT_RULE_OUTER_RETURN, 1, -1);
    guest_destroy(g);
}

/* A static program's longjmp: its own function, in the file's range. */
static void test_near_jump_is_back(void **state)
{
    (void)state;
    struct guest *g = start(true);
    call_file(g, 'a', 0, 0x10);
    call(g, 'm', 0x10, 'n');
    call(g, 'n', 0, 'o');
    plain(g, 'o', 0);
    jump_switched(g, 'o', 0x18);
    check(g, 0, "+a+m+n+o-o-n");
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    guest_destroy(g);
}

/* An entry that is too far below is another function's. */
static void test_near_jump_reach(void **state)
{
    (void)state;
    for (unsigned over = 0; over < 2; over++) {
        struct guest *g = start(true);
        func(g, 'm')->hi = func_at('m') + 0x100000;
        call_file(g, 'a', 0, 0x10);
        call(g, 'm', 0x10, 'n');
        plain(g, 'n', 0);
        jump_switched(g, 'n', 0x10 + (64 << 10) / BLOCK_SIZE - 1 + over);
        check(g, 0, over ? "+a+m+n" : "+a+m+n-n");
        check_counters(g, GT_COUNT_UNWOUND, (int)!over, -1);
        guest_destroy(g);
    }
}

/* A suspended stack's top frame goes on there. */
static void test_far_jump_to_suspended(void **state)
{
    (void)state;
    struct guest *g = start(true);
    call_file(g, 'a', 0, 0x10);
    func(g, 'c')->flags = GT_FUNC_RESTORER;
    call(g, 'm', 0x10, 'c');
    plain(g, 'c', 0);
    gt_track_switched(&g->t, 0);
    plain(g, 'm', 0x40); /* a coroutine begins */
    assert_int_equal(g->n_texts, 2);
    call(g, 'm', 0x41, 'c');
    plain(g, 'c', 0);
    jump_switched(g, 'c', 0x11);
    check(g, 0, "+a+m+c-c");
    check(g, 1, "+m+c");
    check_counters(g, GT_COUNT_SWITCHED, 2, -1);
    gt_track_close_suspended(&g->k, g->time);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_jump_is_call),   cmocka_unit_test(test_far_jump_no_tail_calls),
        cmocka_unit_test(test_far_jump_to_return), cmocka_unit_test(test_near_jump_is_back),
        cmocka_unit_test(test_near_jump_reach),    cmocka_unit_test(test_far_jump_to_suspended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
