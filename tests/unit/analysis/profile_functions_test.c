/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of functions, of made-up recordings that are cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls/profile/functions.h"
#include "profile_text.h"

/* "name calls total(+nested) min..max self min..max", functions in their order. */
static const char *functions_of(struct gt_calls *c)
{
    struct gt_profile_function_table f;
    struct gt_error err = {0};
    len = 0;
    text[0] = '\0';
    assert_int_equal(gt_profile_function_table_make(c, NULL, 0, &f, &err), 0);
    for (size_t i = 0; i < f.n; i++) {
        const struct gt_profile_function_sums *s = &f.row[i].sums;
        add_text("%s %d %d+%d %d..%d %d %d..%d\n", fake_function(f.row[i].function)->name,
                 (int)s->calls, (int)s->total, (int)s->nested, (int)s->total_min, (int)s->total_max,
                 (int)s->self, (int)s->self_min, (int)s->self_max);
    }
    gt_profile_function_table_clear(&f);
    return text;
}

static const char *answer_functions(struct gt_calls *c, const void *options)
{
    (void)options;
    return functions_of(c);
}

static const char *const one[] = {"ab)bc)))", NULL};
static const char *const recursive[] = {"aa)ba)))", NULL};
static const char *const several[] = {"ab)c)bb)))", "cb))a)", "bA))", NULL};

static void sums_functions(void **state)
{
    (void)state;
    check_cuts(answer_functions, NULL, one,
               "a 1 70+0 70..70 30 30..30\n"
               "b 2 40+0 10..30 30 10..20\n"
               "c 1 10+0 10..10 10 10..10\n");
}

static void counts_recursion_once(void **state)
{
    (void)state;
    check_cuts(answer_functions, NULL, recursive,
               "a 3 70+20 10..70 50 10..30\n"
               "b 1 30+0 30..30 20 20..20\n");
}

static void adds_tasks_and_names(void **state)
{
    (void)state;
    check_cuts(answer_functions, NULL, several,
               "a 3 110+0 10..90 60 10..40\n"
               "b 5 80+10 10..30 70 10..20\n"
               "c 2 40+0 10..30 30 10..20\n");
}

static const char *answer_slept(struct gt_calls *c, const void *window)
{
    struct gt_profile_function_table f;
    len = 0;
    text[0] = '\0';
    assert_int_equal(gt_profile_function_table_make(c, window, 0, &f, NULL), 0);
    for (size_t i = 0; i < f.n; i++) {
        const struct gt_profile_function_sums *s = &f.row[i].sums;
        add_text("%s %d %d+%d %d..%d slept %d\n", fake_function(f.row[i].function)->name,
                 (int)s->calls, (int)s->total, (int)s->nested, (int)s->total_min, (int)s->total_max,
                 (int)s->slept);
    }
    gt_profile_function_table_clear(&f);
    return text;
}

static void leaves_sleep_out(void **state)
{
    static const char *const texts[] = {"ab*)a*))))", NULL};
    const struct gt_calls_window wall = {.wall = true};
    (void)state;
    check_cuts(answer_slept, NULL, texts,
               "a 2 70+20 20..70 slept 20\n"
               "b 1 50+0 50..50 slept 20\n");
    check_cuts(answer_slept, &wall, texts,
               "* 2 20+0 10..10 slept 0\n"
               "a 2 90+30 30..90 slept 0\n"
               "b 1 70+0 70..70 slept 0\n");
}

static void reports_failure(void **state)
{
    static const char *const texts[] = {"ab))", NULL};
    struct gt_calls c = {.text = texts, .shares = 2, .fail = GT_E_FORMAT};
    struct gt_error err = {0};
    struct gt_profile_function_table f;
    (void)state;
    assert_int_equal(gt_profile_function_table_make(&c, NULL, 0, &f, &err), GT_E_FORMAT);
    assert_string_equal(err.text, "the scan failed");
    assert_null(f.row);
}

static void reads_nothing(void **state)
{
    static const char *const none[] = {NULL};
    struct gt_calls c = {.text = none, .shares = 1};
    (void)state;
    assert_string_equal(functions_of(&c), "");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(sums_functions),       cmocka_unit_test(counts_recursion_once),
        cmocka_unit_test(adds_tasks_and_names), cmocka_unit_test(reports_failure),
        cmocka_unit_test(reads_nothing),        cmocka_unit_test(leaves_sleep_out),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
