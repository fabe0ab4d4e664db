/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that a user names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls/read/function_pattern.h"
#include "names/image/demangle.h"

static const struct gt_calls_function functions[] = {
    {.name = "main", .module = "/bin/prog"},
    {.name = "_ZN2ns1fEi", .module = "/bin/prog"},
    {.name = "fork()", .module = "/lib/libc.so.6"},
    {.name = "vmlinux:schedule", .module = "vmlinux"},
    {.name = "<1a2b>", .module = ""},
    {.name = "_ZNK2ns1gclEPFivE", .module = "/lib/libc.so.6"},
};
enum { N = sizeof functions / sizeof *functions };

/* Which functions match, as bits. */
static int chosen(const char *pattern)
{
    struct gt_image_demangler *d = gt_image_demangler_create();
    int found = 0;
    for (int i = 0; i < N; i++)
        found |= gt_calls_function_pattern_matches(pattern, &functions[i],
                                                   gt_image_demangle(d, functions[i].name))
                 << i;
    gt_image_demangler_destroy(d);
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
        {"mian", 0},
        {"libc:main", 0},
        {":main", 0},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s\n", cases[i].pattern);
        assert_int_equal(chosen(cases[i].pattern), cases[i].functions);
    }
}

static void has_a_name(void **state)
{
    (void)state;
    assert_string_equal(gt_calls_function_pattern_name("libc.so.6:fork"), "fork");
    assert_string_equal(gt_calls_function_pattern_name("ns::f"), "ns::f");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(chooses),
        cmocka_unit_test(has_a_name),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
