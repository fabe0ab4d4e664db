/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What depends on more than one task's calls: values, scopes, switches elsewhere, events, other
 * causes, memory. */
#include "bench.h"

static void test_conditions(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-F b@if:arg1==-1||arg1&4 -T b@mark=x,if:retval<0&&took>=1");
    start(&t, &b);
    play(&t, &b, "b.", 1); /* not known: false */
    t.arg1 = 3;
    play(&t, &b, "b.", 11);
    t.arg1 = 6;
    t.retval = 0;
    play(&t, &b, "b.", 21);
    t.arg1 = t.retval = -1;
    play(&t, &b, "b.", 31);
    assert_string_equal(t.log, " b0@21 /b0@22 b0@31 /b0@32 [mark=x "
                               "b@mark=x,if:retval<0&&took>=1 0 1]");
    gt_filter_state_finish(&t.s);
    end(&b);
}

static void test_texts(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b,
          "-F b@if:path==\"/a\" -T a@filter,if:path&&path!=\"/b\" -T c@mark=x,if:0x10==path "
          "-T d@mark=y,if:path<3||other==\"/a\"||path&1||fparg1<5 -T e@mark=z,if:!(path==\"/c\")");
    start(&t, &b);
    t.arg1 = 0x10;
    play(&t, &b, "b.a.c.e.", 1); /* path is a number; !(false) */
    t.path = "/a";
    play(&t, &b, "b.a.c.d.", 11);
    t.path = "/b";
    play(&t, &b, "b.a.c.d.", 21);
    t.path = "/c";
    play(&t, &b, "e.", 31);
    assert_string_equal(t.log, " a0@3 /a0@4 [mark=x c@mark=x,if:0x10==path 0 0] [mark=z "
                               "e@mark=z,if:!(path==\"/c\") 0 0] b0@11 /b0@12 a0@13 /a0@14");
    gt_filter_state_finish(&t.s);
    end(&b);
}

static void test_tasks(void **state)
{
    struct bench b;
    struct task one, two;
    (void)state;
    begin(&b, "task in*t task 12 vcpu 1 -N b@task=*x@pid=7");
    start(&one, &b);
    start(&two, &b);
    gt_filter_state_task(&one.s, "swapper", 11, 7);
    gt_filter_state_task(&two.s, "initx", 12, 7);
    gt_filter_state_cpu(&one.s, 1);
    gt_filter_state_cpu(&two.s, 1);
    play(&one, &b, "a", 1);
    play(&two, &b, "ab.", 1);
    gt_filter_state_task(&one.s, "init", 11, 7); /* from the next call on */
    gt_filter_state_cpu(&two.s, 2);
    play(&one, &b, "b.", 11);
    play(&two, &b, "a..", 11);
    gt_filter_state_task(&one.s, "shell", 11, 7);
    play(&one, &b, "c..", 21);
    assert_string_equal(one.log, " b1@11 /b1@12");
    assert_string_equal(two.log, " a0@1 /a0@13");
    gt_filter_state_finish(&one.s);
    gt_filter_state_finish(&two.s);
    end(&b);
}

/* A switch in one task takes effect in another at that one's next call, or where it is off, return.
 */
static void test_switch_elsewhere(void **state)
{
    struct bench b;
    struct task one, two;
    (void)state;
    begin(&b, "-T x@trace-off -T y@trace-on,count=1");
    start(&one, &b);
    start(&two, &b);
    play(&one, &b, "abc", 1);
    play(&two, &b, "x.", 5);
    play(&one, &b, ".", 11); /* all end here */
    play(&two, &b, "y.", 15);
    play(&one, &b, ".b.", 21); /* a return: not yet */
    play(&two, &b, "x.y.x.", 31);
    gt_filter_live_switch(b.live, true); /* off and on again: nothing has happened to `one` */
    play(&one, &b, ".", 41);
    assert_string_equal(one.log, " a0@1 b1@2 c2@3 /c2@11 /b1@11 /a0@11 a0@22 b1@22 /b1@23 /a0@41");
    assert_string_equal(two.log, " y0@15 /y0@16");
    gt_filter_state_finish(&one.s);
    gt_filter_state_finish(&two.s);
    end(&b);
}

/* An end is for good, whatever triggers say later. */
static void test_ended(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-T y@trace-on");
    start(&t, &b);
    play(&t, &b, "ab", 1);
    gt_filter_live_finish(b.live);
    play(&t, &b, "y.", 5);
    gt_filter_live_switch(b.live, true);
    play(&t, &b, "c..", 11);
    assert_false(gt_filter_live_is_on(b.live));
    assert_string_equal(t.log, " a0@1 b1@2 /b1@5 /a0@5");
    gt_filter_state_finish(&t.s);
    end(&b);
}

static void test_events(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-F b -N c -t 5ns -D 2");
    start(&t, &b);
    play(&t, &b, "a", 1);
    assert_false(gt_filter_takes_event(&t.s, 1));
    play(&t, &b, "b", 2);
    assert_false(gt_filter_takes_event(&t.s, 3)); /* b is held back */
    assert_true(gt_filter_takes_event(&t.s, 7));
    assert_string_equal(t.log, " b1@2");
    play(&t, &b, "c", 8);
    assert_false(gt_filter_takes_event(&t.s, 20));
    play(&t, &b, ".d", 20);
    assert_false(gt_filter_takes_event(&t.s, 30)); /* no depth left */
    play(&t, &b, ".", 30);
    assert_true(gt_filter_takes_event(&t.s, 31));
    gt_filter_live_switch(b.live, false);
    assert_false(gt_filter_takes_event(&t.s, 31));
    gt_filter_state_finish(&t.s);
    end(&b);
}

static void sleeps(struct task *t, uint64_t from, uint64_t to)
{
    gt_filter_suspend(&t->s, from);
    gt_filter_resume(&t->s, to);
}

/* A suspension is written when it is known in which call that is recorded it was. */
static void test_sleeps(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-N c -t 10ns -D 3");
    start(&t, &b);
    play(&t, &b, "a", 0);
    sleeps(&t, 2, 4); /* a is held back */
    play(&t, &b, "b", 5);
    sleeps(&t, 5, 6);
    sleeps(&t, 7, 8);
    assert_string_equal(t.log, "");
    play(&t, &b, ".", 8); /* b is too short: its sleeps are a's */
    play(&t, &b, "b", 9);
    sleeps(&t, 9, 12); /* a suffices, b does not */
    assert_string_equal(t.log, " a0@0 ~1@2-6");
    play(&t, &b, "..", 20);
    assert_string_equal(t.log, " a0@0 ~1@2-6 b1@9 ~2@9-12 /b1@20 /a0@21");
    t.log[0] = '\0';
    play(&t, &b, "abde", 30); /* e is too deep; all suffice at 50 */
    sleeps(&t, 40, 50);
    assert_string_equal(t.log, " a0@30 b1@31 d2@32 ~3@40-50");
    gt_filter_suspend(&t.s, 51); /* at once */
    assert_string_equal(t.log, " a0@30 b1@31 d2@32 ~3@40-50 ~3@51");
    gt_filter_resume(&t.s, 52);
    t.log[0] = '\0';
    play(&t, &b, "..c", 60); /* not recorded */
    sleeps(&t, 62, 63);
    assert_string_equal(t.log, " /d2@61 ~2@62-63");
    play(&t, &b, "...", 70);
    t.log[0] = '\0';
    play(&t, &b, "c", 80);
    sleeps(&t, 81, 99); /* in no call that is recorded */
    play(&t, &b, ".a", 99);
    sleeps(&t, 101, 104);
    gt_filter_live_switch(b.live, false);
    sleeps(&t, 105, 106);
    gt_filter_live_switch(b.live, true);
    play(&t, &b, "b", 110); /* a begins here, without having slept */
    play(&t, &b, "..", 130);
    assert_string_equal(t.log, " a0@110 b1@110 /b1@130 /a0@131");
    gt_filter_state_finish(&t.s);
    end(&b);
}

/* At the end a suspension lasts: it is written in calls that take long enough by then. */
static void test_asleep_at_the_end(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-t 10ns");
    start(&t, &b);
    play(&t, &b, "a", 0);
    gt_filter_suspend(&t.s, 2);
    gt_filter_until(&t.s, 9);
    assert_string_equal(t.log, "");
    gt_filter_until(&t.s, 30);
    assert_string_equal(t.log, " a0@0 ~1@2");
    gt_filter_resume(&t.s, 40);
    gt_filter_suspend(&t.s, 50);
    gt_filter_state_reset(&t.s); /* of a forked child, which runs */
    t.shown = 0;
    gt_filter_resume(&t.s, 60);
    assert_string_equal(t.log, " a0@0 ~1@2-40 ~1@50");
    gt_filter_state_finish(&t.s);
    end(&b);
}

static void test_causes(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b,
          "-T console:^Oops|[Pp]anic@mark=x,count=1,trace-off -T exit!=0 -T signal:11@finish -T "
          "signal@snapshot=s -T signal");
    start(&t, &b);
    gt_filter_said(b.set, b.live, GT_FILTER_CONSOLE, "An Oops", 1, &sink, &t);
    gt_filter_said(b.set, b.live, GT_FILTER_CONSOLE, "Kernel panic", 1, &sink, &t);
    assert_false(gt_filter_live_is_on(b.live));
    gt_filter_said(b.set, b.live, GT_FILTER_CONSOLE, "Kernel panic", 1, &sink, &t);
    gt_filter_ended(b.set, b.live, false, 0, 1, &sink, &t);
    gt_filter_ended(b.set, b.live, false, 3, 1, &sink, &t);
    gt_filter_ended(b.set, b.live, true, 6, 1, &sink, &t);
    gt_filter_ended(b.set, b.live, true, 11, 1, &sink, &t);
    assert_string_equal(t.log, " [mark=x console:^Oops|[Pp]anic@mark=x,count=1,trace-off 0 0]"
                               " [snapshot exit!=0 0 0] [snapshot signal 0 0]"
                               " [finish signal:11@finish 0 0] [snapshot signal 0 0]");
    gt_filter_state_finish(&t.s);
    end(&b);
}

static bool no_memory;
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
    return no_memory ? NULL : __real_realloc(p, size);
}

/* Calls for which there is no memory are not recorded; what comes after them is. */
static void test_no_memory(void **state)
{
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-F b -T a@size=0");
    start(&t, &b);
    for (int i = 0; i < 60; i++) /* each has a frame: a function of a trigger */
        gt_filter_enter(&t.s, &b.v[0], 0, 0, 1);
    no_memory = true;
    play(&t, &b, "bcdefg...", 1);
    no_memory = false;
    play(&t, &b, "h....", 11);
    assert_string_equal(t.log, " b60@1 c61@2 d62@3 h63@11 /h63@12 /d62@13 /c61@14 /b60@15");
    assert_int_equal(t.s.depth, 60);
    gt_filter_state_finish(&t.s);
    end(&b);
}

/* Deeper than any call before, and more returns than calls. */
static void test_depth(void **state)
{
    enum { DEEP = 100000 };
    struct bench b;
    struct task t;
    (void)state;
    begin(&b, "-D 3 -F b");
    start(&t, &b);
    for (int i = 0; i < DEEP; i++)
        gt_filter_enter(&t.s, &b.v[0], 0, 0, 1);
    play(&t, &b, "b", 2);
    for (int i = 0; i < DEEP + 5; i++)
        gt_filter_leave(&t.s, 3);
    assert_int_equal(t.s.depth, 0);
    play(&t, &b, "bcde....", 5);
    assert_non_null(strstr(t.log, " b0@5 c1@6 d2@7 /d2@10 /c1@11 /b0@12"));
    gt_filter_state_reset(&t.s);
    gt_filter_state_finish(&t.s);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_texts),      cmocka_unit_test(test_switch_elsewhere),
        cmocka_unit_test(test_ended),      cmocka_unit_test(test_events),
        cmocka_unit_test(test_sleeps),     cmocka_unit_test(test_asleep_at_the_end),
        cmocka_unit_test(test_causes),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
