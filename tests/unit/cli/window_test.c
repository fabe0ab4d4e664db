/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a window: times, tasks by name and number, near names; amounts of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/amount.h"
#include "cli/opened.h"
#include "cli/window.h"
#include "filter/nearest.h"

#include <stdio.h>
#include <string.h>

/* ---- a recording --------------------------------------------------------------------------- */

int gtrace_facts(const struct gtrace *t, struct gtrace_facts *out)
{
    (void)t;
    *out = (struct gtrace_facts){.path = "REC", .first = 1000, .last = 5001000};
    return 0;
}

static const struct gtrace_mark marks[] = {{.time = 1500, .text = "[    0.000000] Linux"},
                                           {.time = 2500, .text = "[    0.860000] Run /init"},
                                           {.time = 3500, .text = "done"},
                                           {.time = 4500, .text = "[99999999999999.0] done"}};
static size_t n_marks = sizeof marks / sizeof marks[0];

size_t gtrace_n_marks(const struct gtrace *t)
{
    (void)t;
    return n_marks;
}

int gtrace_mark(const struct gtrace *t, size_t index, struct gtrace_mark *out)
{
    (void)t;
    *out = marks[index];
    return 0;
}

int gtrace_choose_tasks(const struct gtrace *t, const char *pattern, bool *chosen, size_t n,
                        struct gtrace_error *err)
{
    (void)t, (void)chosen, (void)n;
    if (strcmp(pattern, "sh") == 0)
        return 0;
    snprintf(err->text, sizeof err->text, "REC: no task '%s'", pattern);
    return GTRACE_E_NOT_FOUND;
}

int gt_cli_opened_fail(struct gt_error *err, int status, const struct gtrace_error *from)
{
    return gt_error_set(err, status, "%s", from->text);
}

/* The filter is what was added, as text. */
int gtrace_filter_new(struct gtrace *t, int glob, struct gtrace_filter **out,
                      struct gtrace_error *err)
{
    GString *text = g_string_new(glob ? "glob" : "regex");
    (void)t, (void)err;
    *out = (struct gtrace_filter *)(void *)text;
    return 0;
}

int gtrace_filter_add(struct gtrace_filter *f, enum gtrace_filter_option option, const char *value,
                      struct gtrace_error *err)
{
    (void)err;
    g_string_append_printf((GString *)(void *)f, " %d=%s", option, value ? value : "");
    return 0;
}

void gtrace_filter_free(struct gtrace_filter *f)
{
    if (f)
        g_string_free((GString *)(void *)f, TRUE);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void reads_times(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"0", 0},
                {"0s", 0},
                {"100ns", 100},
                {"5us", 5000},
                {"300ms", 300000000},
                {"1.2s", 1200000000},
                {"0.000000001s", 1},
                {"2.123456789s", 2123456789},
                {"1.0005us", 1000},
                {"1.5m", UINT64_C(90000000000)},
                {"18446744073.709551615s", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "1.s",
                                      "5",
                                      "s",
                                      ".5s",
                                      "1h",
                                      "1 s",
                                      "-1s",
                                      "1e3s",
                                      "1.2",
                                      "1,2s",
                                      "18446744073.709551616s",
                                      "99999999999999999999ns",
                                      "1s2"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t ns = 7;
        struct gt_error err = {0};
        assert_int_equal(gt_cli_window_time("from", good[i].text, &ns, &err), 0);
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ns;
        struct gt_error err = {0};
        assert_int_equal(gt_cli_window_time("from", bad[i], &ns, &err), GT_E_USAGE);
        assert_non_null(strstr(err.text, "option '--from' takes a time with its unit"));
    }
}

static void makes_windows(void **state)
{
    const struct gt_cli_window_options o = {
        .from = "1us", .to = "2ms", .min_time = "10ns", .depth = 3};
    struct gt_cli_window w;
    (void)state;
    assert_int_equal(gt_cli_window_make(&o, NULL, &w, NULL), 0);
    assert_int_equal(w.part.from, 2000);
    assert_int_equal(w.part.to, 2001000);
    assert_int_equal(w.part.min_time, 10);
    assert_int_equal(w.part.depth, 3);
    assert_null(w.part.tasks);
    gt_cli_window_clear(&w);
}

static void refuses_times(void **state)
{
    struct gt_cli_window_options late = {.from = "6ms"}, turned = {.from = "2us", .to = "1us"};
    struct gt_cli_window w;
    struct gt_error err = {0};
    (void)state;
    assert_int_equal(gt_cli_window_make(&late, NULL, &w, &err), GT_E_RANGE);
    assert_string_equal(err.text, "REC: --from 6ms is after its end, at 5.000 ms");
    assert_int_equal(gt_cli_window_make(&turned, NULL, &w, &err), GT_E_USAGE);
    assert_string_equal(err.text, "--to 1us is before --from 2us");
}

static void names_tasks(void **state)
{
    struct gt_cli_window_options o = {.tasks = g_ptr_array_new()};
    struct gt_cli_window w;
    struct gt_error err = {0};
    (void)state;
    g_ptr_array_add(o.tasks, (char *)(uintptr_t) "sh");
    assert_int_equal(gt_cli_window_make(&o, NULL, &w, &err), 0);
    assert_string_equal(w.part.tasks[0], "sh");
    assert_null(w.part.tasks[1]);
    gt_cli_window_clear(&w);
    g_ptr_array_add(o.tasks, (char *)(uintptr_t) "xyz");
    assert_int_equal(gt_cli_window_make(&o, NULL, &w, &err), GT_E_NOT_FOUND);
    assert_string_equal(err.text, "REC: no task 'xyz'");
    gt_cli_window_clear(&w);
    g_ptr_array_free(o.tasks, TRUE);
}

/* -F and -N keep their order, other options come behind them; depth and time are the filter's. */
static void makes_filters(void **state)
{
    struct gt_cli_window_options o = {.areas = g_ptr_array_new(),
                                      .hides = g_ptr_array_new(),
                                      .match = "glob",
                                      .depth = 3,
                                      .min_time = "1us",
                                      .trace = "off"};
    struct gt_cli_window w;
    struct gt_error err = {0};
    (void)state;
    g_ptr_array_add(o.areas, (char *)(uintptr_t) "!a");
    g_ptr_array_add(o.areas, (char *)(uintptr_t) "b");
    g_ptr_array_add(o.hides, (char *)(uintptr_t) "c");
    assert_int_equal(gt_cli_window_make(&o, NULL, &w, &err), 0);
    assert_string_equal(((GString *)(void *)w.part.filter)->str,
                        "glob 1=a 0=b 3=c 8=3 9=1000ns 10=");
    assert_int_equal(w.part.depth, 0);
    assert_int_equal(w.part.min_time, 0);
    gt_cli_window_clear(&w);
    g_ptr_array_free(o.areas, TRUE);
    g_ptr_array_free(o.hides, TRUE);
}

static void finds_near_names(void **state)
{
    static const char *const offered[] = {"vfs_write", "vfs_read", "vfs_readv",     "ksys_read",
                                          "vfs_reed",  "vfs_read", "do_vfs_raed_it"};
    struct gt_filter_nearest l = {.wanted = "vfs_raed"};
    (void)state;
    for (size_t i = 0; i < sizeof offered / sizeof *offered; i++)
        gt_filter_nearest_offer(&l, offered[i]);
    g_autofree char *text = gt_filter_nearest_text(&l);
    assert_string_equal(text, "; near to it: vfs_read, vfs_reed, do_vfs_raed_it");
    struct gt_filter_nearest none = {.wanted = "zzzz"};
    gt_filter_nearest_offer(&none, "vfs_write");
    g_autofree char *nothing = gt_filter_nearest_text(&none);
    assert_string_equal(nothing, "");
}

static void prints_times(void **state)
{
    static const struct {
        uint64_t ns;
        const char *column, *text;
    } times[] = {
        {0, "  0.000 us", "0.000 us"},
        {1, "  0.001 us", "0.001 us"},
        {999999, "999.999 us", "999.999 us"},
        {1000000, "  1.000 ms", "1.000 ms"},
        {2345678, "  2.345 ms", "2.345 ms"},
        {UINT64_C(999999999999), "999.999  s", "999.999 s"},
        {UINT64_C(1000000000000), " 16.666  m", "16.666 m"},
        {UINT64_C(90000) * 1000000000, " 25.000  h", "25.000 h"},
        {UINT64_MAX, "999.999  h", "999.999 h"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char column[GT_AMOUNT_TIME_WIDTH + 1] = {0};
        assert_ptr_equal(gt_cli_amount_put_time(column, times[i].ns),
                         column + GT_AMOUNT_TIME_WIDTH);
        assert_string_equal(column, times[i].column);
        g_autofree char *text = gt_cli_amount_time(times[i].ns);
        assert_string_equal(text, times[i].text);
    }
}

/* A line of the console, or the time that it has. */
static void finds_texts(void **state)
{
    static const struct {
        const char *from, *to;
        int status;
        uint64_t begin, end;
    } given[] = {
        {"Run /init", NULL, 0, 2500, 0},       {"[0.86]", NULL, 0, 2500, 0},
        {"[0.5]", "done", 0, 2500, 3500},      {"[0]", "[0.1]", 0, 1500, 2500},
        {"done", "done", 0, 3500, 3500},       {"[0.87]", NULL, GT_E_NOT_FOUND, 0, 0},
        {"Halt", NULL, GT_E_NOT_FOUND, 0, 0},  {"done", "Linux", GT_E_NOT_FOUND, 3500, 0},
        {"[0.86", NULL, GT_E_NOT_FOUND, 0, 0}, {"1us", "[0.1]", 0, 2000, 2500},
    };
    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        const struct gt_cli_window_options o = {.from = given[i].from, .to = given[i].to};
        struct gt_cli_window w;
        struct gt_error err;
        assert_int_equal(gt_cli_window_make(&o, NULL, &w, &err), given[i].status);
        assert_int_equal(w.part.from, given[i].begin);
        assert_int_equal(w.part.to, given[i].end);
        gt_cli_window_clear(&w);
    }
    n_marks = 0;
    struct gt_cli_window w;
    struct gt_error err;
    const struct gt_cli_window_options o = {.from = "Linux"};
    assert_int_equal(gt_cli_window_make(&o, NULL, &w, &err), GT_E_USAGE);
    n_marks = sizeof marks / sizeof marks[0];
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(reads_times),   cmocka_unit_test(makes_windows),
        cmocka_unit_test(refuses_times), cmocka_unit_test(names_tasks),
        cmocka_unit_test(makes_filters), cmocka_unit_test(finds_near_names),
        cmocka_unit_test(finds_texts),   cmocka_unit_test(prints_times),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
