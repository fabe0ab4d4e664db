/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plugin writes into a recording and the command reads: each form there and back, and cut at
 * every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "etrace/format/mapping.h"
#include "recording/texts/code_found.h"
#include "recording/texts/guest_tasks.h"
#include "recording/texts/handlers.h"
#include "recording/texts/stats.h"
#include "recording/texts/tasks.h"

#include <stdlib.h>
#include <string.h>

static char *text_of(struct gt_text *t)
{
    gt_text_add(t, "", 1);
    char *text = strdup(t->data);
    gt_text_free(t);
    return text;
}

static void test_tasks(void **state)
{
    (void)state;
    enum { VCPUS = 16, LEVELS = 8 };
    uint32_t seen[VCPUS * LEVELS];
    size_t n = 0;
    for (unsigned vcpu = 0; vcpu < VCPUS; vcpu++) {
        assert_true(gt_recording_task_is_vcpu(gt_recording_task_of_vcpu(vcpu)));
        for (unsigned level = 0; level < LEVELS; level++) {
            uint32_t id = gt_recording_task_of_level(vcpu, level);
            assert_true(gt_recording_task_is_vcpu(id));
            for (size_t i = 0; i < n; i++)
                assert_int_not_equal(seen[i], id);
            seen[n++] = id;
        }
    }
    assert_int_equal(gt_recording_task_of_level(0, 2), 102);
    assert_int_equal(gt_recording_task_of_level(8, 99), 999);
    assert_int_equal(gt_recording_task_of_level(9, 1), 100001001);
    assert_false(gt_recording_task_is_vcpu(GT_TASK_STACK));
    assert_false(gt_recording_task_is_vcpu(GT_TASK_STACK + 1000000));
}

static void add(void *self, uint64_t address)
{
    *(uint64_t *)self += address;
}

static void test_handlers(void **state)
{
    (void)state;
    static const char *const bad[] = {"", " 1", "1 ", "0x1", "g", "1000000000000", "-1"};
    struct gt_text t = {0};
    uint64_t got;
    gt_recording_handler_put(&t, 0xffff80001234);
    gt_recording_handler_put(&t, 1);
    assert_string_equal(t.data, "ffff80001234\n1\n");
    gt_text_free(&t);
    assert_true(gt_recording_handler_parse("ffff80001234", &got));
    assert_int_equal(got, 0xffff80001234);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(gt_recording_handler_parse(bad[i], &got));
    char text[] = "10\n\nno\n2";
    uint64_t sum = 0;
    gt_recording_handlers_parse(text, add, &sum);
    assert_int_equal(sum, 0x12);
}

static void test_guest_tasks(void **state)
{
    (void)state;
    static const struct gt_recording_guest_task tasks[] = {{1001, 0, 0, "swapper/0"},
                                                           {UINT32_MAX, 7, 4, "a b"},
                                                           {1002, 1, 1, ""},
                                                           {1003, 12, 12, "fifteen bytes.."}};
    struct gt_recording_guest_task got;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct gt_text t = {0};
        gt_recording_guest_task_put(&t, &tasks[i]);
        char *line = text_of(&t);
        line[strlen(line) - 1] = '\0';
        assert_true(gt_recording_guest_task_parse(line, &got));
        assert_memory_equal(&got.task, &tasks[i].task,
                            offsetof(struct gt_recording_guest_task, comm));
        assert_string_equal(got.comm, tasks[i].comm);
        for (size_t n = strlen(line) - strlen(tasks[i].comm); n-- > 0;) {
            line[n] = '\0';
            assert_false(gt_recording_guest_task_parse(line, &got));
        }
        free(line);
    }
    static const char *const none[] = {
        "",         "a 1 1 x",  "4294967296 1 1 x",  "1 99999999999 1 x", "-1 1 1 x",
        "1  1 1 x", " 1 1 1 x", "1 00000000001 1 x", "1 4294967296 1 x",  "1 1 1",
        "1\t1 1 x", "0x1 1 1 x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(gt_recording_guest_task_parse(none[i], &got));
    assert_true(gt_recording_guest_task_parse("0000000001 4294967295 0 x", &got));
    assert_true(got.task == 1 && got.pid == UINT32_MAX && got.tgid == 0);
    assert_true(gt_recording_guest_task_parse("1 2 3 a name that is too long", &got));
    assert_string_equal(got.comm, "a name that is ");
}

static void test_code_found(void **state)
{
    (void)state;
    static const size_t functions[] = {0, 15, SIZE_MAX};
    struct gt_text t = {0};
    uint64_t module, offset, function;
    struct gt_text_cursor rest;
    gt_recording_code_found_begin(&t, 12, UINT64_MAX);
    for (size_t i = 0; i < 3; i++)
        gt_recording_code_found_function(&t, functions[i]);
    gt_recording_code_found_end(&t);
    char *line = text_of(&t);
    assert_string_equal(line, "12 ffffffffffffffff 0 f ffffffffffffffff\n");
    line[strlen(line) - 1] = '\0';
    assert_true(gt_recording_code_found_parse(line, &module, &offset, &rest));
    assert_true(module == 12 && offset == UINT64_MAX);
    for (size_t i = 0; i < 3; i++) {
        assert_true(gt_recording_code_found_next(&rest, &function));
        assert_true(function == functions[i]);
    }
    assert_false(gt_recording_code_found_next(&rest, &function));
    for (size_t n = strlen(line); n-- > 0;) {
        line[n] = '\0';
        assert_int_equal(gt_recording_code_found_parse(line, &module, &offset, &rest), n > 3);
    }
    free(line);
    static const char *const none[] = {"1 10000000000000000",
                                       "18446744073709551616 0",
                                       "1 g",
                                       "1  0",
                                       "x 0",
                                       "1 0x0",
                                       "1 A",
                                       "1 aA",
                                       "1a 0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(gt_recording_code_found_parse(none[i], &module, &offset, &rest));
    static const char *const cut[] = {"1 2 A", "1 2 10000000000000000", "1 2  3", "1 2 x"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        assert_true(gt_recording_code_found_parse(cut[i], &module, &offset, &rest));
        assert_false(gt_recording_code_found_next(&rest, &function));
        assert_string_equal(rest.at, cut[i] + 3);
    }
    assert_true(gt_recording_code_found_parse("00000000000000000000001 00000000000000000ff",
                                              &module, &offset, &rest));
    assert_true(module == 1 && offset == 0xff && !rest.left);
}

static void test_stats(void **state)
{
    (void)state;
    struct gt_text t = {0};
    gt_recording_stats_put(&t, "calls", UINT64_MAX);
    gt_text_add(&t, "no line of the form\n", strlen("no line of the form\n"));
    gt_recording_stats_put(&t, GT_STATS_ANOMALY "unknown-return", 0);
    gt_recording_stats_put(&t, "calls", 1);
    struct gt_recording_stats stats;
    assert_int_equal(gt_recording_stats_parse(&stats, text_of(&t)), 0);
    assert_int_equal(stats.n, 3);
    assert_string_equal(stats.item[1].key, "anomaly.unknown-return");
    assert_string_equal(stats.item[1].value, "0");
    assert_string_equal(gt_recording_stats_text(&stats, "calls"), "18446744073709551615");
    assert_true(gt_recording_stats_number(&stats, "calls") == UINT64_MAX);
    assert_null(gt_recording_stats_text(&stats, "no line of the form"));
    assert_int_equal(gt_recording_stats_number(&stats, "tasks"), 0);
    gt_recording_stats_clear(&stats);
}

static void test_stats_edges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {{NULL, 0}, {"", 0}, {"\n\n", 0}, {"a=1", 1}, {"=\n=", 2}, {"a=1=2\nb", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_recording_stats stats;
        char *text = cases[i].text ? strdup(cases[i].text) : NULL;
        assert_int_equal(gt_recording_stats_parse(&stats, text), 0);
        assert_int_equal(stats.n, cases[i].n);
        assert_null(gt_recording_stats_text(&stats, "b"));
        assert_int_equal(gt_recording_stats_number(&stats, "a"), i == 3);
        gt_recording_stats_clear(&stats);
    }
}

static void test_counts(void **state)
{
    (void)state;
    static const uint64_t ranges[][2] = {
        {0, 0}, {0x1000, 0x1004}, {0xffffffff81000000, UINT64_MAX}};
    uint64_t start, end;
    char name[GT_ETRACE_COUNT_NAME];
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        gt_etrace_count_name(name, ranges[i][0], ranges[i][1]);
        assert_true(gt_etrace_count_parse(name, &start, &end));
        assert_true(start == ranges[i][0] && end == ranges[i][1]);
        for (size_t n = strlen(name); n-- > 0;) {
            name[n] = '\0';
            bool shorter = gt_etrace_count_parse(name, &start, &end);
            assert_false(shorter && end == ranges[i][1] && ranges[i][1]);
        }
    }
    static const char *const none[] = {"0x2-0x1",
                                       "0x1-0x2 ",
                                       "0x-0x1",
                                       "1-2",
                                       "0x1-2",
                                       "0x1",
                                       "0x10000000000000000-0x1",
                                       "0x00000000000000001-0x2",
                                       "0x1-0x00000000000000002",
                                       "0X1-0x2",
                                       "0x1-0x10000000000000000"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(gt_etrace_count_parse(none[i], &start, &end));
    assert_true(gt_etrace_count_parse("0xaB-0x00000000000000Ab", &start, &end));
    assert_true(start == 0xab && end == 0xab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks),    cmocka_unit_test(test_guest_tasks),
        cmocka_unit_test(test_handlers), cmocka_unit_test(test_code_found),
        cmocka_unit_test(test_stats),    cmocka_unit_test(test_stats_edges),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
