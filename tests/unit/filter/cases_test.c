/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One task, case by case: what is written when, triggers, switches, counts, handlers. */
#include "bench.h"

static void check(const char *options, const char *what, const char *want)
{
    struct bench b;
    struct task t;
    begin(&b, options);
    start(&t, &b);
    play(&t, &b, what, 1);
    if (strcmp(t.log, want) != 0)
        fail_msg("%s, %s:%s, expected%s", options, what, t.log, want);
    gt_filter_state_finish(&t.s);
    end(&b);
}

/* What is held back is written as soon as it is known: it would be lost if the recorder was killed.
 */
static void test_written_early(void **state)
{
    (void)state;
    check("-t 3ns", "abc..d..", " a0@1 b1@2 /b1@5 /a0@8"); /* a, b: at 4 and 5; d is too short */
    check("-t 3ns", "abc", "");
    check("-t 3ns", "abcd", " a0@1");
    check("-t 3ns", "abcde", " a0@1 b1@2");
    check("-C c", "abc", " a0@1 b1@2 c2@3");
    check("-C c -t 2ns", "abcd", "");
    check("-C c -t 2ns", "abcd..", " a0@1 b1@2 c2@3 /c2@6");
    check("-t 9ns -T b@trace", "ab", " a0@1 b1@2");
}

static void test_actions(void **state)
{
    (void)state;
    check("-T b@mark=x,snapshot", "ab..",
          " a0@1 b1@2 [mark=x b@mark=x,snapshot 1 0] [snapshot "
          "b@mark=x,snapshot 1 0] /b1@3 /a0@4");
    check("-T b@return:finish", "abc...",
          " a0@1 b1@2 c2@3 /c2@4 /b1@5 [finish b@return:finish 1 3] /a0@6");
    /* A call with an action is recorded however short, and its callers. */
    check("-t 9ns -T b@mark=\"x,y\"", "ac.b..",
          " a0@1 b1@4 [mark=x,y b@mark=\"x,y\" 1 0] /b1@5 /a0@6");
    check("-t 9ns -T b@mark=x,at=return", "ab..",
          " a0@1 b1@2 /b1@3 [mark=x b@mark=x,at=return 1 1]"
          " /a0@4");
    check("-T b@mark=x,if:took>2", "ab.bc...",
          " a0@1 b1@2 /b1@3 b1@4 c2@5 /c2@6 /b1@7 [mark=x b@mark=x,if:took>2 1 3] /a0@8");
}

/* Where the filters let nothing pass, only marks and snapshots are taken. */
static void test_filtered_actions(void **state)
{
    (void)state;
    check("-F c -T b@finish,mark=x", "bcb...",
          " [mark=x b@finish,mark=x 0 0] c1@2 b2@3 [finish "
          "b@finish,mark=x 2 0] [mark=x b@finish,mark=x 2 0] "
          "/b2@4 /c1@5");
    check("-N c -T b@trace-off,return:mark=x", "acb...",
          " a0@1 [mark=x b@trace-off,return:mark=x 2 1] /a0@6");
    check("-H b -T b@trace-off", "abc...", " a0@1 /a0@2");
}

static void test_switches(void **state)
{
    (void)state;
    check("off -T c@trace-on", "abcd....", " a0@3 b1@3 c2@3 d3@4 /d3@5 /c2@6 /b1@7 /a0@8");
    check("-T c@trace-off", "abcd..d..c..", " a0@1 b1@2 /b1@3 /a0@3");
    check("-T b@trace-on,return:trace-off off -T b@depth=1", "abc..b..",
          " a0@2 b1@2 /b1@5 /a0@5 a0@6 b1@6 /b1@7 /a0@7");
    check("-T b@trace-off,return:trace-on", "ab.c..", " a0@1 /a0@2 a0@4 c1@4 /c1@5 /a0@6");
    check("off -D 1 -T c@trace-on", "abcd....", " a0@3 b1@3 c2@3 /c2@6 /b1@7 /a0@8");
    check("-t 4ns -T c@trace-off", "abdc....", ""); /* a and b did not last */
    check("-t 3ns -T c@trace-off", "abdc....", " a0@1 /a0@4");
}

static void test_how_often(void **state)
{
    (void)state;
    check("-F b@count=2", "b.b.b.b.", " b0@1 /b0@2 b0@3 /b0@4");
    check("-F b@after=2", "b.b.b.b.", " b0@5 /b0@6 b0@7 /b0@8");
    check("-F b@after=1,every=2", "b.b.b.b.", " b0@3 /b0@4 b0@7 /b0@8");
    check("-N b@every=2", "b.b.b.b.", " b0@3 /b0@4 b0@7 /b0@8");
    check("-F .@if:depth==1", "abc...", " b1@2 c2@3 /c2@4 /b1@5");
}

static void test_handlers(void **state)
{
    (void)state;
    check("no-handlers", "aIj..b.", " a0@1 b1@6 /b1@7");
    check("-F a", "aIj..b.", " a0@1 i1@2 j2@3 /j2@4 /i1@5 b1@6 /b1@7");
    check("no-handlers -T j@snapshot", "aIj..", " a0@1 [snapshot j@snapshot 2 0]");
    check("user", "anbo....", " a0@1 b2@3 /b2@6 /a0@8"); /* n and o are the kernel's */
    check("user -D 2", "anbc....", " a0@1 b2@3 /b2@6 /a0@8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_early),    cmocka_unit_test(test_actions),
        cmocka_unit_test(test_filtered_actions), cmocka_unit_test(test_switches),
        cmocka_unit_test(test_how_often),        cmocka_unit_test(test_handlers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
