/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread with a call stack for each privilege level. */
#include "track/track.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[256];
static int opened;
static bool refuses;

static void add(const struct gt_stack *s, char what, uint64_t addr)
{
    size_t n = strlen(text);
    assert_true(n + 4 < sizeof text);
    text[n] = *(const char *)s->out;
    text[n + 1] = what;
    text[n + 2] = (char)addr;
    text[n + 3] = ' ';
}

static void enter(struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)time, (void)depth;
    add(s, '+', addr);
}

static void leave(struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    (void)time, (void)depth;
    add(s, '-', addr);
}

static bool open_stack(void *self, struct gt_thread *t, struct gt_stack *s, uint64_t time)
{
    static char outputs[] = "0123456789";
    (void)self, (void)t, (void)time;
    if (!refuses)
        s->out = &outputs[opened++];
    return !refuses;
}

static void close_stack(void *self, struct gt_stack *s)
{
    (void)self;
    s->out = NULL;
    opened--;
}

static const struct gt_sink sink = {enter, leave, open_stack, close_stack, NULL};
static struct gt_func code_of_all = {.hi = UINT64_MAX, .flags = GT_FUNC_ANON};

/* A call from `site` to `to`, or a return from there. */
static void call(struct gt_thread *t, uint64_t site, uint64_t to)
{
    struct gt_code from = {.pc = site, .end = site + 1, .target = to, .exit = GT_EXIT_CALL};
    struct gt_code code = {.pc = to, .end = to + 1, .fn = &code_of_all, .end_fn = &code_of_all};
    from.fn = from.end_fn = &code_of_all;
    gt_code_set_mark(&from);
    gt_code_set_mark(&code);
    gt_track_slow(t, &code, from.mark, 1);
}

static void come_back(struct gt_thread *t, uint64_t pc)
{
    struct gt_code from = {.pc = 1, .end = 2, .exit = GT_EXIT_RETURN};
    struct gt_code code = {.pc = pc, .end = pc + 1, .fn = &code_of_all, .end_fn = &code_of_all};
    from.fn = from.end_fn = &code_of_all;
    gt_code_set_mark(&from);
    gt_code_set_mark(&code);
    gt_track_slow(t, &code, from.mark, 1);
}

static void check(const char *expected)
{
    assert_string_equal(text, expected);
    memset(text, 0, sizeof text);
}

static void begin(struct gt_tracker *k, struct gt_thread *t)
{
    memset(text, 0, sizeof text);
    opened = 0;
    refuses = false;
    assert_true(gt_tracker_init(k, &sink, 100, true));
    k->machine = true;
    memset(t, 0, sizeof *t);
    assert_true(gt_thread_init(t, k, 1));
}

static void test_levels(void **state)
{
    (void)state;
    struct gt_tracker k;
    struct gt_thread t;
    begin(&k, &t);
    struct gt_stack *user = t.stack, *kernel = NULL;
    call(&t, 0x10, 'a');
    assert_true(gt_track_level(&t, &kernel, 1));
    assert_ptr_equal(t.stack, kernel);
    call(&t, 0x20, 'k');
    check("0+a 1+k ");
    come_back(&t, 0x11); /* where the other level's call returns to: not this one's business */
    assert_int_equal(t.doubts[GT_DOUBT_UNKNOWN_RETURN], 1);
    assert_ptr_equal(t.stack, kernel);
    assert_true(gt_track_level(&t, &user, 1));
    come_back(&t, 0x11);
    check("0-a ");
    assert_true(gt_track_level(&t, &kernel, 1));
    assert_int_equal(opened, 2);
    come_back(&t, 0x21);
    check("1-k ");
    assert_int_equal(t.doubts[GT_DOUBT_SWITCHED], 0);
    assert_int_equal(t.matched, 2);
    gt_track_level_end(&t, user, 1);
    gt_thread_finish(&t, 1);
    assert_int_equal(opened, 0);
    gt_tracker_finish(&k);
}

static void test_end_closes(void **state)
{
    (void)state;
    struct gt_tracker k;
    struct gt_thread t;
    begin(&k, &t);
    struct gt_stack *user = t.stack, *kernel = NULL;
    call(&t, 0x10, 'a');
    assert_true(gt_track_level(&t, &kernel, 1));
    call(&t, 0x20, 'k');
    gt_track_level_end(&t, user, 1);
    check("0+a 1+k 0-a ");
    gt_thread_finish(&t, 1);
    check("1-k ");
    gt_tracker_finish(&k);
}

static void test_refused(void **state)
{
    (void)state;
    struct gt_tracker k;
    struct gt_thread t;
    begin(&k, &t);
    struct gt_stack *user = t.stack, *kernel = NULL;
    refuses = true;
    assert_false(gt_track_level(&t, &kernel, 1));
    assert_null(kernel);
    assert_ptr_equal(t.stack, user);
    call(&t, 0x10, 'a');
    check("0+a ");
    gt_thread_finish(&t, 1);
    gt_tracker_finish(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_end_closes),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
