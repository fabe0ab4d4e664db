/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts that are saved and go on in their own stack: setjmp, exceptions; the table of them. */
#include "track_contexts.h"

static void test_longjmp(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct guest *g = nested_saves(3);
        load(g, 0x100000 + 0x100 * i);
        plain(g, 'b', 1); /* where s returned to, all three times */
        assert_int_equal(gt_stack_depth(g->t.stack), 2 + i);
        check_counters(g, GT_COUNT_UNWOUND, 1, -1);
        assert_int_equal(g->t.slow_flags, 0);
        guest_destroy(g);
    }
}

/* Not where the context goes on, an address that nothing saved, address 0: return addresses decide.
 */
static void test_unsaved(void **state)
{
    (void)state;
    struct guest *g = nested_saves(3);
    load(g, 0x900000);
    plain(g, 'b', 1);
    assert_int_equal(gt_stack_depth(g->t.stack), 5); /* the innermost activation */
    check_counters(g, GT_ANOMALY_GUESSED_FRAME, 1, -1);
    guest_destroy(g);
    g = nested_saves(3);
    load(g, 0x100000);
    plain(g, 'a', 1);
    assert_int_equal(gt_stack_depth(g->t.stack), 1);
    guest_destroy(g);
    g = nested_saves(1);
    gt_track_saved(&g->t, 0);
    for (unsigned i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        assert_true(!g->k.saved_contexts[i].stack == !g->k.saved_contexts[i].slot);
    guest_destroy(g);
}

/* Only what was loaded last is remembered. */
static void test_restored_ring(void **state)
{
    (void)state;
    for (uint64_t after = 0; after < 40; after += 13) {
        struct guest *g = nested_saves(3);
        arrive(g, block(g, 'l', 0, GT_EXIT_PLAIN, 0));
        gt_track_restored(&g->t, 0x100000);
        for (uint64_t i = 0; i < after; i++)
            gt_track_restored(&g->t, 0x900000 + 8 * i);
        gt_track_switched(&g->t, 0);
        plain(g, 'b', 1);
        assert_int_equal(gt_stack_depth(g->t.stack), after < 16 ? 2 : 5);
        guest_destroy(g);
    }
}

/* The frame that saved has returned, and another function was called in its place. */
static void test_stale(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    call(g, 'b', 0, 's');
    save(g, 0x100000);
    ret(g, 'b', 1);
    call(g, 'a', 1, 'c');
    call(g, 'c', 0, 'l');
    load(g, 0x100000);
    plain(g, 'b', 1);
    check(g, 0, "+a+b+s-s-b+c+l");
    check_counters(g, -1);
    guest_destroy(g);
}

static size_t slot_index(struct guest *g, uint64_t addr)
{
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        if (g->k.saved_contexts[i].slot == addr)
            return i;
    return GT_TRACK_SAVED_CONTEXTS;
}

/* More addresses than a set of the table has places: the oldest is lost, and taken for no other. */
static void test_collision(void **state)
{
    (void)state;
    struct guest *g = nested_saves(1);
    size_t at = slot_index(g, 0x100000);
    uint64_t other = 0x200000;
    assert_true(at < GT_TRACK_SAVED_CONTEXTS);
    do
        gt_track_saved(&g->t, other += 8);
    while (slot_index(g, 0x100000) < GT_TRACK_SAVED_CONTEXTS);
    assert_int_equal(slot_index(g, other), at | 3);
    if (slot_index(g, 0x100008) < GT_TRACK_SAVED_CONTEXTS)
        g->k.saved_contexts[slot_index(g, 0x100008)].slot = 0;
    load(g, 0x100000);
    plain(g, 'b', 1);
    check_counters(g, GT_ANOMALY_GUESSED_FRAME, 1, -1);
    assert_int_equal(gt_stack_depth(g->t.stack), 3);
    guest_destroy(g);
}

/* A context that goes on in the saving function itself: swapcontext that calls setcontext. Others
 * are not known to. */
static void inside_saver(bool saver)
{
    struct guest *g = guest_create(100, true);
    func(g, 's')->flags = saver ? GT_FUNC_SAVER : 0;
    call(g, 'a', 0, 's');
    arrive(g, block(g, 's', 0, GT_EXIT_PLAIN, 0));
    gt_track_saved(&g->t, 0x100000);
    call(g, 's', 1, 's');
    plain(g, 's', 0);
    call(g, 's', 1, 'l');
    load(g, 0x100000);
    plain(g, 's', 5);
    check(g, 0, saver ? "+a+s+s+l-l-s" : "+a+s+s+l-l");
    check_counters(g, saver ? GT_COUNT_UNWOUND : GT_ANOMALY_GUESSED_FRAME, 1, -1);
    guest_destroy(g);
}

static void test_inside_saver(void **state)
{
    (void)state;
    inside_saver(true);
    inside_saver(false);
}

/* A signal between the load and the transfer, whose handler jumps by itself: both arrive. */
static void test_signal_in_longjmp(void **state)
{
    (void)state;
    struct guest *g = nested_saves(2);
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    load(g, 0x100000);
    plain(g, 'h', 0);
    assert_int_equal(g->t.slow_flags, 0); /* of the handler nothing is known */
    assert_int_equal(g->t.nonlocal.n_restored, 0);
    call(g, 'h', 1, 's');
    save(g, 0x300000);
    call(g, 'h', 2, 'l');
    load(g, 0x300000);
    plain(g, 'h', 2);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    plain(g, 'b', 1);
    assert_int_equal(gt_stack_depth(g->t.stack), 2);
    check_counters(g, GT_COUNT_UNWOUND, 2, GT_COUNT_SIGNALS, 1, -1);
    guest_destroy(g);
}

/* The saving frame and what called it are gone, though nothing has come in their place yet. */
static void test_shrunk(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    call(g, 'b', 0, 'c');
    call(g, 'c', 0, 's');
    save(g, 0x100000);
    ret(g, 'c', 1);
    ret(g, 'b', 1);
    call(g, 'a', 1, 'l');
    load(g, 0x100000);
    plain(g, 'c', 1);
    check(g, 0, "+a+b+c+s-s-c-b+l");
    check_counters(g, -1);
    guest_destroy(g);
}

/* An exception finds its very frame though the catching function is there three times. */
static void test_exception(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'r')->flags = GT_FUNC_UNWIND_RAISE;
    func(g, 'p')->flags = GT_FUNC_PERSONALITY;
    call(g, 'a', 0, 'b');
    call(g, 'b', 0, 'b'); /* frame 2 */
    call(g, 'b', 0, 'b'); /* 3 */
    call(g, 'b', 0, 'c'); /* 4; c is 5 */
    call(g, 'c', 0, 'r');
    plain(g, 'r', 0);
    for (int pass = 0; pass < 2; pass++)
        for (int depth = 4; depth > 2; depth--) {
            call(g, 'r', pass ? 3 : 1, 'p');
            arrive(g, block(g, 'p', 0, GT_EXIT_RETURN, 0));
            gt_track_get_ip(&g->t, func_at('b') + BLOCK_SIZE);
            ret(g, 'p', 0);
            plain(g, 'r', pass ? 4 : 2);
        }
    gt_track_switched(&g->t, 0);
    plain(g, 'b', 7);
    assert_int_equal(gt_stack_depth(g->t.stack), 3);
    check_counters(g, GT_COUNT_UNWOUND, 1, -1);
    check_rules(g, GT_RULE_EXCEPTION, 1, -1);
    guest_destroy(g);
}

/* A signal after the return of a recursive call: it continues in the block that has returned. */
static void test_signal_after_recursive_return(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    call(g, 'a', 0, 'b');
    call(g, 'b', 0, 'b');
    call(g, 'b', 0, 'b');
    plain(g, 'b', 0);
    ret(g, 'b', 1);
    plain(g, 'h', 0);
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    ret(g, 'b', 1);
    check(g, 0, "+a+b+b+b+h-h-b");
    ret(g, 'b', 1);
    plain(g, 'a', 1);
    check(g, 0, "+a+b+b+b+h-h-b-b-b");
    check_counters(g, GT_COUNT_SIGNALS, 1, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_after_recursive_return),
        cmocka_unit_test(test_longjmp),
        cmocka_unit_test(test_unsaved),
        cmocka_unit_test(test_restored_ring),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_collision),
        cmocka_unit_test(test_inside_saver),
        cmocka_unit_test(test_shrunk),
        cmocka_unit_test(test_signal_in_longjmp),
        cmocka_unit_test(test_exception),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
