/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checkpoints of a machine's call stacks: what is restored goes on as it did. */
#include "track/checkpoint.h"
#include "track/unfollowed.h"
#include "track_machine.h"

/* b has begun the thread t, which runs on stack 1 and has called u. */
static struct guest *two_threads(void)
{
    struct guest *g = machine_start();
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, T_SP);
    plain(g, 't', 0);
    call(g, 't', 1, 'u');
    plain(g, 'u', 0);
    check(g, 0, "+b+s");
    check(g, 1, "+t+u");
    return g;
}

static void end_all(struct guest *g)
{
    g->last_exit = 0;
    gt_track_stop_following(&g->t, ++g->time);
    gt_track_end_suspended(&g->k, g->time);
    gt_track_checkpoint_leave(&g->t, g->time);
}

/* Both threads are as they were, although one had returned and the other had gone on. */
static void test_restored(void **state)
{
    (void)state;
    struct guest *g = two_threads();
    struct gt_track_thread_checkpoint at;
    struct gt_track_checkpoint *c = gt_track_checkpoint_make(&g->k);
    assert_non_null(c);
    gt_track_checkpoint_thread(&g->t, &at);
    ret(g, 'u', 1);
    plain(g, 't', 2);
    switch_to(g, 't', 3, T, MAIN, T_SP, MAIN_SP);
    plain(g, 'b', 2);
    check(g, 0, "+b+s-s");
    check(g, 1, "+t+u-u+s");
    for (int i = 0; i < 2; i++) { /* as often as it is loaded */
        end_all(g);
        assert_true(gt_track_checkpoint_restore(&g->k, c, ++g->time));
        gt_track_checkpoint_resume(&g->t, c, &at, g->time);
        g->last_exit = gt_track_last_exit_of_func(func(g, 'u'));
    }
    check(g, 0, "+b+s-s-b+b+s-s-b+b+s");
    check(g, 1, "+t+u-u+s-s-t+t+u-u-t+t+u");
    ret(g, 'u', 1);
    plain(g, 't', 2);
    switch_to(g, 't', 3, T, MAIN, T_SP, MAIN_SP);
    plain(g, 'b', 2);
    check(g, 0, "+b+s-s-b+b+s-s-b+b+s-s");
    check(g, 1, "+t+u-u+s-s-t+t+u-u-t+t+u-u+s");
    check_counters(g, GT_COUNT_BEGUN, 1, GT_COUNT_SWITCHED, 3, -1);
    gt_track_checkpoint_free(c);
    guest_destroy(g);
}

/* A handler that has called nothing yet loads the stack pointer: that is its own, also when calls
 * were made since the checkpoint. */
static void test_handler(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_track_thread_checkpoint at;
    call(g, 'b', 1, 'c');
    plain(g, 'c', 0);
    enter(g, 'h');
    struct gt_track_checkpoint *c = gt_track_checkpoint_make(&g->k);
    gt_track_checkpoint_thread(&g->t, &at);
    uint64_t last_exit = g->last_exit;
    call(g, 'h', 1, 'i');
    plain(g, 'i', 0);
    end_all(g);
    assert_true(gt_track_checkpoint_restore(&g->k, c, ++g->time));
    gt_track_checkpoint_resume(&g->t, c, &at, g->time);
    g->last_exit = last_exit;
    load_sp(g, MAIN_SP, U_SP);
    assert_false(g->t.stack->top->flags & GT_FRAME_SP_LOADED);
    gt_track_checkpoint_free(c);
    guest_destroy(g);
}

/* A stack that was begun later ends for good; one that is not known is empty, and cut. */
static void test_others(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_track_thread_checkpoint at;
    struct gt_track_checkpoint *c = gt_track_checkpoint_make(&g->k);
    gt_track_checkpoint_thread(&g->t, &at);
    switch_to(g, 'b', 1, MAIN, 0, MAIN_SP, T_SP);
    plain(g, 't', 0);
    end_all(g);
    assert_true(gt_track_checkpoint_restore(&g->k, c, ++g->time));
    gt_track_checkpoint_resume(&g->t, c, &at, g->time);
    check(g, 0, "+b+s-s-b+b");
    check(g, 1, "+t-t");
    assert_null(g->k.stacks->next);
    end_all(g);
    assert_true(gt_track_checkpoint_begin(&g->t, true, ++g->time));
    assert_true(g->t.stack->cut && g->t.stack->top == g->t.stack->base);
    gt_track_checkpoint_free(c);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_handler),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
