/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data directory of a recording: which text files there are, when, and what they say. */
#include "calls/recorder/finish.h"
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/transfer.h"
#include "calls/recorder/task.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SCOREBOARD = 2, EXIT_GROUP = 94 /* of aarch64 */ };

static struct gt_code *translated(struct gt_recorder *r, size_t at, uint32_t last)
{
    struct gt_host_block b;
    PROGRAM_BLOCK(&b, at, NOP, last);
    translate(r, &b);
    return gt_run_cached_block_at(r, (uintptr_t)code_page + at)->code;
}

/* The first vCPU begins: a program's thread. */
static struct gt_vcpu *begin(struct gt_recorder *r)
{
    host_double.program = "/bin/guest";
    recorder_begin_vcpu(0);
    struct gt_vcpu *v = gt_vcpu_at(r, 0);
    gt_run_vcpu_begin(v, gt_run_vcpu_score(r, v, 0), translated(r, ALPHA, BL(FUNCTION - 4)));
    assert_true(v->begun);
    return v;
}

/* alpha calls beta. */
static struct gt_vcpu *fill(struct gt_recorder *r)
{
    struct gt_vcpu *v = begin(r);
    struct gt_code *first = translated(r, ALPHA, BL(FUNCTION - 4)),
                   *called = translated(r, BETA, RET), *after = translated(r, ALPHA + 8, RET);
    gt_run_transfer_slowly(&(struct gt_recorder_transfer){v, first, 0, 10, NULL});
    gt_run_transfer_slowly(
        &(struct gt_recorder_transfer){v, called, gt_code_last_exit(first), 20, NULL});
    gt_run_transfer_slowly(
        &(struct gt_recorder_transfer){v, after, gt_code_last_exit(called), 30, NULL});
    return v;
}

/* ---- files --------------------------------------------------------------------------------- */

static char *session_map(const struct gt_recorder *r)
{
    g_autofree char *name = g_strdup_printf("sid-%s.map", r->output.sid);
    return recorder_file(r, name);
}

static void expect_in(const char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void expect_in(const char *text, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *line = g_strdup_vprintf(format, ap);
    va_end(ap);
    if (!text || !strstr(text, line))
        fail_msg("no \"%s\" in: %s", line, text);
}

static void expect_file(const struct gt_recorder *r, const char *name, const char *line)
{
    g_autofree char *text = recorder_file(r, name);
    expect_in(text, "%s", line);
}

static bool has(const struct gt_recorder *r, const char *name, const char *text)
{
    g_autofree char *all = recorder_file(r, name);
    return all && strstr(all, text);
}

/* The value of a key; -1: there is no such line. */
static long long stat_of(const struct gt_recorder *r, const char *key)
{
    g_autofree char *text = recorder_file(r, "guesttrace.stats");
    g_autofree char *line = g_strdup_printf("\n%s=", key);
    g_autofree char *all = g_strdup_printf("\n%s", text ? text : "");
    const char *at = strstr(all, line);
    return at ? g_ascii_strtoll(at + strlen(line), NULL, 10) : -1;
}

/* ---- tests --------------------------------------------------------------------------------- */

/* A killed QEMU leaves what can be read. */
static void test_from_the_first_moment(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    assert_null(recorder_file(r, "task.txt"));
    begin(r);
    g_autofree char *task = recorder_file(r, "task.txt"), *map = session_map(r);
    assert_int_equal(strlen(r->output.sid), 16);
    expect_in(task, "SESS timestamp=0.000000001 pid=%d sid=%s exename=\"/bin/guest\"\n", getpid(),
              r->output.sid);
    expect_in(task, "\nTASK timestamp=0.000000001 tid=%d pid=%d\n", gettid(), getpid());
    expect_in(map, "r-xp 00000000 00:00 0 /");
    expect_in(map, "/uftrace_output_test ");
    expect_file(r, "uftrace_output_test.sym", " t beta\n");
    expect_file(r, "uftrace_output_test.sym", "# build-id: ");
    assert_int_equal(stat_of(r, "calls"), -1);
    g_autofree char *path = g_build_filename(r->output.dir.path, "info", NULL);
    assert_int_equal(access(path, F_OK), 0);
}

/* The info file has a binary head: what comes after it. */
static char *info_of(const struct gt_recorder *r)
{
    enum { HEAD = 40 };
    g_autofree char *path = g_build_filename(r->output.dir.path, "info", NULL);
    char *bytes;
    gsize size;
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    assert_true(size > HEAD);
    assert_memory_equal(bytes, "Ftrace!", 8);
    memmove(bytes, bytes + HEAD, size - HEAD + 1);
    return bytes;
}

static void test_end(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    fill(r);
    gt_recorder_finish(r);
    g_autofree char *info = info_of(r);
    expect_in(info, "exename:/bin/guest\n");
    expect_in(info, "cpuinfo:desc=ARM64 (emulated)\n");
    expect_in(info, "taskinfo:tids=%d\n", gettid());
    assert_null(strstr(info, "exit_status"));
    assert_int_equal(stat_of(r, "calls"), 2);
    assert_int_equal(stat_of(r, "matched"), 1);
    assert_int_equal(stat_of(r, "tasks"), 1);
    assert_int_equal(stat_of(r, "records"), 4);
    assert_int_equal(stat_of(r, "bytes"), 64);
    assert_int_equal(stat_of(r, "lost_records"), 0);
    assert_int_equal(stat_of(r, "processes"), 1);
    for (int i = 0; i < GT_COUNTERS; i++) {
        const char *kind = gt_track_counter_is_anomaly(i) ? "anomaly"
                           : gt_track_counter_is_rule(i)  ? "rule"
                                                          : "count";
        g_autofree char *key = g_strdup_printf("%s.%s", kind, gt_track_counter_name(i));
        assert_int_equal(stat_of(r, key), 0);
    }
    expect_in(host_double.messages->str, "2 calls recorded: uftrace replay -d %s\n",
              r->output.dir.path);
    g_autofree char *said = g_strdup(host_double.messages->str);
    gt_recorder_finish(r);
    assert_string_equal(host_double.messages->str, said);
}

/* What the tracker counted comes to the file, and what it was not sure of to the user. */
static void test_counters(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    struct gt_vcpu *v = fill(r);
    v->thread.counters[GT_COUNT_SIGNALS] = 3;
    v->thread.counters[GT_RULE_EXCEPTION] = 4;
    v->thread.counters[GT_ANOMALY_MISSED_RETURN] = 5;
    gt_recorder_finish(r);
    assert_int_equal(stat_of(r, "count.signals"), 3);
    assert_int_equal(stat_of(r, "rule.exception"), 4);
    assert_int_equal(stat_of(r, "anomaly.missed-return"), 5);
    expect_in(host_double.messages->str, "5 %s\n", gt_track_counter_text("missed-return"));
    assert_null(strstr(host_double.messages->str, "3 "));
}

/* Processes of one recording add their counts. */
static void test_counts_add_up(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    fill(r);
    gt_recorder_finish(r);
    assert_int_equal(gt_recorder_meta_put_stats(r, 100, NULL), 0);
    assert_int_equal(stat_of(r, "calls"), 102);
    assert_int_equal(stat_of(r, "matched"), 2);
    assert_int_equal(stat_of(r, "processes"), 2);
}

static void test_exit_status(void **state)
{
    (void)state;
    static const uint64_t args[8] = {0x107};
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    fill(r);
    host_double.events->syscall(r, 0, EXIT_GROUP, args);
    gt_recorder_finish(r);
    g_autofree char *info = info_of(r);
    expect_in(info, "exit_status:1792\n"); /* 7, as wait() has it */
}

/* The recording before is kept, the one before that is not. */
static void test_second_run(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    fill(r);
    g_autofree char *first = g_strdup(r->output.sid);
    for (int i = 0; i < 2; i++) {
        r = recorder_start_again("aarch64", 0, SCOREBOARD, NULL);
        fill(r);
        gt_recorder_finish(r);
        assert_true(has(r, "task.txt", r->output.sid));
        assert_false(has(r, "task.txt", first));
        assert_int_equal(has(r, "../data.old/task.txt", first), i == 0);
        assert_int_equal(stat_of(r, "calls"), 2);
        assert_int_equal(stat_of(r, "processes"), 1);
    }
}

static size_t names_size(struct gt_recorder *r)
{
    gt_recorder_output_put_texts(r, NULL); /* nobody has waited for a name to be written */
    g_autofree char *path = g_build_filename(r->output.dir.path, "perf-cpu0.dat", NULL);
    g_autofree char *bytes = NULL;
    gsize size = 0;
    g_file_get_contents(path, &bytes, &size, NULL);
    return size;
}

/* A thread's name is recorded where it changes. */
static void test_names(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    struct gt_vcpu *v = begin(r);
    gt_recorder_output_name(v, r->process.first_name, true, 5); /* QEMU's own */
    assert_int_equal(names_size(r), 0);
    gt_recorder_output_name(v, "worker", true, 10);
    size_t one = names_size(r);
    assert_true(one > 0);
    assert_string_equal(v->name, "worker");
    gt_recorder_output_name(v, "worker", true, 20);
    assert_int_equal(names_size(r), one);
    gt_recorder_output_name(v, "a name of more than 15 bytes", true, 30);
    assert_int_equal(names_size(r), 2 * one);
    assert_string_equal(v->name, "a name of more ");
}

static void set_name(const struct gt_recorder *r, char *from, size_t n, const char *name)
{
    snprintf(from, n, "%s/%s", r->output.dir.path, name);
}

/* A disk that is full may have room later: what could not be written is, in its order. */
static void test_written_later(void **state)
{
    (void)state;
    char task[5000], away[5000];
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    begin(r);
    set_name(r, task, sizeof task, "task.txt");
    set_name(r, away, sizeof away, "away");
    assert_int_equal(rename(task, away), 0);
    assert_int_equal(mkdir(task, 0700), 0); /* no file can be written there */
    struct gt_stream *first = gt_recorder_output_open_task(r, 7000001, "one", 40);
    struct gt_stream *second = gt_recorder_output_open_task(r, 7000002, "two", 50);
    assert_true(first && second);
    assert_int_equal(r->output.failed->len, 4);
    assert_true(gt_recorder_output_run_failed(r, NULL) < 0);
    assert_int_equal(r->output.failed->len, 4);
    assert_int_equal(r->totals.tasks, 1);
    assert_int_equal(rmdir(task), 0);
    assert_int_equal(rename(away, task), 0);
    assert_int_equal(gt_recorder_output_run_failed(r, NULL), 0);
    assert_int_equal(r->output.failed->len, 0);
    assert_int_equal(r->totals.tasks, 3);
    g_autofree char *text = recorder_file(r, "task.txt");
    expect_in(text,
              "TASK timestamp=0.000000040 tid=7000001 pid=%d\n"
              "TASK timestamp=0.000000050 tid=7000002 pid=%d\n",
              getpid(), getpid());
}

/* At the end, what still cannot be written is said. */
static void test_never_written(void **state)
{
    (void)state;
    char stats[5000];
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    fill(r);
    set_name(r, stats, sizeof stats, "guesttrace.stats");
    assert_int_equal(mkdir(stats, 0700), 0);
    gt_recorder_finish(r);
    expect_in(host_double.messages->str, "guesttrace.stats");
    expect_in(host_double.messages->str, "; view the rest with: uftrace replay -d %s\n",
              r->output.dir.path);
    assert_null(strstr(host_double.messages->str, "calls recorded"));
}

static void test_nothing_recorded(void **state)
{
    (void)state;
    static const char *const quiet[] = {"summary=off", NULL};
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    begin(r);
    gt_recorder_finish(r);
    assert_string_equal(host_double.messages->str,
                        "nothing was recorded: the guest made no calls\n");
    r = recorder_start_again("aarch64", 0, SCOREBOARD, quiet);
    fill(r);
    gt_recorder_finish(r);
    assert_string_equal(host_double.messages->str, "");
}

/* ---- machines ------------------------------------------------------------------------------ */

static void test_machine(void **state)
{
    (void)state;
    static struct gt_track_func anon = {.hi = UINT64_MAX, .flags = GT_FUNC_ANON};
    static const struct gt_code first = {.pc = 0x1000, .fn = &anon};
    static const char *const words[] = {"max-tasks=2", NULL};
    struct gt_recorder *r = recorder_start("aarch64", 1, SCOREBOARD, words);
    recorder_begin_vcpu(0);
    struct gt_vcpu *v = gt_vcpu_at(r, 0);
    gt_run_vcpu_begin(v, gt_run_vcpu_score(r, v, 0), &first);
    expect_file(r, "task.txt", "exename=\"qemu-aarch64\"\n");
    expect_file(r, "task.txt", "\nTASK timestamp=0.000000001 tid=1 pid=1\n");
    assert_string_equal(gt_recorder_task_of(v->thread.stack)->name, "cpu0");
    /* Contexts have numbers of their own, up to max-tasks. */
    struct gt_recorder_task tasks[2] = {0};
    struct gt_stack one = {.coroutine = true, .data = &tasks[0]},
                    two = {.coroutine = true, .data = &tasks[1]};
    assert_true(gt_recorder_output_open_stack(r, &v->thread, &one, 10));
    assert_int_equal(tasks[0].id, 1001);
    assert_string_equal(tasks[0].name, "thread 1");
    expect_file(r, "task.txt", "\nTASK timestamp=0.000000010 tid=1001 pid=1\n");
    for (int i = 0; i < 3; i++)
        assert_false(gt_recorder_output_open_stack(r, &v->thread, &two, 20));
    assert_true(tasks[1].beyond);
    assert_int_equal(v->thread.counters[GT_COUNT_BEYOND_TASKS], 1); /* once for a stack */
    gt_recorder_output_close_stack(r, &one);
    assert_null(one.out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(from_the_first_moment),
        TEST(end),
        TEST(counters),
        TEST(counts_add_up),
        TEST(exit_status),
        TEST(second_run),
        TEST(names),
        TEST(written_later),
        TEST(never_written),
        TEST(nothing_recorded),
        TEST(machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
