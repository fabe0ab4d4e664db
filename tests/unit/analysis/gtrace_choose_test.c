/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What patterns choose in libgtrace, and what it says of those that choose nothing. */
#include "calls_util.h"
#include "gtrace/gtrace.h"

enum { TASKS = 3, ALL = FUNCTIONS + 2 };

/* Tasks 50 (with two names), 51 and 60; f1 calls f2, which calls f3. */
static struct gtrace *open_recording(void)
{
    const struct gt_uftrace_dir d = make_dir("rec");
    const struct gt_compact_record calls[] = {
        {1000, gt_uftrace_entry(0, address_of(1))}, {2000, gt_uftrace_entry(1, address_of(2))},
        {3000, gt_uftrace_entry(2, address_of(3))}, {4000, gt_uftrace_exit(2, address_of(3))},
        {5000, gt_uftrace_exit(1, address_of(2))},  {6000, gt_uftrace_exit(0, address_of(1))}};
    struct gtrace *t = NULL;
    struct gtrace_error err = {.size = sizeof err};
    put_info(&d);
    put_program(&d);
    gt_uftrace_dir_add_session(&d, 5, 50, SID, PROGRAM, NULL);
    gt_uftrace_dir_add_task(&d, 5, 50, 50, NULL);
    gt_uftrace_dir_add_task(&d, 7, 51, 50, NULL);
    gt_uftrace_dir_add_fork(&d, 20, 60, 50, NULL);
    gt_uftrace_dir_add_name(&d, 12, 50, 50, "init", NULL);
    gt_uftrace_dir_add_name(&d, 14, 50, 50, "sh", NULL);
    gt_uftrace_dir_add_name(&d, 14, 51, 50, "50", NULL);
    gt_uftrace_dir_add_name(&d, 30, 60, 60, "kworker/0:1", NULL);
    put_records(&d, 50, calls, G_N_ELEMENTS(calls));
    if (gtrace_open(d.path, NULL, &t, &err) < 0)
        fail_msg("%s", err.text);
    return t;
}

/* An error without the folder of the recording. */
static const char *text_of(const struct gtrace_error *err)
{
    const char *at = strstr(err->text, "rec: ");
    return at ? at : err->text;
}

/* ---- tasks and functions ------------------------------------------------------------------- */

static int tasks(struct gtrace *t, const char *pattern, struct gtrace_error *err)
{
    bool chosen[TASKS] = {false};
    int found = gtrace_choose_tasks(t, pattern, chosen, TASKS, err);
    for (int i = 0; found >= 0 && i < TASKS; i++)
        found |= chosen[i] << i;
    return found;
}

static void chooses_tasks(void **state)
{
    struct gtrace *t = open_recording();
    struct gtrace_error err = {.size = sizeof err};
    (void)state;
    assert_int_equal(tasks(t, "sh", &err), 1);
    assert_int_equal(tasks(t, "init", &err), 1); /* an earlier name */
    assert_int_equal(tasks(t, "k*", &err), 4);
    assert_int_equal(tasks(t, "*", &err), 7);
    assert_int_equal(tasks(t, "50", &err), 1); /* the number before the name */
    assert_int_equal(tasks(t, "51", &err), 2);
    assert_int_equal(tasks(t, "kworker/0:2", &err), GTRACE_E_NOT_FOUND);
    assert_string_equal(text_of(&err), "rec: no task 'kworker/0:2'; near to it: kworker/0:1");
    assert_int_equal(tasks(t, "xyz", &err), GTRACE_E_NOT_FOUND);
    assert_string_equal(text_of(&err), "rec: no task 'xyz'");
    assert_int_equal(gtrace_choose_tasks(t, "sh", NULL, 0, NULL), 0);
    gtrace_close(t);
}

static int no_event(void *user, const struct gtrace_event *e)
{
    (void)user, (void)e;
    return 0;
}

static void chooses_functions(void **state)
{
    struct gtrace *t = open_recording();
    struct gtrace_error err = {.size = sizeof err};
    bool chosen[ALL] = {false};
    (void)state;
    assert_int_equal(gtrace_walk(t, NULL, no_event, NULL, NULL), 0);
    const size_t n = gtrace_n_functions(t);
    assert_true(n <= ALL);
    assert_int_equal(gtrace_choose_functions(t, "prog:f[12]", chosen, n, &err), GTRACE_E_NOT_FOUND);
    assert_int_equal(gtrace_choose_functions(t, "prog:f2", chosen, n, &err), 0);
    for (uint32_t i = 0; i < n; i++) {
        struct gtrace_function f = {.size = sizeof f};
        gtrace_function(t, i, &f);
        assert_int_equal(chosen[i], strcmp(f.name, "f2") == 0);
    }
    assert_int_equal(gtrace_choose_functions(t, "lib:f1x", chosen, n, &err), GTRACE_E_NOT_FOUND);
    assert_string_equal(text_of(&err), "rec: no function 'lib:f1x' was called; near to it: f1");
    gtrace_close(t);
}

/* ---- filters ------------------------------------------------------------------------------- */

static int note(void *user, const struct gtrace_event *e)
{
    GString *text = user;
    if (e->kind == GTRACE_ENTRY)
        g_string_append_printf(text, "%u:%llu ", e->depth, (unsigned long long)e->time);
    return 0;
}

/* What a filter leaves, as "DEPTH:TIME " of each entry. */
static char *left_by(struct gtrace *t, struct gtrace_filter *f)
{
    const struct gtrace_window w = {.size = sizeof w, .filter = f};
    GString *text = g_string_new(NULL);
    assert_int_equal(gtrace_walk(t, &w, note, text, NULL), 0);
    return g_string_free(text, FALSE);
}

static void filters(void **state)
{
    struct gtrace *t = open_recording();
    struct gtrace_filter *f;
    struct gtrace_error err = {.size = sizeof err};
    (void)state;
    assert_int_equal(gtrace_filter_new(t, 1, &f, &err), 0);
    assert_int_equal(gtrace_filter_add(f, GTRACE_FILTER, "f2", &err), 0);
    assert_int_equal(gtrace_filter_add(f, GTRACE_NOTRACE, "f9", &err), 0);
    g_autofree char *left = left_by(t, f);
    assert_string_equal(left, "0:2000 1:3000 ");
    snprintf(err.text, sizeof err.text, "%s", gtrace_filter_unused(f, 0));
    assert_string_equal(text_of(&err),
                        "rec: -N f9 matches no function that was called; near to it: f1, f2, f3");
    assert_null(gtrace_filter_unused(f, 1));
    gtrace_filter_free(f);

    assert_int_equal(gtrace_filter_new(t, 0, &f, &err), 0);
    assert_int_equal(gtrace_filter_add(f, GTRACE_HIDE, "^f[12]$", &err), 0);
    g_autofree char *hidden = left_by(t, f);
    assert_string_equal(hidden, "0:3000 ");
    assert_int_equal(gtrace_filter_add(f, GTRACE_FILTER, "(", &err), GTRACE_E_USAGE);
    assert_non_null(strstr(err.text, "-F"));
    assert_int_equal(gtrace_filter_add(f, GTRACE_TIME_FILTER, "soon", &err), GTRACE_E_USAGE);
    assert_int_equal(gtrace_filter_add(f, (enum gtrace_filter_option)99, "x", &err),
                     GTRACE_E_USAGE);
    assert_int_equal(gtrace_filter_add(f, GTRACE_DEPTH, NULL, &err), GTRACE_E_USAGE);
    gtrace_filter_free(f);
    gtrace_filter_free(NULL);
    gtrace_close(t);
}

/* ---- sums and trees ------------------------------------------------------------------------ */

static void sums(void **state)
{
    struct gtrace *t = open_recording();
    struct gtrace_sum *sum;
    struct gtrace_node *node, *part;
    struct gtrace_error err = {.size = sizeof err};
    bool chosen[ALL] = {false};
    size_t stride;
    (void)state;
    assert_int_equal(gtrace_sums(t, NULL, GTRACE_BY_TASK, &sum, &stride, &err), 1);
    assert_int_equal(sum->calls, 3);
    assert_int_equal(sum->functions, 3);
    assert_int_equal(sum->total, 5000);
    gtrace_free(sum);
    assert_int_equal(gtrace_sums(t, NULL, GTRACE_BY_MODULE, &sum, &stride, &err), 1);
    assert_int_equal(sum->self, 5000);
    gtrace_free(sum);
    assert_int_equal(gtrace_sums(t, NULL, (enum gtrace_by)7, &sum, &stride, &err), GTRACE_E_USAGE);

    assert_int_equal(gtrace_tree(t, NULL, NULL, &node, &stride, &err), 4);
    assert_int_equal(stride, sizeof *node);
    assert_int_equal(node[0].parent, GTRACE_NONE);
    assert_int_equal(node[0].function, 0);
    assert_int_equal(node[3].depth, 3);
    assert_int_equal(node[3].self, 1000);
    const struct gtrace_tree_options callers = {.size = sizeof callers, .callers = 1};
    assert_int_equal(gtrace_choose_functions(t, "f2", chosen, gtrace_n_functions(t), NULL), 0);
    assert_int_equal(gtrace_tree_of(t, node, 4, chosen, NULL, &part, &stride, &err), 3);
    assert_int_equal(part[1].function, node[2].function);
    assert_int_equal(part[2].function, node[3].function);
    gtrace_free(part);
    assert_int_equal(gtrace_tree_of(t, node, 4, chosen, &callers, &part, &stride, &err), 3);
    assert_int_equal(part[2].function, node[1].function);
    assert_int_equal(part[2].total, 3000);
    gtrace_free(part);
    gtrace_free(node);
    const struct gtrace_tree_options tasks_of = {.size = sizeof tasks_of,
                                                 .kind = GTRACE_TREE_TASKS};
    assert_int_equal(gtrace_tree(t, NULL, &tasks_of, &node, &stride, &err), 4);
    assert_int_equal(node[0].end, 4);
    gtrace_free(node);
    const struct gtrace_tree_options wrong = {.size = sizeof wrong, .kind = 9};
    assert_int_equal(gtrace_tree(t, NULL, &wrong, &node, &stride, &err), GTRACE_E_USAGE);
    gtrace_close(t);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(chooses_tasks),
        cmocka_unit_test(chooses_functions),
        cmocka_unit_test(filters),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(all, make_scratch, remove_scratch);
}
