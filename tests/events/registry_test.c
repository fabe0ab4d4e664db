/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events there are and which are on: names, globs, groups, options, events files. */
#include "handmade.h"

#include <guesttrace/control.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void test_match(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"", "", true},          {"", "a", false},        {"*", "", true},
        {"*", "abc", true},      {"a?c", "abc", true},    {"a?c", "ac", false},
        {"?", "", false},        {"*b*", "abc", true},    {"a*c*", "abcbc", true},
        {"a*bc", "abcbc", true}, {"a*bc", "abcb", false}, {"**", "x", true},
        {"a*?", "a", false},     {"a*?", "ab", true},     {"[ab]", "a", false},
        {"abc", "abcd", false},  {"abcd", "abc", false},  {"*a*a*a*b", "aaaaaaaaaaaaaaaa", false},
        {"a\\*", "a\\x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (gt_trace_match(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
    }
    assert_true(gt_trace_is_pattern("a?"));
    assert_false(gt_trace_is_pattern("a[b]"));
}

static int count(struct gt_trace_event *event, void *context)
{
    (void)event;
    ++*(int *)context;
    return 0;
}

static int stop(struct gt_trace_event *event, void *context)
{
    *(const char **)context = event->name;
    return 7;
}

static void test_iteration(void **state)
{
    (void)state;
    int n = 0;
    const char *first = NULL;
    assert_int_equal(gt_trace_each(NULL, NULL, count, &n), 0);
    assert_int_equal(n, 5);
    n = 0;
    gt_trace_each("handmade", "hm_n*", count, &n);
    assert_int_equal(n, 2);
    n = 0;
    gt_trace_each("other", NULL, count, &n);
    assert_int_equal(n, 0);
    assert_int_equal(gt_trace_each(NULL, "*t*", stop, &first), 7);
    assert_string_equal(first, "hm_two");
}

static void test_states(void **state)
{
    (void)state;
    struct gt_trace_error error;
    struct gt_trace_event *two = gt_trace_find("hm_two"), *off = gt_trace_find("hm_off");
    assert_ptr_equal(two, &_TRACE_HM_TWO_EVENT);
    assert_null(gt_trace_find("hm_tw"));
    assert_true(gt_trace_is_static(two));
    assert_false(gt_trace_is_static(off));
    assert_false(gt_trace_is_on(two));
    assert_int_equal(gt_trace_switch(two, true, &error), GT_TRACE_OK);
    assert_true(gt_trace_is_on(two));
    assert_int_equal(_TRACE_HM_TWO_DSTATE, HANDMADE_BACKENDS);
    assert_true(trace_event_get_state(TRACE_HM_TWO));
    assert_false(trace_event_get_state(TRACE_HM_NAME));
    gt_trace_set_backends(GT_TRACE_LOG | GT_TRACE_UST);
    assert_int_equal(_TRACE_HM_TWO_DSTATE, GT_TRACE_LOG);
    assert_int_equal(gt_trace_backends(), GT_TRACE_LOG | GT_TRACE_UST);
    gt_trace_set_backends(~0u);
    assert_int_equal(_TRACE_HM_TWO_DSTATE, HANDMADE_BACKENDS);
    gt_trace_file_enable(false, NULL);
    assert_int_equal(_TRACE_HM_TWO_DSTATE, HANDMADE_BACKENDS & ~GT_TRACE_SIMPLE);
    gt_trace_file_enable(true, NULL);
    assert_int_equal(_TRACE_HM_TWO_DSTATE, HANDMADE_BACKENDS);
    assert_int_equal(gt_trace_switch(off, true, &error), GT_TRACE_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "hm_off"));
    assert_int_equal(gt_trace_switch_all("hm_off", true, &error), GT_TRACE_E_UNSUPPORTED);
    assert_int_equal(gt_trace_switch_all("nobody", true, &error), GT_TRACE_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "nobody"));
    assert_int_equal(gt_trace_switch_all("nobody*", true, &error), 0);
    assert_int_equal(gt_trace_switch_all("*", true, &error), 4);
    assert_int_equal(gt_trace_switch_all("hm_t*", false, &error), 2);
    assert_int_equal(_TRACE_HM_TWO_DSTATE, 0);
    assert_int_not_equal(_TRACE_HM_NAME_DSTATE, 0);
    assert_int_equal(gt_trace_switch_all("*", false, &error), 4);
}

static uint16_t late_state, late_two_state;
static struct gt_trace_event late = {
    .name = "late", .state = &late_state, .backends = GT_TRACE_LOG, .enabled = 1};
static struct gt_trace_event late_two = {
    .name = "hm_two", .state = &late_two_state, .backends = GT_TRACE_LOG, .enabled = 1};
static struct gt_trace_event *const late_events[] = {&late, &late_two};

static void test_group_that_comes_and_goes(void **state)
{
    (void)state;
    struct gt_trace_group group = GT_TRACE_GROUP("late", late_events, 2);
    struct gt_trace_group future = GT_TRACE_GROUP("late", late_events, 2);
    future.version++;
    gt_trace_register(&future);
    assert_null(gt_trace_find("late"));
    gt_trace_switch_all("la*", true, NULL);
    gt_trace_register(&group);
    gt_trace_register(&group);
    int n = 0;
    gt_trace_each("late", NULL, count, &n);
    assert_int_equal(n, 2);
    uint32_t id = late.id;
    assert_int_equal(late_state, GT_TRACE_LOG);
    assert_int_equal(late_two_state, 0);
    assert_int_equal(late_two.id, _TRACE_HM_TWO_EVENT.id);
    assert_ptr_equal(gt_trace_find("hm_two"), &_TRACE_HM_TWO_EVENT);
    assert_int_equal(gt_trace_switch_all("hm_two", true, NULL), 2);
    gt_trace_unregister(&group);
    gt_trace_unregister(&group);
    assert_null(gt_trace_find("late"));
    assert_int_equal(late_state, 0);
    gt_trace_switch_all("late", false, NULL);
    gt_trace_switch_all("?at?", true, NULL);
    gt_trace_register(&group);
    assert_int_equal(late.id, id);
    assert_int_equal(late_state, GT_TRACE_LOG);
    assert_int_equal(late_two_state, GT_TRACE_LOG);
    gt_trace_unregister(&group);
    gt_trace_switch_all("*", false, NULL);
    gt_trace_register(&group);
    assert_int_equal(late_state, 0);
    gt_trace_unregister(&group);
}

static struct gt_trace_error last_error;

/* What was listed, and what was warned of. */
static int parse(const char *option, char **listed, char **warned)
{
    size_t n;
    static char *list, *warnings;
    free(list);
    free(warnings);
    FILE *l = open_memstream(&list, &n), *w = open_memstream(&warnings, &n);
    last_error = (struct gt_trace_error){0};
    int r = gt_trace_parse(option, l, w, &last_error);
    fclose(l);
    fclose(w);
    if (listed)
        *listed = list;
    if (warned)
        *warned = warnings;
    return r;
}

static void test_options(void **state)
{
    (void)state;
    char *listed, *warned;
    assert_int_equal(parse("help", &listed, NULL), 1);
    assert_string_equal(listed, "hm_none\nhm_two\nhm_name\nhm_ten\nhm_off\n");
    assert_int_equal(parse("hm_n*", NULL, &warned), 0);
    assert_string_equal(warned, "");
    assert_true(gt_trace_is_on(&_TRACE_HM_NONE_EVENT) && gt_trace_is_on(&_TRACE_HM_NAME_EVENT));
    assert_int_equal(parse("-hm_none,enable=hm_ten", NULL, NULL), 0);
    assert_false(gt_trace_is_on(&_TRACE_HM_NONE_EVENT));
    assert_true(gt_trace_is_on(&_TRACE_HM_TEN_EVENT));
    assert_int_equal(parse("enable=-*", NULL, NULL), 0);
    assert_int_equal(parse("nobody", NULL, &warned), 0);
    assert_non_null(strstr(warned, "warning: trace event 'nobody' does not exist\n"));
    assert_int_equal(parse("hm_off", NULL, &warned), 0);
    assert_non_null(strstr(warned, "'hm_off' cannot be traced"));
    static const struct {
        const char *option, *message;
    } bad[] = {
        {"hm_two,hm_ten", "hm_ten"},       {"what=ever", "what=ever: no such option"},
        {"policy=best", "policy=best"},    {"buffer=1", "1 bytes: expected 64K"},
        {"buffer=64X", "buffer=64X"},      {"buffer=99999999999999999999", "buffer=9999"},
        {"prefix=maybe", "prefix=maybe"},  {"backends=log+simpel", "log+simpel"},
        {"events=/no/such", "/no/such: "}, {"log=/no/such/x", "/no/such/x"},
        {"file=/no/such/x", "/no/such/x"}, {"file=", "trace file ''"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i].option, NULL, NULL) >= 0 || !strstr(last_error.text, bad[i].message))
            fail_msg("%s: %s", bad[i].option, last_error.text);
    }
    assert_int_equal(parse("buffer=64K,buffer=2M,backends=log+ftrace+nop", NULL, NULL), 0);
    assert_int_equal(gt_trace_backends(), GT_TRACE_LOG | GT_TRACE_FTRACE);
    gt_trace_set_backends(~0u);
    gt_trace_switch_all("*", false, NULL);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static void test_file_is_not_lost_by_a_later_option(void **state)
{
    (void)state;
    struct gt_trace_file_status status;
    assert_int_equal(parse("file=one,,two", NULL, NULL), 0);
    assert_int_equal(parse("hm_none", NULL, NULL), 0);
    gt_trace_file_status(&status);
    assert_string_equal(strrchr(status.path, '/'), "/one,two");
    assert_true(status.on && status.open);
    assert_int_equal(access("one,two", F_OK), 0);
    gt_trace_switch_all("*", false, NULL);
}

static void test_events_file(void **state)
{
    (void)state;
    char *warned;
    write_file("events", "# a comment\n\n  \thm_none  \r\n#hm_ten\n   # hm_ten\n-hm_name\nnobody\n"
                         "hm_off\n  -no*\nhm_two");
    gt_trace_switch_all("hm_name", true, NULL);
    assert_int_equal(parse("events=events,prefix=off", NULL, &warned), 0);
    assert_true(gt_trace_is_on(&_TRACE_HM_NONE_EVENT));
    assert_true(gt_trace_is_on(&_TRACE_HM_TWO_EVENT)); /* the last line lacks its newline */
    assert_false(gt_trace_is_on(&_TRACE_HM_NAME_EVENT));
    assert_false(gt_trace_is_on(&_TRACE_HM_TEN_EVENT));
    assert_non_null(strstr(warned, "nobody"));
    assert_non_null(strstr(warned, "hm_off"));
    assert_null(strstr(warned, "no*"));
    write_file("events", "");
    assert_int_equal(gt_trace_read_events("events", NULL, NULL), GT_TRACE_OK);
    write_file("events", "hm_ten\nnobody");
    assert_int_equal(gt_trace_read_events("events", NULL, NULL), GT_TRACE_OK);
    assert_true(gt_trace_is_on(&_TRACE_HM_TEN_EVENT));
    assert_int_equal(gt_trace_read_events(".", NULL, &last_error), GT_TRACE_E_IO);
    gt_trace_switch_all("*", false, NULL);
}

static void test_list(void **state)
{
    (void)state;
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    gt_trace_list(f, "*of?");
    fclose(f);
    assert_string_equal(text, "hm_off\n");
    free(text);
}

int main(void)
{
    char folder[] = "/tmp/events-registry-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_iteration),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_group_that_comes_and_goes),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_file_is_not_lost_by_a_later_option),
        cmocka_unit_test(test_events_file),
        cmocka_unit_test(test_list),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("events");
    unlink("one,two");
    rmdir(folder);
    return failed;
}
