/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log backend's lines in a file: each is one write, and none is lost, torn or out of order when
 * threads, signal handlers, fork() or the end of the program come in between. See traced.h for the
 * program.
 */
#include "handmade.h"
#include "log_file.h"
#include "traced.h"

#include "../unit/sanitizer.h"

#include <guesttrace/control.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, RARE = 8, BURST = 1000 };

static pid_t start(const char *options, const char *action)
{
    return traced_start(options, "hm_two,backends=log", action);
}

static void log_to(const char *path)
{
    gt_trace_set_backends(GT_TRACE_LOG);
    assert_int_equal(gt_trace_log_set(path, NULL), GT_TRACE_OK);
    assert_int_equal(gt_trace_switch_all("hm_two", true, NULL), 1);
}

static int open_pipe(void)
{
    unlink("pipe");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int in = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(in >= 0);
    return in;
}

/* First of all tests: nothing has been logged in this tick of the clock. */
static void test_rare(void **state)
{
    (void)state;
    char line[256], expected[256];
    int in = open_pipe();
    log_to("pipe");
    for (int i = 0; i < RARE; i++) {
        trace_hm_two(0, (uint64_t)i);
        int n = snprintf(expected, sizeof expected, "hm_two a 0 b %d\n", i);
        assert_int_equal(read(in, line, sizeof line), n); /* waits for nothing */
        assert_memory_equal(line, expected, (size_t)n);
    }
    close(in);
}

/* Nothing follows the last line, and nobody asks. */
static void test_end_of_burst(void **state)
{
    (void)state;
    static char text[BURST * 32];
    int in = open_pipe();
    size_t n = 0, lines = 0;
    log_to("pipe");
    fcntl(in, F_SETFL, 0);
    for (uint64_t i = 0; i < BURST; i++)
        trace_hm_two(1, i);
    while (lines < BURST) {
        ssize_t more = read(in, text + n, sizeof text - n);
        assert_true(more > 0);
        for (ssize_t i = 0; i < more; i++)
            lines += text[n++] == '\n';
    }
    close(in);
}

/* The kernel's count of this process' writes; -1: not kept here. */
static long writes(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    long n = -1;
    char word[64];
    while (f && fscanf(f, "%63s %ld", word, &n) == 2 && strcmp(word, "syscw:") != 0)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

/* A line is one write: neither more nor fewer. */
static void test_writes(void **state)
{
    (void)state;
    enum { N = 5000 };
    log_to("writes");
    long before = writes();
    for (uint64_t i = 0; i < N; i++)
        trace_hm_two(0, i);
    if (before < 0)
        print_message("/proc/self/io does not count writes\n");
    else
        assert_int_equal(writes() - before, N);
    struct log_file l = log_file_read("writes");
    assert_int_equal(l.next[0], N);
    unlink("writes");
}

static void test_exit(void **state)
{
    (void)state;
    static const char *const options[] = {"log=exit", "log=exit,prefix=on"};
    for (size_t i = 0; i < 2; i++) {
        unlink("exit");
        assert_int_equal(traced_finish(start(options[i], "count 20000 8")), 0);
        struct log_file l = log_file_read("exit");
        for (int k = 0; k < THREADS; k++)
            assert_int_equal(l.next[k], 20000);
        assert_false(l.cut);
    }
    unlink("exit");
    assert_int_equal(traced_finish(start("log=exit", "exit 5000")), 0);
    assert_int_equal(log_file_read("exit").next[0], 5000);
}

/* The number of standard error is free: the log does not take it. */
static void test_closed(void **state)
{
    (void)state;
    int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    close(STDERR_FILENO);
    pid_t with_file = start("log=closed,events=warns", "count 5000 1");
    int good = traced_finish(with_file), bad = traced_finish(start("prefix=off", "count 5000 1"));
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(good, 0);
    assert_int_equal(bad, 0);
    assert_int_equal(log_file_read("closed").next[0], 5000);
}

static void test_kill(void **state)
{
    (void)state;
    pid_t pid = start("log=killed", "endless 3");
    struct stat file = {.st_size = 0};
    while (file.st_size < 1 << 20) {
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        stat("killed", &file);
    }
    kill(pid, SIGKILL);
    traced_finish(pid);
    assert_true(log_file_read("killed").lines > (1 << 20) / 40);
    unlink("killed");
}

static void test_crash(void **state)
{
    (void)state;
    static const char *const ends[] = {"segv 1000", "abort 1000", "term 1000"};
    for (size_t i = 0; i < 3; i++) {
        unlink("crashed");
        assert_true(WIFSIGNALED(traced_finish(start("log=crashed,crash=on", ends[i]))));
        assert_int_equal(log_file_read("crashed").next[0], 1000);
    }
}

/* Three processes, one file: each line once. */
static void test_fork(void **state)
{
    (void)state;
    static const int keys[] = {0, 1, 2, 3, 10, 11, 12, 13};
    if (!THREADS_AFTER_FORK)
        return;
    assert_int_equal(traced_finish(start("log=forked", "fork 10000")), 0);
    struct log_file l = log_file_read("forked");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(l.next[keys[i]], 10000);
}

enum { TURNS = 2000 };
static pthread_barrier_t turn;

static void *take_turns(void *key)
{
    for (uint64_t i = 0; i < TURNS; i++) {
        if (key)
            pthread_barrier_wait(&turn);
        trace_hm_two(key ? 1 : 0, i);
        if (!key)
            pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

/* Whatever thread logs a line: it stands behind those that were logged before. */
static void test_order(void **state)
{
    (void)state;
    pthread_t threads[2];
    char line[256];
    log_to("order");
    pthread_barrier_init(&turn, NULL, 2);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(gt_trace_log_flush(NULL), GT_TRACE_OK);
    FILE *f = fopen("order", "r");
    for (int i = 0; i < 2 * TURNS; i++) {
        int key = -1;
        uint64_t number = 0;
        assert_non_null(fgets(line, sizeof line, f));
        assert_true(log_file_line(line, &key, &number));
        assert_int_equal(key, i % 2);
        assert_int_equal(number, i / 2);
    }
    fclose(f);
}

/* A child's line, which comes at once, stands behind all that its parent has logged before. */
static void test_before_fork(void **state)
{
    (void)state;
    enum { FORKS = 20, EACH = 100 };
    char line[256];
    uint64_t lines = 0;
    log_to("before");
    for (uint64_t i = 0; i < FORKS; i++) {
        for (int k = 0; k < EACH; k++)
            trace_hm_two(0, lines++);
        pid_t child = fork();
        if (child == 0) {
            trace_hm_two(1, i);
            _exit(0);
        }
        assert_int_equal(traced_finish(child), 0);
    }
    assert_int_equal(gt_trace_log_flush(NULL), GT_TRACE_OK);
    FILE *f = fopen("before", "r");
    for (int i = 0; i < FORKS * (EACH + 1); i++) {
        int key = -1;
        uint64_t number;
        assert_non_null(fgets(line, sizeof line, f));
        assert_true(log_file_line(line, &key, &number));
        assert_int_equal(key, i % (EACH + 1) == EACH);
    }
    fclose(f);
}

static void test_files(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "file%d", i);
        log_to(name);
        for (uint64_t k = 0; k < 100; k++)
            trace_hm_two(i, k);
    }
    assert_int_equal(gt_trace_log_set(NULL, NULL), GT_TRACE_OK);
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "file%d", i);
        struct log_file l = log_file_read(name);
        assert_int_equal(l.lines, 100);
        assert_int_equal(l.next[i], 100);
    }
}

static volatile sig_atomic_t handled[2];

static void on_signal(int number)
{
    int i = number == SIGUSR1 ? 0 : 1;
    trace_hm_two(i + 1, (uint64_t)handled[i]);
    handled[i] = handled[i] + 1;
}

static timer_t start_timer(int number, long ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec often = {{0, ns}, {0, ns}};
    timer_t timer;
    signal(number, on_signal);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
    return timer;
}

/* Handlers interrupt lines, and each other. */
static void test_handlers(void **state)
{
    (void)state;
    enum { LINES_MAX = 1000000 };
    const long often = THREADS_AFTER_FORK ? 20000 : 200000; /* ns; its handlers take longer */
    uint64_t lines = 0;
    log_to("handlers");
    timer_t timers[] = {start_timer(SIGUSR1, often), start_timer(SIGUSR2, often / 2 * 3)};
    while (lines < LINES_MAX && (handled[0] < 1000 || handled[1] < 1000))
        trace_hm_two(0, lines++);
    timer_delete(timers[0]);
    timer_delete(timers[1]);
    assert_int_equal(gt_trace_log_flush(NULL), GT_TRACE_OK);
    struct log_file l = log_file_read("handlers");
    assert_true(handled[0] > 0 && handled[1] > 0);
    assert_int_equal(l.next[0], lines);
    assert_int_equal(l.next[1], handled[0]);
    assert_int_equal(l.next[2], handled[1]);
    unlink("handlers");
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/events-log-XXXXXX", command[64];
    traced_program = argc > 1 ? realpath(argv[1], NULL) : NULL;
    if (!traced_program || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    FILE *warns = fopen("warns", "w");
    if (!warns || fputs("no_such_event\n", warns) < 0 || fclose(warns) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rare),        cmocka_unit_test(test_end_of_burst),
        cmocka_unit_test(test_writes),      cmocka_unit_test(test_exit),
        cmocka_unit_test(test_closed),      cmocka_unit_test(test_kill),
        cmocka_unit_test(test_crash),       cmocka_unit_test(test_fork),
        cmocka_unit_test(test_before_fork), cmocka_unit_test(test_order),
        cmocka_unit_test(test_files),       cmocka_unit_test(test_handlers),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free((char *)traced_program);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? 1 : failed;
}
