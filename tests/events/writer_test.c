/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of records when the program ends, is killed, crashes or forks, when the file cannot
 * take them, and under each policy. See traced.h for the program.
 */
#include "trace_file.h"
#include "traced.h"

#include "../unit/sanitizer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, KEYS = 16, FIRED_FD = 9 };

static pid_t start(const char *options, const char *action)
{
    return traced_start(options, "hm_two,backends=simple", action);
}

static void run(const char *options, const char *action)
{
    assert_int_equal(traced_finish(start(options, action)), 0);
}

/* Each thread's events one after the other; the next number of each is left in `next`. A drop
 * record stands exactly where numbers are missing, which `gap` allows to happen. */
static void check_order(const struct trace_file *f, uint64_t next[KEYS], bool gap)
{
    uint64_t missing = 0;
    memset(next, 0, KEYS * sizeof *next);
    for (size_t i = 0; i < f->count; i++) {
        struct trace_record r = f->records[i];
        if (strcmp(r.name, "dropped") == 0) {
            assert_true(gap);
            missing += take_u64(&r);
            continue;
        }
        assert_string_equal(r.name, "hm_two");
        uint64_t key = take_u64(&r), number = take_u64(&r);
        assert_true(key < KEYS);
        assert_int_equal(number, next[key] + missing);
        next[key] = number + 1;
        missing = 0;
    }
}

static void test_exit(void **state)
{
    (void)state;
    uint64_t next[KEYS];
    run("file=exit", "count 30000 8");
    struct trace_file f = trace_file_read("exit");
    check_order(&f, next, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(next[i], 30000);
    assert_int_equal(f.torn, 0);
    trace_file_free(&f);
    run("file=flushed,threads=on", "exit 5");
    f = trace_file_read("flushed");
    assert_int_equal(f.count, 5);
    assert_int_equal(f.records[0].tid, f.records[0].pid);
    trace_file_free(&f);
}

static void test_default_name(void **state)
{
    (void)state;
    char name[64];
    pid_t pid = start("prefix=off", "count 10 1");
    assert_int_equal(traced_finish(pid), 0);
    snprintf(name, sizeof name, "trace-%d", (int)pid);
    struct trace_file f = trace_file_read(name);
    assert_int_equal(f.count, 10);
    trace_file_free(&f);
    unlink(name);
}

/* Killed somewhere in the middle of writing: what is there is whole, up to the last record. */
static void test_kill(void **state)
{
    (void)state;
    uint64_t next[KEYS];
    for (int round = 0; round < 5; round++) {
        unlink("killed");
        pid_t pid = start("file=killed", "endless 3");
        off_t size = 0;
        while (size < (1 << 20) * (round + 1)) {
            assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
            int fd = open("killed", O_RDONLY);
            size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
            if (fd >= 0)
                close(fd);
        }
        kill(pid, SIGKILL);
        assert_true(WIFSIGNALED(traced_finish(pid)));
        struct trace_file f = trace_file_read("killed");
        check_order(&f, next, false);
        assert_true(f.count > 20000 && f.torn < 64);
        trace_file_free(&f);
    }
    unlink("killed");
}

static void test_crash(void **state)
{
    (void)state;
    static const struct {
        const char *action;
        int signal;
    } ends[] = {{"segv 1000", SIGSEGV}, {"abort 1000", SIGABRT}, {"term 1000", SIGTERM}};
    static const char *const policies[] = {"file=crashed,crash=on",
                                           "file=crashed,crash=on,policy=overwrite"};
    for (size_t i = 0; i < 6; i++) {
        int status = traced_finish(start(policies[i / 3], ends[i % 3].action));
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ends[i % 3].signal);
        struct trace_file f = trace_file_read("crashed");
        uint64_t next[KEYS];
        check_order(&f, next, false);
        assert_int_equal(next[0], 1000);
        trace_file_free(&f);
    }
}

/* Every process has a file; each event is in one of them, once. */
static void test_fork(void **state)
{
    (void)state;
    uint64_t next[KEYS], total[KEYS] = {0};
    if (!THREADS_AFTER_FORK)
        return;
    run("file=forked", "fork 20000");
    DIR *d = opendir(".");
    int files = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, "forked", 6) != 0)
            continue;
        struct trace_file f = trace_file_read(e->d_name);
        check_order(&f, next, false);
        for (int i = 0; i < KEYS; i++) {
            assert_true(next[i] == 0 || total[i] == 0);
            total[i] += next[i];
        }
        for (size_t i = 0; i < f.count && e->d_name[6]; i++)
            assert_int_equal(f.records[i].pid, atoi(e->d_name + 7));
        files++;
        trace_file_free(&f);
    }
    closedir(d);
    assert_int_equal(files, 3);
    static const int keys[] = {0, 1, 2, 3, 10, 11, 12, 13};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(total[keys[i]], 20000);
}

/* The first N, two that still fit, the loss, and what came when there was room again. */
static void test_full(void **state)
{
    (void)state;
    enum { N = 5000 };
    run("file=full", "full 5000");
    struct trace_file f = trace_file_read("full");
    assert_int_equal(f.torn, 0);
    assert_int_equal(f.count, N + 2 + 1 + N);
    assert_string_equal(f.records[N + 2].name, "dropped");
    assert_int_equal(take_u64(&f.records[N + 2]), N - 2);
    uint64_t numbers[3] = {0};
    for (size_t i = 0; i < f.count; i++) {
        if (i == N + 2)
            continue;
        uint64_t key = take_u64(&f.records[i]);
        assert_int_equal(key, i < N ? 0 : i < N + 2 ? 1 : 2);
        assert_int_equal(take_u64(&f.records[i]), numbers[key]++);
    }
    trace_file_free(&f);
}

/* What comes out of the pipe, into the file "piped", until the program has ended. */
static void drain(int pipe, pid_t pid)
{
    uint8_t buffer[4096];
    int file = open("piped", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (;;) {
        ssize_t n = read(pipe, buffer, sizeof buffer);
        if (n == 0 && waitpid(pid, NULL, WNOHANG) == pid)
            break;
        if (n > 0)
            assert_int_equal(write(file, buffer, (size_t)n), n);
    }
    close(file);
}

/* The trace goes into a pipe. With `late` nobody reads it before all events have been fired. */
static struct trace_file run_slowly(const char *policy, const char *action, bool late)
{
    char options[128], byte;
    int fired[2];
    uint64_t next[KEYS];
    unlink("pipe");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int in = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_int_equal(pipe2(fired, O_CLOEXEC), 0);
    assert_int_equal(dup2(fired[1], FIRED_FD), FIRED_FD);
    snprintf(options, sizeof options, "file=pipe,buffer=64K,policy=%s", policy);
    pid_t pid = start(options, action);
    close(FIRED_FD);
    close(fired[1]);
    fcntl(in, F_SETFL, 0);
    if (late)
        assert_int_equal(read(fired[0], &byte, 1), 0);
    close(fired[0]);
    drain(in, pid);
    close(in);
    struct trace_file f = trace_file_read("piped");
    check_order(&f, next, late);
    assert_int_equal(f.torn, 0);
    return f;
}

static void test_wait_and_drop(void **state)
{
    (void)state;
    enum { N = 100000, MORE = 100 };
    struct trace_file f = run_slowly("wait", "count 100000 1", false);
    assert_int_equal(f.count, N);
    trace_file_free(&f);
    static const char *const actions[] = {"count 100000 1", "gap 100000 0", "gap 100000 100"};
    for (int i = 0; i < 3; i++) {
        f = run_slowly("drop", actions[i], true);
        assert_true(trace_file_dropped(&f) > N / 2);
        assert_int_equal(trace_file_count(&f, "hm_two") + trace_file_dropped(&f),
                         i == 2 ? N + MORE : N);
        assert_true((strcmp(f.records[f.count - 1].name, "dropped") == 0) == (i < 2));
        trace_file_free(&f);
    }
}

/* The newest are kept, and how many are not is said first. */
static void test_overwrite(void **state)
{
    (void)state;
    uint64_t next[KEYS];
    run("file=newest,buffer=64K,policy=overwrite", "count 100000 1");
    struct trace_file f = trace_file_read("newest");
    check_order(&f, next, true);
    assert_string_equal(f.records[0].name, "dropped");
    assert_int_equal(next[0], 100000);
    assert_in_range(f.count, (64 << 10) / 48 * 3 / 4, (64 << 10) / 48 + 1);
    assert_int_equal(trace_file_dropped(&f), 100000 - (f.count - 1));
    trace_file_free(&f);
    run("file=later,buffer=64K,policy=overwrite", "dump 50000");
    f = trace_file_read("dumped");
    check_order(&f, next, true);
    assert_int_equal(next[0], 50000);
    assert_int_equal(trace_file_dropped(&f), 50000 - (f.count - 1));
    trace_file_free(&f);
    f = trace_file_read("later");
    check_order(&f, next, true);
    assert_int_equal(next[0], 0);
    assert_int_equal(next[1], 50000);
    assert_int_equal(trace_file_dropped(&f), 50000 - (f.count - 1));
    trace_file_free(&f);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/events-writer-XXXXXX", command[64];
    traced_program = argc > 1 ? realpath(argv[1], NULL) : NULL;
    if (!traced_program || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit),          cmocka_unit_test(test_default_name),
        cmocka_unit_test(test_kill),          cmocka_unit_test(test_crash),
        cmocka_unit_test(test_fork),          cmocka_unit_test(test_full),
        cmocka_unit_test(test_wait_and_drop), cmocka_unit_test(test_overwrite),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free((char *)traced_program);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? 1 : failed;
}
