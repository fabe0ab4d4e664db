/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handlers of machines: how they begin and end, and what they interrupted; exception returns and
 * system calls that belong to none. */
#include "track_machine.h"

static void test_handler(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    assert_int_equal(gt_machine_floor(g->t.stack), 0);
    enter(g, 'h');
    assert_int_equal(gt_machine_floor(g->t.stack), 2);
    assert_int_equal(g->t.stack->top->kind, GT_FRAME_HANDLER);
    call(g, 'h', 1, 'i');
    ret(g, 'i', 0);
    plain(g, 'h', 2);
    assert_true(leave(g, 'h', 3));
    assert_int_equal(gt_machine_floor(g->t.stack), 0);
    plain(g, 'b', 1);
    ret(g, 'b', 2);
    plain(g, 'a', 1);
    check(g, 0, "+b+h+i-i-h-b");
    assert_int_equal(g->t.matched, 3);
    assert_int_equal(g->t.calls, 3);
    check_counters(g, GT_COUNT_HANDLERS, 1, -1);
    guest_destroy(g);
}

/* Deeper than the first room for handlers is. */
static void test_nested(void **state)
{
    enum { DEEP = 20 };
    (void)state;
    struct guest *g = machine_start();
    for (unsigned i = 0; i < DEEP; i++) {
        enter(g, (char)('c' + i));
        assert_int_equal(gt_machine_floor(g->t.stack), i + 2);
    }
    for (unsigned i = DEEP; i-- > 0;)
        assert_true(leave(g, (char)('c' + i), 1));
    assert_false(leave(g, 'b', 1));
    check(g, 0,
          "+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v-v-u-t-s-r-q-p-o-n-m-l-k-j-i-h-g-f-e-d-c");
    check_counters(g, GT_COUNT_HANDLERS, DEEP, -1);
    guest_destroy(g);
}

/* Frames that the handler leaves open end with it. */
static void test_open_frames(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    enter(g, 'h');
    call(g, 'h', 1, 'i');
    call(g, 'i', 0, 'j');
    assert_true(leave(g, 'j', 0));
    check(g, 0, "+b+h+i+j-j-i-h");
    check_counters(g, GT_COUNT_HANDLERS, 1, -1);
    guest_destroy(g);
}

/* The last exit is again what it was: a call on its way arrives, a return, a system call. */
static void test_on_its_way(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    call(g, 'b', 1, 'c');
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'c', 0);
    check(g, 0, "+b+h-h+c");
    ret(g, 'c', 1);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'b', 2);
    check(g, 0, "+b+h-h+c+h-h-c");
    assert_int_equal(g->t.matched, 3);
    syscall_at(g, 'b', 3);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    plain(g, 'b', 4);
    check(g, 0, "+b+h-h+c+h-h-c+h-h");
    check_counters(g, GT_COUNT_HANDLERS, 3, -1);
    guest_destroy(g);
}

/* The call's block goes on in its middle: it has not called yet. */
static void test_middle_of_block(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    struct gt_code *calls = block(g, 'b', 1, GT_EXIT_CALL, func_at('c'));
    struct gt_code *rest = block(g, 'b', 1, GT_EXIT_CALL, func_at('c'));
    rest->pc += 4;
    rest->size -= 4;
    run(g, calls);
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    arrive(g, rest);
    check(g, 0, "+b+h-h");
    run(g, rest);
    plain(g, 'c', 0);
    check(g, 0, "+b+h-h+c");
    assert_int_equal(g->t.stack->top->ret, gt_code_end(rest));
    ret(g, 'c', 1);
    plain(g, 'b', 2); /* a function is gone on with */
    enter(g, 'h');
    assert_true(leave(g, 'h', 1));
    assert_true(g->last_exit & GT_LAST_EXIT_RESUME);
    plain(g, 'b', 3);
    check(g, 0, "+b+h-h+c-c+h-h");
    check_counters(g, GT_COUNT_HANDLERS, 2, -1);
    guest_destroy(g);
}

/* A block that is to end so goes on in its middle, with no handler in between: its end comes later.
 */
static void test_split(void **state)
{
    (void)state;
    enum gt_code_exit exits[] = {GT_EXIT_CALL, GT_EXIT_JUMP_INDIRECT, GT_EXIT_RETURN,
                                 GT_EXIT_SYSCALL, GT_EXIT_EXCEPTION_RETURN};
    for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++) {
        struct guest *g = machine_start();
        struct gt_code *rest = block(g, 'b', 1, GT_EXIT_RETURN, 0);
        rest->pc += BLOCK_SIZE - 1;
        rest->size = 1;
        run(g, block(g, 'b', 1, exits[i], func_at('c')));
        run(g, rest);
        check(g, 0, "+b");
        assert_int_equal(g->t.matched, 0);
        plain(g, 'a', 1);
        check(g, 0, "+b-b");
        assert_int_equal(g->t.matched, 1);
        check_counters(g, -1);
        guest_destroy(g);
    }
}

/* One whose call or return leads there has come to its end, and one that calls what it begins with,
 * or what stands behind it. */
static void test_not_split(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    g->t.slow_flags = 1 << GT_CODE_LEVEL_SHIFT; /* another one: no transfer is plain */
    struct gt_code *middle = block(g, 'b', 1, GT_EXIT_PLAIN, 0);
    middle->pc += 4;
    run(g, block(g, 'b', 1, GT_EXIT_CALL, middle->pc));
    run(g, middle);
    check(g, 0, "+b+b");
    g->t.stack->top->ret = middle->pc;
    run(g, block(g, 'b', 1, GT_EXIT_RETURN, 0));
    run(g, middle);
    check(g, 0, "+b+b-b");
    run(g, block(g, 'b', 1, GT_EXIT_CALL_INDIRECT, 0)); /* itself */
    run(g, block(g, 'b', 1, GT_EXIT_PLAIN, 0));
    check(g, 0, "+b+b-b+b");
    run(g, block(g, 'b', 1, GT_EXIT_CALL_INDIRECT, 0));
    run(g, block(g, 'b', 2, GT_EXIT_PLAIN, 0));
    check(g, 0, "+b+b-b+b+b");
    check_counters(g, -1);
    guest_destroy(g);
}

/* One round of a handler that is left by a return to what the interrupted function returns to. */
static void leave_otherwise(struct guest *g, struct gt_code *vector)
{
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    enter_at(g, vector);
    call(g, 'h', 1, 'c');
    ret(g, 'c', 0);
    plain(g, 'a', 1);
    assert_int_equal(gt_machine_floor(g->t.stack), 0);
}

/* A block that is left again and again without an exception return is no vector. */
static void test_left(void **state)
{
    (void)state;
    struct guest *g = machine_create();
    struct gt_code *vector = block(g, 'h', 0, GT_EXIT_PLAIN, 0);
    vector->vector = GT_VECTOR_YES;
    leave_otherwise(g, vector);
    check(g, 0, "+b+h+c-c-h-b");
    assert_int_equal(vector->vector_left, 1);
    enter_at(g, vector); /* one that ends as handlers do is not held against it */
    assert_true(leave(g, 'h', 1));
    assert_int_equal(vector->vector_left, 1);
    leave_otherwise(g, vector);
    assert_int_equal(vector->vector, GT_VECTOR_YES);
    leave_otherwise(g, vector);
    assert_int_equal(vector->vector, GT_VECTOR_NO);
    check_counters(g, GT_COUNT_HANDLERS, 4, GT_ANOMALY_LEFT_HANDLER, 3, GT_ANOMALY_MISSED_RETURN, 3,
                   -1);
    guest_destroy(g);
}

/* Told by the host: it was a handler, whatever became of it. The one further out stays. */
static void test_left_reported(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    enter(g, 'h');
    call(g, 'h', 1, 'i');
    plain(g, 'i', 0);
    enter(g, 'j');
    enter(g, 'k');
    ret(g, 'k', 1);
    plain(g, 'h', 2);
    check(g, 0, "+b+h+i+j+k-k-j-i");
    assert_int_equal(gt_machine_floor(g->t.stack), 2);
    assert_true(leave(g, 'h', 3));
    check(g, 0, "+b+h+i+j+k-k-j-i-h");
    check_counters(g, GT_COUNT_HANDLERS, 3, GT_ANOMALY_LEFT_HANDLER, 2, GT_ANOMALY_MISSED_RETURN, 1,
                   -1);
    guest_destroy(g);
}

/* ---- exception returns without a handler ---------------------------------------------------- */

static void test_return_to_next(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    assert_false(leave(g, 'b', 1));
    struct gt_code *next = block(g, 'c', 0, GT_EXIT_PLAIN, 0); /* of another function: a transfer */
    next->pc = func_at('b') + 2 * BLOCK_SIZE;
    arrive(g, next);
    check(g, 0, "+b");
    assert_int_equal(g->last_exit, gt_track_last_exit_of_func(func(g, 'c')));
    check_counters(g, -1);
    guest_destroy(g);
}

static void test_return_to_caller(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    call(g, 'b', 1, 'c');
    assert_false(leave(g, 'c', 0));
    plain(g, 'b', 2);
    check(g, 0, "+b+c-c");
    assert_int_equal(g->t.matched, 1);
    check_counters(g, -1);
    guest_destroy(g);
}

/* The first program of a level: nothing of what ran before is gone on with. */
static void test_return_begins(void **state)
{
    (void)state;
    struct guest *g = machine_start();
    assert_false(leave(g, 'b', 1));
    plain(g, 'u', 3);
    check(g, 0, "+b-b+u");
    assert_int_equal(g->t.stack->top->kind, GT_FRAME_ROOT);
    assert_int_equal(g->t.matched, 0);
    assert_int_equal(g->k.n_stacks, 1);
    check_counters(g, GT_COUNT_BEGUN, 1, -1);
    assert_false(leave(g, 'u', 4)); /* with no frame at all, too */
    guest_destroy(g);
    g = machine_create();
    assert_false(leave(g, 'a', 0));
    plain(g, 'u', 0);
    check(g, 0, "+u");
    check_counters(g, GT_COUNT_BEGUN, 1, -1);
    guest_destroy(g);
}

/* ---- where returns may come to -------------------------------------------------------------- */

static void test_returns(void **state)
{
    (void)state;
    struct guest *g = machine_create();
    plain(g, 'a', 0);
    assert_true(gt_machine_returns(&g->t, 0x12345)); /* what began the machine is not known */
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    call(g, 'b', 4, 'c');
    plain(g, 'c', 0);
    enter(g, 'h');
    assert_true(gt_machine_returns(&g->t, func_at('b') + 5 * BLOCK_SIZE));
    assert_true(gt_machine_returns(&g->t, func_at('a') + 1 * BLOCK_SIZE));
    assert_true(gt_machine_returns(&g->t, func_at('z') + 5 * BLOCK_SIZE)); /* but for pages */
    assert_false(gt_machine_returns(&g->t, func_at('b') + 4 * BLOCK_SIZE));
    assert_false(gt_machine_returns(&g->t, GT_NO_ADDR));
    g->t.stack->top->flags = GT_FRAME_SP_STORED;
    assert_false(gt_machine_returns(&g->t, func_at('b') + 4 * BLOCK_SIZE));
    g->t.stack->top->flags = GT_FRAME_SP_LOADED;
    assert_false(gt_machine_returns(&g->t, func_at('b') + 4 * BLOCK_SIZE));
    g->t.stack->top->flags = GT_FRAME_SP_LOADED | GT_FRAME_SP_STORED;
    assert_true(gt_machine_returns(&g->t, func_at('b') + 4 * BLOCK_SIZE));
    g->t.stack->top->flags = GT_FRAME_RESUMED_BY_WORD;
    assert_true(gt_machine_returns(&g->t, func_at('b') + 4 * BLOCK_SIZE));
    guest_destroy(g);
}

/* ---- code that was first seen at a low address ---------------------------------------------- */

static const uint64_t high = UINT64_C(0xffff800000000000);

static struct gt_code *block_at(struct guest *g, char name, unsigned n, uint64_t base,
                                enum gt_code_exit exit, uint64_t target)
{
    struct gt_code *c = block(g, name, n, exit, target);
    c->pc += base;
    return c;
}

static void test_move_up(void **state)
{
    (void)state;
    struct guest *g = machine_create();
    struct gt_code *low = block(g, 'b', 0, GT_EXIT_CALL, func_at('c'));
    struct gt_code *back = block(g, 'a', 1, GT_EXIT_PLAIN, 0);
    run(g, block_at(g, 'a', 0, high, GT_EXIT_CALL, high + func_at('b')));
    run(g, low);
    assert_int_equal(low->pc, high + func_at('b'));
    assert_int_equal(gt_code_end(low), high + func_at('b') + BLOCK_SIZE);
    assert_int_equal(low->target, high + func_at('c'));
    assert_int_equal(g->t.stack->top->addr, high + func_at('b'));
    g->last_exit = 0;
    run(g, block_at(g, 'b', 1, high, GT_EXIT_RETURN, 0));
    run(g, back);
    assert_int_equal(back->pc, high + func_at('a') + BLOCK_SIZE);
    assert_int_equal(back->target, 0);
    assert_int_equal(gt_stack_depth(g->t.stack), 0);
    assert_int_equal(g->t.matched, 1);
    check_counters(g, -1);
    guest_destroy(g);
}

/* Reached from low code, or at another place of the page, or by what expects nothing. */
static void test_stays_low(void **state)
{
    (void)state;
    struct guest *g = machine_create();
    struct gt_code *b = block(g, 'b', 0, GT_EXIT_PLAIN, 0);
    call(g, 'a', 0, 'c');
    arrive(g, b);
    assert_int_equal(b->pc, func_at('b'));
    run(g, block_at(g, 'a', 0, high, GT_EXIT_CALL, high + func_at('b') + 4));
    arrive(g, b);
    assert_int_equal(b->pc, func_at('b'));
    run(g, block_at(g, 'a', 0, high, GT_EXIT_CALL_INDIRECT, 0));
    arrive(g, b);
    assert_int_equal(b->pc, func_at('b'));
    enter(g, 'h');
    ret(g, 'h', 1); /* whose frame returns nowhere */
    struct gt_code *last = block(g, 'i', 0xff, GT_EXIT_PLAIN, 0);
    last->pc |= 0xfff;
    uint64_t pc = last->pc;
    arrive(g, last);
    assert_int_equal(last->pc, pc);
    check_rules(g, GT_RULE_HANDLER_JUMP, 1, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handler),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_open_frames),
        cmocka_unit_test(test_on_its_way),
        cmocka_unit_test(test_middle_of_block),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_not_split),
        cmocka_unit_test(test_left_reported),
        cmocka_unit_test(test_return_to_next),
        cmocka_unit_test(test_return_to_caller),
        cmocka_unit_test(test_return_begins),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_move_up),
        cmocka_unit_test(test_stays_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
