/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options: what they say of a function, what is refused and in which words. */
#include "filter/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct gt_filter_set *new_set(enum gt_filter_match match, uint32_t needs)
{
    const struct gt_filter_settings s = {match, needs};
    struct gt_filter_set *set = gt_filter_set_new(&s);
    assert_non_null(set);
    return set;
}

static void add(struct gt_filter_set *set, enum gt_filter_option option, const char *value)
{
    struct gt_error err = {0};
    if (gt_filter_set_add(set, option, "-x", value, &err) < 0)
        fail_msg("%s", err.text);
}

static struct gt_filter_verdict verdict(struct gt_filter_set *set, const char *name)
{
    const struct gt_filter_function f = {.name = name,
                                         .size = 64,
                                         .module = "/lib/libm.so.6",
                                         .file = "/s/m.c",
                                         .line = 1,
                                         .level = "NS-EL1"};
    struct gt_filter_verdict v;
    assert_int_equal(gt_filter_verdict(set, &f, &v), 0);
    return v;
}

static uint32_t bits_of(enum gt_filter_option option, const char *value, const char *name)
{
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    add(set, option, value);
    uint32_t bits = verdict(set, name).bits;
    gt_filter_set_free(set);
    return bits;
}

static void test_bits(void **state)
{
    (void)state;
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f", "f"), GT_VERDICT_ONLY);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f", "g"), 0);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "!f", "f"), GT_VERDICT_NOT);
    assert_int_equal(bits_of(GT_FILTER_NOT, "a;f", "f"), GT_VERDICT_NOT);
    assert_int_equal(bits_of(GT_FILTER_CALLERS, "f", "f"), GT_VERDICT_CALLERS);
    assert_int_equal(bits_of(GT_FILTER_HIDE, "^f", "fgh"), GT_VERDICT_HIDE);
    assert_int_equal(bits_of(GT_FILTER_PLACE, "m.c", "f"), GT_VERDICT_PLACE);
    assert_int_equal(bits_of(GT_FILTER_PLACE, "m.c@hide", "f"), GT_VERDICT_NO_PLACE);
    assert_int_equal(bits_of(GT_FILTER_PLACE, "!m.c", "f"), GT_VERDICT_NO_PLACE);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f@libm", "f"), GT_VERDICT_ONLY);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f@libc", "f"), 0);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f@level=*EL1", "f"), GT_VERDICT_ONLY);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f@level=U", "f"), 0);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace-on", "f"), GT_VERDICT_ON);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace_on", "f"), GT_VERDICT_ON);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@traceoff", "f"), GT_VERDICT_OFF);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@Trace_Off", "f"), GT_VERDICT_OFF);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace_on,trace_off", "f"), GT_VERDICT_OFF);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace,hide", "f"),
                     GT_VERDICT_TRACE | GT_VERDICT_HIDE);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@finish", "f"), GT_VERDICT_ACTS);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@return:finish", "f"), GT_VERDICT_RETURNS);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@finish,at=return", "f"), GT_VERDICT_RETURNS);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace-on,return:trace-off", "f"),
                     GT_VERDICT_ON | GT_VERDICT_RETURNS);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace-on,if:took>1ms", "f"), GT_VERDICT_RETURNS);
    assert_int_equal(bits_of(GT_FILTER_TRIGGER, "f@trace-on,count=1", "f"), GT_VERDICT_RULES);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f@if:arg1==3", "f"), GT_VERDICT_RULES);
    assert_int_equal(bits_of(GT_FILTER_ONLY, "f@task=init@pid=1", "f"), GT_VERDICT_RULES);
    assert_int_equal(bits_of(GT_FILTER_KERNEL_ONLY, NULL, "f"), GT_VERDICT_UNSELECTED);
    assert_int_equal(bits_of(GT_FILTER_USER_ONLY, NULL, "f"), 0);
    assert_int_equal(bits_of(GT_FILTER_PRIVILEGE, "NS-EL?", "f"), 0);
    assert_int_equal(bits_of(GT_FILTER_PRIVILEGE, "U", "f"), GT_VERDICT_UNSELECTED);
}

static void test_values(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_GLOB, 0);
    add(set, GT_FILTER_TRIGGER, "f*@depth=3,time=1.5us;f?@size=0x10");
    add(set, GT_FILTER_ONLY, "fa@depth=7"); /* before -T, wherever it stands */
    struct gt_filter_verdict v = verdict(set, "fa");
    assert_int_equal(v.bits,
                     GT_VERDICT_DEPTH | GT_VERDICT_TIME | GT_VERDICT_SIZE | GT_VERDICT_ONLY);
    assert_int_equal(v.depth, 3);
    assert_int_equal(v.time, 1500);
    assert_int_equal(v.size, 16);
    assert_int_equal(v.own_size, 64);
    gt_filter_set_free(set);
}

/* Of several the last one, but -F and -N come first. */
static void test_order(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    add(set, GT_FILTER_TRIGGER, "f@notrace,depth=1");
    add(set, GT_FILTER_NOT, "f");
    add(set, GT_FILTER_ONLY, "^f");
    assert_int_equal(verdict(set, "f").bits, GT_VERDICT_NOT | GT_VERDICT_DEPTH);
    assert_int_equal(verdict(set, "fg").bits, GT_VERDICT_ONLY);
    add(set, GT_FILTER_TRIGGER, "f@filter,depth=2");
    assert_int_equal(verdict(set, "f").bits, GT_VERDICT_ONLY | GT_VERDICT_DEPTH);
    assert_int_equal(verdict(set, "f").depth, 2);
    gt_filter_set_free(set);
}

static void assert_refused(enum gt_filter_option option, const char *name, const char *value,
                           int status, const char *message)
{
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, ~0u);
    struct gt_error err = {0};
    int got = gt_filter_set_add(set, option, name, value, &err);
    if (got != status || strcmp(err.text, message) != 0)
        fail_msg("%d: '%s', expected '%s'", got, err.text, message);
    gt_filter_set_free(set);
}

static void test_refused_values(void **state)
{
    (void)state;
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@finish,if:arg9==1", GT_E_UNSUPPORTED,
                   "-T f@finish,if:arg9==1: character 13: values of calls are not known here: QEMU "
                   "9.0 and later let plugins read them, a reader has those that were recorded "
                   "(-A, -R)");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@finish,if:depth>1||cuont==1", GT_E_UNSUPPORTED,
                   "-T f@finish,if:depth>1||cuont==1: character 22: no value 'cuont'; known here: "
                   "depth, took (at the return), argN, fpargN, retval (at the return); names of "
                   "arguments need prototypes (--auto-args)");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@finish,if:arg1<\"x\"", GT_E_USAGE,
                   "-T f@finish,if:arg1<\"x\": character 21: strings are compared by == and !=");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@arg1/s", GT_E_UNSUPPORTED,
                   "-T f@arg1/s: character 3: values of calls are not known here: QEMU 9.0 and "
                   "later let plugins read them, a reader has those that were recorded (-A, -R)");
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused(GT_FILTER_ONLY, "-F", "f;a(b", GT_E_USAGE,
                   "-F f;a(b: character 6: missing closing parenthesis");
    assert_refused(GT_FILTER_ONLY, "-F", "a(b@libm", GT_E_USAGE,
                   "-F a(b@libm: character 4: missing closing parenthesis");
    assert_refused(GT_FILTER_NOT, "-N", "", GT_E_USAGE, "-N : character 1: expected a function");
    assert_refused(GT_FILTER_DEPTH, "-D", "0", GT_E_USAGE,
                   "-D 0: character 1: expected a depth, a number from 1 on");
    assert_refused(GT_FILTER_TIME, "-t", "5parsec", GT_E_USAGE,
                   "-t 5parsec: character 1: expected a time, as 5us, 1.5ms or 5000insn");
    assert_refused(GT_FILTER_TIME, "-t", "5insn", GT_E_UNSUPPORTED,
                   "-t 5insn: character 1: the times here are not numbers of instructions");
    assert_refused(GT_FILTER_SIZE, "-Z", "big", GT_E_USAGE,
                   "-Z big: character 1: expected a size in bytes, a number");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f", GT_E_USAGE,
                   "-T f: character 2: expected @ and an action, as f@trace-on");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@depht=3", GT_E_USAGE,
                   "-T f@depht=3: character 3: no action 'depht=3', expected one of depth= time= "
                   "size= trace filter notrace hide caller trace-on trace-off finish backtrace "
                   "snapshot snapshot= read= mark= count= after= every= if: at=return at=entry "
                   "task= pid= cpu= level=");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@depth=x", GT_E_USAGE,
                   "-T f@depth=x: character 9: expected a depth, a number");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@finish,count=0", GT_E_USAGE,
                   "-T f@finish,count=0: character 16: expected a number of at least 1");
    assert_refused(
        GT_FILTER_TRIGGER, "-T", "f@finish,if:arg1==1=2", GT_E_USAGE,
        "-T f@finish,if:arg1==1=2: character 20: '=' compares nothing, expected == or =~");
    assert_refused(
        GT_FILTER_TRIGGER, "-T", "f@color=red", GT_E_UNSUPPORTED,
        "-T f@color=red: character 3: an action of uftrace that guesttrace does not have");
    assert_refused(GT_FILTER_TRIGGER, "-T", "f@return:depth=3", GT_E_USAGE,
                   "-T f@return:depth=3: character 3: 'depth=' means nothing at the return");
    assert_refused(GT_FILTER_ONLY, "-F", "f@if:took>3", GT_E_USAGE,
                   "-F f@if:took>3: character 1: a value known at the return only cannot decide "
                   "whether to record; it can trigger actions");
    assert_refused(GT_FILTER_NOT, "-N", "f@depth=3", GT_E_USAGE,
                   "-N f@depth=3: character 3: 'depth=' is not for -N");
    assert_refused(GT_FILTER_PLACE, "-L", "f.c", GT_E_UNSUPPORTED,
                   "-L f.c: character 1: source lines are not known here");
    assert_refused(GT_FILTER_ONLY, "-F", "f@cpu=1", GT_E_UNSUPPORTED,
                   "-F f@cpu=1: character 7: the vCPU of a call is not known here");
    assert_refused(GT_FILTER_TASK, "--task", "", GT_E_USAGE,
                   "--task : character 1: expected the name of a task, or a glob");
    assert_refused(GT_FILTER_NO_HANDLERS, "--no-handlers", NULL, GT_E_UNSUPPORTED,
                   "--no-handlers: which calls are handlers is not known here");
    assert_refused(
        GT_FILTER_TRIGGER, "-T", "console:Oops", GT_E_UNSUPPORTED,
        "-T console:Oops: character 1: the machine's console is not seen here; "
        "'guesttrace record' sees it where it is QEMU's standard output (-nographic, -serial "
        "stdio), without --no-console");
}

static void test_refused_together(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    struct gt_error err;
    add(set, GT_FILTER_KERNEL_ONLY, NULL);
    add(set, GT_FILTER_KERNEL_ONLY, NULL);
    assert_int_equal(gt_filter_set_add(set, GT_FILTER_USER_ONLY, "--user-only", NULL, &err),
                     GT_E_USAGE);
    for (int i = 0; i < 64; i++) {
        char text[16];
        sprintf(text, "%d", i);
        add(set, GT_FILTER_VCPU, text);
        add(set, GT_FILTER_VCPU, text);
    }
    assert_int_equal(gt_filter_set_add(set, GT_FILTER_VCPU, "--vcpu", "64", &err), GT_E_RANGE);
    assert_int_equal(gt_filter_set_add(set, GT_FILTER_TRIGGER, "-T", "console:a@depth=1", &err),
                     GT_E_USAGE);
    gt_filter_set_free(set);
}

static void test_unused(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    struct gt_filter_unused u;
    add(set, GT_FILTER_ONLY, "f;libm:gg@depth=2");
    add(set, GT_FILTER_TRIGGER, "console:x;h@finish");
    verdict(set, "f");
    assert_true(gt_filter_set_unused(set, 0, &u));
    assert_string_equal(u.text, "libm:gg@depth=2");
    assert_string_equal(u.name, "gg");
    assert_string_equal(u.option, "-x");
    assert_true(gt_filter_set_unused(set, 1, &u));
    assert_string_equal(u.text, "console:x");
    assert_true(gt_filter_set_unused(set, 2, &u));
    assert_string_equal(u.text, "h@finish");
    assert_false(gt_filter_set_unused(set, 3, &u));
    verdict(set, "h");
    assert_false(gt_filter_set_unused(set, 2, &u));
    gt_filter_set_free(set);
}

static bool matters(enum gt_filter_option option, const char *value, const char *name)
{
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    add(set, option, value);
    struct gt_filter_verdict v = verdict(set, name);
    bool result = gt_filter_matters(set, &v);
    gt_filter_set_free(set);
    return result;
}

static void test_matters(void **state)
{
    (void)state;
    assert_true(matters(GT_FILTER_ONLY, "f", "g")); /* below f */
    assert_true(matters(GT_FILTER_NOT, "f", "f"));
    assert_false(matters(GT_FILTER_HIDE, "f", "f"));
    assert_true(matters(GT_FILTER_HIDE, "f", "g"));
    assert_false(matters(GT_FILTER_PLACE, "x.c", "f"));
    assert_true(matters(GT_FILTER_PLACE, "x.c@hide", "f"));
    assert_false(matters(GT_FILTER_SIZE, "65", "f"));
    assert_true(matters(GT_FILTER_SIZE, "64", "f"));
    assert_false(matters(GT_FILTER_KERNEL_ONLY, NULL, "f"));
    assert_true(matters(GT_FILTER_TRIGGER, "f@hide,depth=2", "f"));
    assert_true(matters(GT_FILTER_TRIGGER, "f@hide,mark=x", "f"));
    assert_true(matters(GT_FILTER_TRIGGER, "f@hide,count=3", "f"));
}

/* Patterns that are one name are found by it; of all that match each is there once, in order. */
static void test_thousand(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    char text[64];
    for (int i = 0; i < 1000; i++) {
        sprintf(text, i % 2 ? "name%d" : "^na.*e%d$", i);
        add(set, i % 3 ? GT_FILTER_NOT : GT_FILTER_ONLY, text);
    }
    for (int i = 0; i < 1000; i++) {
        sprintf(text, "name%d", i);
        assert_int_equal(verdict(set, text).bits, i % 3 ? GT_VERDICT_NOT : GT_VERDICT_ONLY);
        sprintf(text, "named%d", i);
        assert_int_equal(verdict(set, text).bits, 0);
    }
    add(set, GT_FILTER_NOT, "name");
    struct gt_filter_unused u;
    assert_true(gt_filter_set_unused(set, 0, &u));
    assert_string_equal(u.text, "name");
    assert_false(gt_filter_set_unused(set, 1, &u));
    gt_filter_set_free(set);
}

/* What triggers record, and what conditions compare, is known to who records; and what no call had.
 */
static void test_recorded_values(void **state)
{
    static const char *const want[] = {"arg1/s,retval/d32", "arg2/s", "retval", "fparg1", NULL};
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    struct gt_filter_value v;
    struct gt_filter_unused unused;
    size_t i = 0;
    (void)state;
    add(set, GT_FILTER_TRIGGER, "f@arg1/s,retval/d32");
    assert_true(gt_filter_set_is_empty(set));
    assert_true(gt_filter_set_only_watches(set));
    add(set, GT_FILTER_TRIGGER, "g@mark=x,if:arg2==\"y\"&&retval<0&&count>2&&fparg1>1");
    assert_false(gt_filter_set_is_empty(set));
    for (; gt_filter_set_value(set, i, &v); i++) {
        assert_string_equal(v.items, want[i]);
        assert_int_equal(v.implied, i > 0);
        assert_string_equal(v.option, "-x");
    }
    assert_null(want[i]);
    assert_true(gt_filter_set_unused(set, 0, &unused));
    assert_null(unused.value); /* a pattern */
    gt_filter_set_free(set);
}

static void test_many_triggers(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    const struct gt_filter_function f = {.name = "f"};
    struct gt_filter_verdict v, w;
    for (int i = 0; i < 32; i++)
        add(set, GT_FILTER_TRIGGER, "f@finish");
    assert_int_equal(gt_filter_verdict(set, &f, &v), 0);
    assert_int_equal(gt_filter_verdict(set, &f, &w), 0);
    assert_ptr_equal(v.rules, w.rules);
    add(set, GT_FILTER_TRIGGER, "f@finish");
    assert_int_equal(gt_filter_verdict(set, &f, &v), GT_E_RANGE);
    gt_filter_set_free(set);
}

static void test_empty(void **state)
{
    (void)state;
    struct gt_filter_set *set = new_set(GT_FILTER_MATCH_REGEX, 0);
    assert_true(gt_filter_set_is_empty(set));
    add(set, GT_FILTER_OFF, NULL);
    assert_false(gt_filter_set_is_empty(set));
    gt_filter_set_free(set);
    gt_filter_set_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_together),
        cmocka_unit_test(test_unused),
        cmocka_unit_test(test_matters),
        cmocka_unit_test(test_thousand),
        cmocka_unit_test(test_many_triggers),
        cmocka_unit_test(test_recorded_values),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
