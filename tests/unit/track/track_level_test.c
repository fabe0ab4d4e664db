/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread whose calls are recorded by privilege level: each frame in its own level's output, at
 * its depth there. */
#include "track/machine.h"
#include "track_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { USER = 1, KERNEL = 2 };

static char text[512];
static char outputs[GT_TRACK_LEVELS];

/* "u0+a ": user's depth 0 is entered at 'a'. */
static void add(unsigned level, uint32_t depth, char what, uint64_t addr)
{
    size_t n = strlen(text);
    assert_true(level == USER || level == KERNEL);
    snprintf(text + n, sizeof text - n, "%c%u%c%c ", level == USER ? 'u' : 'k', depth, what,
             (char)addr);
}

static void enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self, (void)time;
    add(gt_track_level_of(s->top->level), depth, '+', addr);
}

static void leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self, (void)time;
    add(gt_track_level_of(s->top->level), depth, '-', addr);
}

/* Those of the hot path know the output only. */
static void enter_here(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self, (void)time;
    add((unsigned)((char *)s->out - outputs), depth, '+', addr);
}

static void leave_here(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)self, (void)time;
    add((unsigned)((char *)s->out - outputs), depth, '-', addr);
}

static void level(void *self, struct gt_stack *s, uint64_t time)
{
    (void)self, (void)time;
    s->out = &outputs[gt_track_level_of(s->level)];
}

static bool open_stack(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    (void)t;
    level(self, s, time);
    return true;
}

static void close_stack(void *self, struct gt_stack *s)
{
    (void)self;
    s->out = NULL;
}

static const struct gt_track_sink sink = {
    .enter = enter, .leave = leave, .open = open_stack, .close = close_stack, .level = level};
static const struct gt_track_sink hot_sink = {.enter = enter_here, .leave = leave_here};
static struct gt_track_func code_of_all = {.hi = UINT64_MAX, .flags = GT_FUNC_ANON};
static struct gt_track k;
static struct gt_track_thread t;

static struct gt_code block(unsigned at_level, uint64_t pc)
{
    struct gt_code code = {.pc = pc, .size = 1, .fn = &code_of_all};
    code.slow_flags = (uint8_t)(at_level << GT_CODE_LEVEL_SHIFT);
    gt_code_set_slow_flags(&code);
    return code;
}

/* True: the hot path has decided. */
static bool transfer(const struct gt_code *from, unsigned at_level, uint64_t pc)
{
    struct gt_code code = block(at_level, pc);
    if (transfer_plain(&t, &code, gt_code_last_exit(from), 1, &hot_sink, NULL, k.max_depth))
        return true;
    if (gt_track_level(&t) != at_level)
        gt_track_set_level(&t, at_level, 1);
    gt_track_slow(&t, &code, gt_code_last_exit(from), 1);
    return false;
}

/* A call from `site` to `to`; a return to pc. */
static bool call(unsigned at_level, uint64_t site, uint64_t to)
{
    struct gt_code from = block(at_level, site);
    from.target = to;
    from.exit = GT_EXIT_CALL;
    gt_code_set_slow_flags(&from);
    return transfer(&from, at_level, to);
}

static bool come_back(unsigned at_level, uint64_t pc)
{
    struct gt_code from = block(at_level, 1);
    from.exit = GT_EXIT_RETURN;
    gt_code_set_slow_flags(&from);
    return transfer(&from, at_level, pc);
}

static void handler(unsigned at_level, uint64_t addr)
{
    gt_track_set_level(&t, at_level, 1);
    gt_machine_enter(&t, addr, &code_of_all, NULL, gt_track_last_exit_of_func(&code_of_all), 1);
}

static void end_handler(unsigned back_to)
{
    uint64_t last_exit = 0;
    assert_true(gt_machine_leave(&t, &last_exit, 1));
    gt_track_set_level(&t, back_to, 1);
}

static void begin(unsigned at_level)
{
    text[0] = '\0';
    t = (struct gt_track_thread){0};
    assert_true(gt_track_init(&k, &sink, NULL, 1024, true));
    k.machine = k.one_output = true;
    gt_track_set_level(&t, at_level, 0);
    assert_true(gt_track_thread_init(&t, &k, 0));
}

static void end(void)
{
    gt_track_thread_finish(&t, 2);
    gt_track_finish(&k);
}

static void test_handlers(void **state)
{
    (void)state;
    begin(USER);
    assert_true(call(USER, 100, 'a'));
    assert_ptr_equal(t.stack->out, &outputs[USER]);
    handler(KERNEL, 'v');
    assert_ptr_equal(t.stack->out, &outputs[KERNEL]);
    assert_true(call(KERNEL, 200, 'k'));
    handler(KERNEL, 'w'); /* an interrupt in the kernel */
    end_handler(KERNEL);
    assert_true(come_back(KERNEL, 201));
    end_handler(USER);
    assert_true(call(USER, 110, 'b'));
    assert_true(come_back(USER, 111));
    assert_true(come_back(USER, 101));
    assert_string_equal(text, "u0+a k0+v k1+k k2+w k2-w k1-k k0-v u1+b u1-b u0-a ");
    assert_int_equal(t.calls, 5);
    assert_int_equal(t.matched, 5);
    end();
}

/* The level changes without a handler: each frame ends in the output that it began in. */
static void test_changes(void **state)
{
    (void)state;
    begin(USER);
    assert_true(call(USER, 100, 'a'));
    assert_false(call(KERNEL, 110, 'b'));
    assert_true(call(KERNEL, 120, 'c'));
    assert_true(come_back(KERNEL, 121));
    assert_true(come_back(KERNEL, 111));
    assert_false(come_back(KERNEL, 101));
    assert_string_equal(text, "u0+a k0+b k1+c k1-c k0-b u0-a ");
    assert_int_equal(t.matched, 3);
    end();
}

/* A stack that is left for another one, of other levels, stays as it is. */
static void test_stacks(void **state)
{
    (void)state;
    begin(USER);
    struct gt_stack *first = t.stack;
    call(USER, 100, 'a');
    gt_track_set_level(&t, KERNEL, 1);
    gt_track_go_on(&t, NULL, 1);
    assert_ptr_not_equal(t.stack, first);
    struct gt_stack *other = t.stack;
    assert_ptr_equal(t.stack->out, &outputs[KERNEL]);
    assert_true(call(KERNEL, 300, 'o'));
    gt_track_go_on(&t, first, 1);
    gt_track_set_level(&t, USER, 1);
    assert_true(call(USER, 110, 'b'));
    assert_true(come_back(USER, 111));
    assert_true(come_back(USER, 101));
    gt_track_end_other(&t, other, 1);
    assert_string_equal(text, "u0+a k0+o u1+b u1-b u0-a k0-o ");
    end();
}

/* A return that leaves frames of several levels; what comes next is at the right depth. */
static void test_left(void **state)
{
    (void)state;
    begin(KERNEL);
    call(KERNEL, 100, 'a');
    gt_track_set_level(&t, USER, 1);
    call(USER, 110, 'b');
    gt_track_set_level(&t, KERNEL, 1);
    call(KERNEL, 120, 'c');
    assert_false(come_back(KERNEL, 101));
    call(KERNEL, 200, 'd');
    assert_string_equal(text, "k0+a u0+b k1+c k1-c u0-b k0-a k0+d ");
    end();
}

/* Frames of the level that are below others stay. */
static void test_end_level(void **state)
{
    (void)state;
    begin(KERNEL);
    call(KERNEL, 100, 'a');
    gt_track_set_level(&t, USER, 1);
    call(USER, 110, 'b');
    gt_track_set_level(&t, KERNEL, 1);
    call(KERNEL, 120, 'c');
    call(KERNEL, 130, 'd');
    gt_track_end_level(&t, 1);
    assert_string_equal(text, "k0+a u0+b k1+c k2+d k2-d k1-c ");
    gt_track_end_level(&t, 1);
    assert_int_equal(gt_stack_depth(t.stack), 2);
    end();
}

static void test_end(void **state)
{
    (void)state;
    begin(USER);
    call(USER, 100, 'a');
    handler(KERNEL, 'v');
    end();
    assert_string_equal(text, "u0+a k0+v k0-v u0-a ");
}

/* What is too deep counts among the level's own. */
static void test_depth(void **state)
{
    (void)state;
    begin(USER);
    k.max_depth = 1;
    call(USER, 100, 'a');
    call(USER, 110, 'b');
    handler(KERNEL, 'v');
    call(KERNEL, 200, 'k');
    assert_string_equal(text, "u0+a k0+v ");
    end();
    assert_string_equal(text, "u0+a k0+v k0-v u0-a ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handlers), cmocka_unit_test(test_changes),
        cmocka_unit_test(test_stacks),   cmocka_unit_test(test_end),
        cmocka_unit_test(test_depth),    cmocka_unit_test(test_end_level),
        cmocka_unit_test(test_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
