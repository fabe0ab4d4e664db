/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that a signal's handler has the interrupted code make: track/injected.h. */
#include "track_guest.h"

enum { FRAME = 0x90000, STACK = 0x80000, AT = 8 };

/* The program's memory: what the handler's frame has (at 8, 16 and 24), and the interrupted stack.
 */
static uint64_t frame[4], stack[AT + 1];

static uint64_t stack_pointer(void *self)
{
    (void)self;
    return FRAME;
}

/* Words that lie side by side; of the stack one. */
static bool read_words(void *self, uint64_t addr, void *out, size_t n)
{
    (void)self;
    uint64_t at = (addr - STACK) / 8;
    if (addr >= FRAME)
        assert_true(n % 8 == 0 && addr - FRAME + n <= sizeof frame);
    else
        assert_int_equal(n, 8);
    if (addr >= FRAME)
        memcpy(out, &frame[(addr - FRAME) / 8], n);
    else if (at <= AT)
        memcpy(out, &stack[at], n);
    return addr >= FRAME || at <= AT;
}

static struct gt_track_program_view view = {.stack_pointer = stack_pointer,
                                            .read = read_words,
                                            .word = 8,
                                            .signal_pc = 8,
                                            .signal_sp = 16,
                                            .signal_link = 24};

/* a has called b. */
static struct guest *start(bool by_memory)
{
    struct guest *g = guest_create(100, true);
    view.by_memory = by_memory;
    g->k.view = &view;
    func(g, 'h')->flags = GT_FUNC_HANDLER;
    call(g, 'a', 0, 'b');
    plain(g, 'b', 0);
    return g;
}

/* A signal at pc, whose handler makes the code there call the function; 0: it does not. */
static void signal_at(struct guest *g, uint64_t pc, char function)
{
    frame[1] = pc;
    frame[2] = STACK + 8 * AT;
    frame[3] = 1;
    ret(g, 'h', 0);
    if (function) {
        frame[1] = func_at(function);
        frame[2] -= 8;
        frame[3] = view.by_memory ? 1 : pc;
        stack[AT - 1] = view.by_memory ? pc : 2;
    }
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
}

static void back(struct guest *g, char from, bool by_memory)
{
    run(g, block(g, from, 1, by_memory ? GT_EXIT_RETURN : GT_EXIT_JUMP_BACK, 0));
}

static uint64_t in(char function, unsigned n)
{
    return func_at(function) + n * BLOCK_SIZE;
}

/* p is called where b was, and returns there. */
static void test_called(void **state)
{
    (void)state;
    for (int by_memory = 0; by_memory < 2; by_memory++) {
        struct guest *g = start(by_memory);
        signal_at(g, in('b', 2), 'p');
        call(g, 'p', 0, 'q');
        ret(g, 'q', 0);
        back(g, 'p', by_memory);
        call(g, 'b', 2, 'c');
        ret(g, 'c', 0);
        ret(g, 'b', 3);
        plain(g, 'a', 1);
        check(g, 0, "+a+b+h-h+p+q-q-p+c-c-b");
        check_counters(g, GT_COUNT_SIGNALS, 1, -1);
        assert_int_equal(g->t.slow_flags & GT_SLOW_INJECTED, 0);
        guest_destroy(g);
    }
}

/* The same, but no callback sees where it returns to: what follows shows that it has. */
static void test_unseen(void **state)
{
    (void)state;
    for (int by_memory = 0; by_memory < 2; by_memory++) {
        struct guest *g = start(by_memory);
        signal_at(g, in('b', 2), 'p');
        plain(g, 'p', 0);
        back(g, 'p', by_memory);
        signal_at(g, in('b', 2), 0); /* and a handler of another one is not in it */
        signal_at(g, in('b', 4), 'p');
        plain(g, 'p', 0);
        back(g, 'p', by_memory);
        g->last_exit = gt_code_last_exit(block(g, 'b', 3, GT_EXIT_CALL, func_at('c')));
        ret(g, 'c', 0);
        ret(g, 'b', 4);
        plain(g, 'a', 1);
        check(g, 0, "+a+b+h-h+p-p+h-h+h-h+p-p+c-c-b");
        check_counters(g, GT_COUNT_SIGNALS, 3, -1);
        guest_destroy(g);
    }
}

/* A call, and a return, that had not arrived. */
static void test_before_arrival(void **state)
{
    (void)state;
    for (int by_memory = 0; by_memory < 2; by_memory++) {
        struct guest *g = start(by_memory);
        call(g, 'b', 1, 'c');
        signal_at(g, func_at('c'), 'p');
        plain(g, 'p', 0);
        back(g, 'p', by_memory);
        ret(g, 'c', 0);
        signal_at(g, in('b', 2), 'p');
        plain(g, 'p', 0);
        back(g, 'p', by_memory);
        ret(g, 'b', 2);
        plain(g, 'a', 1);
        check(g, 0, "+a+b+h-h+p-p+c+h-h-c+p-p-b");
        check_counters(g, GT_COUNT_SIGNALS, 2, -1);
        guest_destroy(g);
    }
}

/* Another signal, before the call has arrived. */
static void test_signal_first(void **state)
{
    (void)state;
    struct guest *g = start(false);
    signal_at(g, in('b', 2), 'p');
    signal_at(g, func_at('p'), 0);
    plain(g, 'p', 0);
    back(g, 'p', false);
    ret(g, 'b', 2);
    plain(g, 'a', 1);
    check(g, 0, "+a+b+h-h+h-h+p-p-b");
    check_counters(g, GT_COUNT_SIGNALS, 2, -1);
    guest_destroy(g);
}

/* One that is not seen to arrive is counted. A handler that continues elsewhere makes no call. */
static void test_none(void **state)
{
    (void)state;
    struct guest *g = start(false);
    signal_at(g, in('b', 2), 'p');
    plain(g, 'b', 3);
    check(g, 0, "+a+b+h-h");
    check_counters(g, GT_COUNT_SIGNALS, 1, GT_ANOMALY_DIVERTED_CALL, 1, -1);
    frame[1] = in('b', 5);
    frame[2] = STACK;
    ret(g, 'h', 0);
    frame[1] += 2;
    g->last_exit = gt_track_sigreturn(&g->t, g->last_exit, g->time);
    ret(g, 'b', 6);
    plain(g, 'a', 1);
    check(g, 0, "+a+b+h-h+h-h-b");
    check_counters(g, GT_COUNT_SIGNALS, 2, GT_ANOMALY_DIVERTED_CALL, 1, -1);
    guest_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_called),         cmocka_unit_test(test_unseen),
        cmocka_unit_test(test_before_arrival), cmocka_unit_test(test_signal_first),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
