/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that a user names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/function_pattern.h"

static const struct gt_calls_function functions[] = {
    {.name = "main", .module = "/bin/prog"},
    {.name = "_ZN2ns1fEi", .module = "/bin/prog"},
    {.name = "fork()", .module = "/lib/libc.so.6"},
    {.name = "vmlinux:schedule", .module = "vmlinux"},
    {.name = "<1a2b>", .module = ""},
    {.name = "_ZNK2ns1gclEPFivE", .module = "/lib/libc.so.6"},
};
enum { N = sizeof functions / sizeof *functions };

static const struct gt_calls_facts facts = {.path = "REC"};

const struct gt_calls_function *gt_calls_function(const struct gt_calls *c, uint32_t index)
{
    (void)c;
    return &functions[index];
}

const struct gt_calls_facts *gt_calls_facts(const struct gt_calls *c)
{
    (void)c;
    return &facts;
}

/* Which functions match, as bits; below 0: the error. */
static int chosen(const char *pattern, struct gt_error *err)
{
    struct gt_demangler *d = gt_demangler_create();
    bool all[N] = {false};
    int found = gt_function_pattern_choose(NULL, N, d, pattern, all, err);
    for (int i = 0; found >= 0 && i < N; i++)
        found |= all[i] << i;
    gt_demangler_destroy(d);
    return found;
}

static void chooses(void **state)
{
    static const struct {
        const char *pattern;
        int functions;
    } cases[] = {
        {"main", 1},
        {"m*n", 1},
        {"mai?", 1},
        {"prog:main", 1},
        {"prog:*", 1 | 2},
        {"*:ma*", 1},
        {"ns::f", 2},
        {"ns::f(int)", 2},
        {"_ZN2ns1fEi", 2},
        {"prog:ns::f", 2},
        {"ns::*", 2 | 32},
        {"fork", 4},
        {"fork()", 4},
        {"libc.so.6:fork", 4},
        {"libc*:*", 4 | 32},
        {"vmlinux:schedule", 8},
        {"*:schedule", 8},
        {"<1a2b>", 16},
        {"ns::g::operator()", 32},
        {"*", 63},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_error err = {0};
        print_message("%s\n", cases[i].pattern);
        assert_int_equal(chosen(cases[i].pattern, &err), cases[i].functions);
    }
}

static void names_near_ones(void **state)
{
    struct gt_error err = {0};
    (void)state;
    assert_int_equal(chosen("mian", &err), GT_E_NOT_FOUND);
    assert_string_equal(err.text, "REC: no function 'mian' was called; near to it: main");
    assert_int_equal(chosen("libc:main", &err), GT_E_NOT_FOUND);
    assert_string_equal(err.text, "REC: no function 'libc:main' was called; near to it: main");
    assert_int_equal(chosen("libc.so.6:xyzzy", &err), GT_E_NOT_FOUND);
    assert_string_equal(err.text, "REC: no function 'libc.so.6:xyzzy' was called");
    assert_int_equal(chosen(":main", &err), GT_E_NOT_FOUND);
    assert_int_equal(chosen("", &err), GT_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(chooses),
        cmocka_unit_test(names_near_ones),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
