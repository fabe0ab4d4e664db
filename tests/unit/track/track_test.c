/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call stacks: calls and returns, depth and growth, threads, fork and exec; the sink's contract. */
#include "track_guest.h"

static void test_calls(void **state)
{
    (void)state;
    struct guest *g = guest_create(10, true);
    call(g, 'a', 0, 'b');
    ret(g, 'b', 0);
    icall(g, 'a', 1);
    call(g, 'c', 0, 'b');
    ret(g, 'b', 0);
    ret(g, 'c', 1);
    plain(g, 'a', 2);
    check(g, 0, "+a+b-b+c+b-b-c");
    assert_int_equal(g->t.calls, 4);
    assert_int_equal(g->t.matched, 3);
    check_counters(g, -1);
    gt_track_thread_finish(&g->t, g->time);
    check(g, 0, "+a+b-b+c+b-b-c-a");
    assert_true(g->texts[0].closed);
    assert_null(g->t.stack);
    guest_destroy(g);
}

/* The first block opens a root only if it is a function's entry; else the first call does. */
static void test_first_block(void **state)
{
    (void)state;
    struct guest *g = guest_create(10, true);
    call(g, 'a', 3, 'b');
    ret(g, 'b', 0);
    plain(g, 'a', 4);
    check(g, 0, "+b-b");
    assert_int_equal(gt_stack_depth(g->t.stack), 0);
    guest_destroy(g);
}

static void recurse(struct guest *g, struct gt_code *down, struct gt_code *up, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        run(g, down);
    arrive(g, down); /* the last one does not call */
    for (uint32_t i = 0; i < n; i++)
        run(g, up);
}

/* The hot path, too, sees that there is no room. */
static void test_growth(void **state)
{
    (void)state;
    struct guest *g = guest_create(100000, true);
    call(g, 'a', 0, 'b');
    recurse(g, block(g, 'b', 0, GT_EXIT_CALL, func_at('b')), block(g, 'b', 1, GT_EXIT_RETURN, 0),
            5000);
    plain(g, 'a', 1);
    assert_int_equal(gt_stack_depth(g->t.stack), 1);
    assert_int_equal(g->texts[0].depth, 1);
    guest_destroy(g);
}

/* Frames move as they grow; those deeper than max_depth are followed and not recorded. */
static void test_depth(void **state)
{
    (void)state;
    struct guest *g = guest_create(2, true);
    call(g, 'a', 0, 'b');
    recurse(g, block(g, 'b', 0, GT_EXIT_CALL, func_at('b')), block(g, 'b', 1, GT_EXIT_RETURN, 0),
            5000);
    assert_int_equal(gt_stack_depth(g->t.stack), 2);
    check(g, 0, "+a+b");
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b");
    assert_int_equal(g->t.matched, 5000);
    assert_int_equal(g->t.calls, 5001);
    check_counters(g, GT_COUNT_BEYOND_DEPTH, 4999, -1);
    guest_destroy(g);
}

/* No guest makes us keep more than GT_TRACK_MAX_DEPTH frames: those beyond are counted, and as many
 * returns close nothing. */
static void test_bound(void **state)
{
    (void)state;
    struct guest *g = guest_create(2, true);
    struct gt_code *down = block(g, 'b', 0, GT_EXIT_CALL, func_at('b'));
    struct gt_code *other = block(g, 'c', 1, GT_EXIT_RETURN, 0);
    call(g, 'a', 0, 'b');
    for (uint32_t i = 0; i < GT_TRACK_MAX_DEPTH - 1; i++)
        run(g, down);
    assert_int_equal(gt_stack_depth(g->t.stack), GT_TRACK_MAX_DEPTH);
    enum { BEYOND = GT_TRACK_MAX_DEPTH - 2 };
    check_counters(g, GT_COUNT_BEYOND_DEPTH, BEYOND, -1);
    for (int i = 0; i < 3; i++)
        run(g, down);
    assert_int_equal(gt_stack_depth(g->t.stack), GT_TRACK_MAX_DEPTH);
    check_counters(g, GT_COUNT_BEYOND_DEPTH, BEYOND, GT_ANOMALY_TOO_DEEP, 3, -1);
    assert_int_equal(g->t.stack->dropped, 3);
    for (int i = 0; i < 4; i++) {
        g->last_exit =
            gt_code_last_exit(other); /* from a frame that is not known, to where none returns */
        run(g, other);
        assert_int_equal(g->t.stack->dropped, i < 3 ? 2 - i : 0);
    }
    assert_int_equal(gt_stack_depth(g->t.stack), GT_TRACK_MAX_DEPTH);
    check_counters(g, GT_COUNT_BEYOND_DEPTH, BEYOND, GT_ANOMALY_TOO_DEEP, 3,
                   GT_ANOMALY_UNKNOWN_RETURN, 1, -1);
    check(g, 0, "+a+b");
    check_rules(g, GT_RULE_BEYOND_LIMIT, 3, GT_RULE_NO_CALL, 1, -1);
    guest_destroy(g);
}

/* A return with nothing open does not touch the sentinel. */
static void test_sentinel(void **state)
{
    (void)state;
    struct guest *g = guest_create(10, true);
    ret(g, 'a', 3);
    ret(g, 'b', 3);
    ret(g, 'a', 3);
    plain(g, 'c', 3);
    assert_int_equal(gt_stack_depth(g->t.stack), 0);
    check_counters(g, GT_ANOMALY_UNKNOWN_RETURN, 3, -1);
    guest_destroy(g);
}

static void test_forked(void **state)
{
    (void)state;
    struct guest *g = guest_create(10, true);
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    g->t.counters[GT_COUNT_SIGNALS] = 3;
    gt_track_forked(&g->t, g->time);
    check(g, 0, "+a+b");
    check(g, 1, "+a+b");
    assert_int_equal(g->t.calls, 0);
    check_counters(g, -1);
    ret(g, 'b', 1);
    plain(g, 'a', 1);
    check(g, 1, "+a+b-b");
    check(g, 0, "+a+b");
    guest_destroy(g);
}

/* A child whose output cannot be opened goes on unrecorded, and is asked again at each transfer. */
static void test_forked_refused(void **state)
{
    (void)state;
    struct guest *g = guest_create(10, true);
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    g->refuses = true;
    gt_track_forked(&g->t, g->time);
    ret(g, 'b', 1);
    plain(g, 'a', 1);
    assert_int_equal(gt_stack_depth(g->t.stack), 1);
    g->refuses = false;
    call(g, 'a', 2, 'c');
    plain(g, 'c', 0);
    check(g, 1, "+a+c");
    guest_destroy(g);
}

static void test_exec(void **state)
{
    (void)state;
    struct guest *g = guest_create(2, true);
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    gt_track_exec(&g->t, g->time);
    check(g, 0, "+a+b-b-a");
    gt_track_exec_failed(&g->t, g->time);
    ret(g, 'b', 1);
    plain(g, 'a', 1);
    check(g, 0, "+a+b-b-a+a+b-b");
    assert_int_equal(g->t.matched, 1);
    guest_destroy(g);
}

static void test_refused(void **state)
{
    (void)state;
    struct guest *g = guest_create(10, true);
    struct gt_track_thread second = {0};
    g->refuses = true;
    assert_false(gt_track_thread_init(&second, &g->k, 1));
    gt_track_thread_finish(&second, 2);
    guest_destroy(g);
}

/* The user's flags stay when the thread begins, and are no concern of the hot path. */
static void test_slow_flags(void **state)
{
    (void)state;
    static const uint32_t asked[] = {0x10000, 0x800000};
    for (size_t i = 0; i < 2; i++) {
        struct guest *g = guest_create(10, true);
        call(g, 'a', 0, 'b');
        g->t.slow_flags = asked[i];
        struct gt_code *b = block(g, 'b', 0, GT_EXIT_PLAIN, 0);
        assert_true(transfer_plain(&g->t, b, g->last_exit, g->time, &g->sink, g, 10));
        check(g, 0, "+a+b");
        gt_track_thread_finish(&g->t, g->time);
        assert_true(gt_track_thread_init(&g->t, &g->k, g->time));
        assert_int_equal(g->t.slow_flags, asked[i]);
        guest_destroy(g);
    }
}

/* The hot path does nothing at all where it does not decide. */
static void test_hot_path(void **state)
{
    (void)state;
    struct guest *g = guest_create(2, true);
    struct gt_code *from = block(g, 'a', 0, GT_EXIT_CALL, func_at('b'));
    struct gt_code *to = block(g, 'b', 0, GT_EXIT_PLAIN, 0), *other = block(g, 'c', 0, 0, 0);
    struct gt_code *back = block(g, 'b', 1, GT_EXIT_RETURN, 0);
    run(g, from);
    const struct {
        struct gt_code *code;
        uint64_t last_exit;
    } slow[] = {
        {other, gt_code_last_exit(from)},                    /* not the target */
        {to, gt_code_last_exit(from) | GT_LAST_EXIT_STUB},   /* through a stub */
        {to, gt_code_last_exit(from) | GT_LAST_EXIT_RESUME}, /* after a signal */
        {to, gt_track_last_exit_of_func(from->fn)},          /* a jump */
        {other, gt_code_last_exit(back)},                    /* a return to elsewhere */
    };
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        assert_false(transfer_plain(&g->t, slow[i].code, slow[i].last_exit, g->time, &g->sink, g,
                                    g->k.max_depth));
    to->slow_flags = true;
    assert_false(transfer_plain(&g->t, to, gt_code_last_exit(from), g->time, &g->sink, g, 2));
    to->slow_flags = false;
    assert_false(transfer_plain(&g->t, to, gt_code_last_exit(from), g->time, &g->sink, g, 1));
    check(g, 0, "+a");
    assert_true(transfer_plain(&g->t, to, gt_code_last_exit(from), g->time, &g->sink, g, 2));
    check(g, 0, "+a+b");
    guest_destroy(g);
}

static void test_counter_names(void **state)
{
    (void)state;
    for (int i = 0; i < GT_COUNTERS; i++) {
        assert_non_null(gt_track_counter_name(i));
        assert_non_null(gt_track_counter_text(gt_track_counter_name(i)));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(gt_track_counter_name(i), gt_track_counter_name(k));
    }
    assert_null(gt_track_counter_text("nothing"));
    assert_false(gt_track_counter_is_anomaly(GT_COUNT_UNWOUND));
    assert_true(gt_track_counter_is_anomaly(GT_ANOMALY_UNKNOWN_RETURN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_first_block),
        cmocka_unit_test(test_growth),        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_bound),         cmocka_unit_test(test_sentinel),
        cmocka_unit_test(test_forked),        cmocka_unit_test(test_forked_refused),
        cmocka_unit_test(test_exec),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_slow_flags),    cmocka_unit_test(test_hot_path),
        cmocka_unit_test(test_counter_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
