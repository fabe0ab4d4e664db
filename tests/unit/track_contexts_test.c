/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts that are saved and go on: setjmp, coroutines, several threads, exceptions. */
#include "track_guest.h"

/* Function s saves its context at the addresses, and returns to the block that called it. */
static void save(struct guest *g, uint64_t slot)
{
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    gt_track_saved(&g->t, slot);
    gt_track_saved(&g->t, slot + 8);
    ret(g, 's', 0);
}

/* Function l loads a context, and the stack pointer. */
static void load(struct guest *g, uint64_t slot)
{
    arrive(g, block(g, 'l', 0, GT_EXIT_PLAIN, 0));
    gt_track_restored(&g->t, slot + 8);
    gt_track_restored(&g->t, slot);
    gt_track_switched(&g->t);
    g->mark = gt_mark_of_func(func(g, 'l'));
}

/* a calls b, b calls s to save and then itself, so often. */
static struct guest *nested_saves(int n)
{
    struct guest *g = guest_create(100, true);
    call(g, 'a', 0, 'b');
    for (int i = 0; i < n; i++) {
        call(g, 'b', 0, 's');
        save(g, 0x100000 + 0x100 * (uint64_t)i);
        call(g, 'b', 1, 'b');
    }
    plain(g, 'b', 0);
    call(g, 'b', 4, 'l');
    return g;
}

static void test_longjmp(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct guest *g = nested_saves(3);
        load(g, 0x100000 + 0x100 * i);
        plain(g, 'b', 1); /* where s returned to, all three times */
        assert_int_equal(gt_stack_depth(g->t.stack), 2 + i);
        check_doubts(g, GT_DOUBT_UNWOUND, 1, -1);
        assert_int_equal(g->t.attention, 0);
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
    check_doubts(g, GT_DOUBT_GUESSED_FRAME, 1, -1);
    guest_destroy(g);
    g = nested_saves(3);
    load(g, 0x100000);
    plain(g, 'a', 1);
    assert_int_equal(gt_stack_depth(g->t.stack), 1);
    guest_destroy(g);
    g = nested_saves(1);
    gt_track_saved(&g->t, 0);
    for (unsigned i = 0; i < GT_TRACK_SAVES; i++)
        assert_true(!g->k.saves[i].stack == !g->k.saves[i].slot);
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
        gt_track_switched(&g->t);
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
    check_doubts(g, -1);
    guest_destroy(g);
}

static size_t slot_index(struct guest *g, uint64_t addr)
{
    for (size_t i = 0; i < GT_TRACK_SAVES; i++)
        if (g->k.saves[i].slot == addr)
            return i;
    return GT_TRACK_SAVES;
}

/* Two addresses in one place of the table: the older one is lost, and not taken for the other. */
static void test_collision(void **state)
{
    (void)state;
    struct guest *g = nested_saves(1);
    size_t at = slot_index(g, 0x100000);
    uint64_t other = 0x200000;
    assert_true(at < GT_TRACK_SAVES);
    do
        gt_track_saved(&g->t, other += 8);
    while (slot_index(g, 0x100000) < GT_TRACK_SAVES);
    assert_int_equal(slot_index(g, other), at);
    if (slot_index(g, 0x100008) < GT_TRACK_SAVES)
        g->k.saves[slot_index(g, 0x100008)].slot = 0;
    load(g, 0x100000);
    plain(g, 'b', 1);
    check_doubts(g, GT_DOUBT_GUESSED_FRAME, 1, -1);
    assert_int_equal(gt_stack_depth(g->t.stack), 3);
    guest_destroy(g);
}

/* The main function swaps to a new coroutine that begins at c's entry. */
static void begin(struct guest *g, unsigned n)
{
    call(g, 'a', n, 's');
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    gt_track_saved(&g->t, 0x100000);
    gt_track_restored(&g->t, 0x300000);
    gt_track_switched(&g->t);
    ret(g, 's', 0);
    plain(g, 'c', 0);
}

/* The running coroutine, in c, swaps to whom the slot says; block n is where it goes on. */
static void swap(struct guest *g, char from, unsigned n, uint64_t own, uint64_t slot)
{
    call(g, from, n, 's');
    arrive(g, block(g, 's', 0, GT_EXIT_RETURN, 0));
    if (own)
        gt_track_saved(&g->t, own);
    gt_track_restored(&g->t, slot);
    gt_track_switched(&g->t);
    ret(g, 's', 0);
}

static void test_coroutine(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *first = g->t.stack;
    assert_true(first->coroutine);
    swap(g, 'c', 0, 0x200000, 0x100000);
    plain(g, 'a', 1);
    check(g, 0, "+a+s-s");
    check(g, 1, "+c+s");
    begin(g, 1);
    assert_ptr_not_equal(g->t.stack, first);
    swap(g, 'c', 0, 0x210000, 0x200000); /* from the second to the first */
    plain(g, 'c', 1);
    assert_ptr_equal(g->t.stack, first);
    check(g, 1, "+c+s-s");
    check(g, 2, "+c+s");
    gt_tracker_close_suspended(&g->k, g->time);
    check(g, 0, "+a+s-s+s-s-a");
    check(g, 2, "+c+s-s-c");
    check_doubts(g, GT_DOUBT_SWITCHED, 4, -1);
    guest_destroy(g);
}

/* A coroutine whose first function returned is over: the next one has its task. */
static void test_reuse(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *first = g->t.stack;
    ret(g, 'c', 0);
    plain(g, 'e', 0); /* what the first function returns to loads the next context */
    gt_track_restored(&g->t, 0x100000);
    gt_track_switched(&g->t);
    ret(g, 'e', 1);
    plain(g, 'a', 1);
    assert_false(first->running);
    begin(g, 1);
    assert_ptr_equal(g->t.stack, first);
    assert_int_equal(g->n_texts, 2);
    check(g, 1, "+c-c+c");
    guest_destroy(g);
}

/* Without a saved context a suspended stack is known by where its top frame returns to. */
static void test_suspended(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    struct gt_stack *coroutine = g->t.stack;
    swap(g, 'c', 0, 0, 0x900000);
    plain(g, 'a', 1);
    assert_ptr_not_equal(g->t.stack, coroutine);
    check(g, 0, "+a+s-s");
    swap(g, 'a', 1, 0, 0x900000);
    plain(g, 'c', 1);
    assert_ptr_equal(g->t.stack, coroutine);
    check(g, 1, "+c+s-s");
    check_doubts(g, GT_DOUBT_SWITCHED, 3, -1);
    guest_destroy(g);
}

/* setcontext jumps to a coroutine's first function; nobody else's jump begins one. */
static void test_restorer(void **state)
{
    (void)state;
    for (int restorer = 0; restorer < 2; restorer++) {
        struct guest *g = guest_create(100, true);
        func(g, 'l')->flags = restorer ? GT_FUNC_RESTORER : 0;
        call(g, 'a', 0, 'l');
        load(g, 0x300000);
        plain(g, 'c', 0);
        check(g, 0, restorer ? "+a+l" : "+a+l-l+c");
        assert_int_equal(g->n_texts, 1 + restorer);
        guest_destroy(g);
    }
}

/* A call with a new stack pointer is a call: functions that align or change their stack. */
static void test_switched_call(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    plain(g, 'a', 0);
    gt_track_switched(&g->t);
    call(g, 'a', 1, 'b');
    arrive(g, block(g, 'b', 0, GT_EXIT_RETURN, 0));
    gt_track_switched(&g->t);
    ret(g, 'b', 0);
    plain(g, 'a', 2);
    check(g, 0, "+a+b-b");
    check_doubts(g, -1);
    guest_destroy(g);
}

/* A thread's saved contexts go with it; a stack that another thread runs is nobody's to resume. */
static void test_threads(void **state)
{
    (void)state;
    struct guest *g = nested_saves(1);
    struct gt_thread first = g->t;
    assert_true(gt_thread_init(&g->t, &g->k, g->time));
    g->mark = 0;
    plain(g, 'e', 0);
    call(g, 'e', 1, 'l');
    load(g, 0x100000);
    plain(g, 'b', 1);
    check_doubts(g, -1);
    check(g, 1, "+e+l");
    struct gt_thread second = g->t;
    g->t = first;
    gt_thread_finish(&g->t, g->time);
    for (size_t i = 0; i < GT_TRACK_SAVES; i++)
        assert_int_equal(g->k.saves[i].slot, 0);
    check(g, 0, "+a+b+s-s+b-b-b-a");
    assert_true(g->texts[0].closed && !g->texts[1].closed);
    g->t = second;
    guest_destroy(g);
}

/* fork: the coroutines that were suspended are the parent's too; here they have no output until
 * they go on. */
static void test_forked_coroutine(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    begin(g, 0);
    swap(g, 'c', 0, 0x200000, 0x100000);
    plain(g, 'a', 1);
    gt_track_forked(&g->t, g->time);
    check(g, 2, "+a");
    swap(g, 'a', 1, 0x100000, 0x200000);
    plain(g, 'c', 1);
    check(g, 1, "+c+s");
    check(g, 3, "+c+s-s");
    guest_destroy(g);
}

/* An exception finds its very frame though the catching function is there three times. */
static void test_exception(void **state)
{
    (void)state;
    struct guest *g = guest_create(100, true);
    func(g, 'r')->flags = GT_FUNC_RAISES;
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
            gt_track_asked(&g->t, func_at('b') + BLOCK_SIZE);
            ret(g, 'p', 0);
            plain(g, 'r', pass ? 4 : 2);
        }
    gt_track_switched(&g->t);
    plain(g, 'b', 7);
    assert_int_equal(gt_stack_depth(g->t.stack), 3);
    check_doubts(g, GT_DOUBT_UNWOUND, 1, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longjmp),       cmocka_unit_test(test_unsaved),
        cmocka_unit_test(test_restored_ring), cmocka_unit_test(test_stale),
        cmocka_unit_test(test_collision),     cmocka_unit_test(test_coroutine),
        cmocka_unit_test(test_reuse),         cmocka_unit_test(test_suspended),
        cmocka_unit_test(test_restorer),      cmocka_unit_test(test_switched_call),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_forked_coroutine),
        cmocka_unit_test(test_exception),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
