/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simple backend: every value that threads recorded is in the file, once, in each thread's
 * order and in order of time; a signal handler records while the thread that it interrupts does.
 */
#include "handmade.h"
#include "trace_file.h"

#include <guesttrace/control.h>

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, EVENTS = 20000, LONG = 3000 };

static uint64_t monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void use(const char *path)
{
    gt_trace_set_backends(GT_TRACE_SIMPLE);
    assert_int_equal(gt_trace_file_set(path, NULL), GT_TRACE_OK);
    assert_int_equal(gt_trace_switch_all("*", true, NULL), 4);
}

static struct trace_file finish(const char *path)
{
    gt_trace_switch_all("*", false, NULL);
    assert_int_equal(gt_trace_file_flush(NULL), GT_TRACE_OK);
    struct trace_file f = trace_file_read(path);
    assert_int_equal(f.torn, 0);
    return f;
}

static void test_values(void **state)
{
    (void)state;
    char over[LONG + 1];
    uint32_t length;
    memset(over, 'z', LONG);
    over[LONG] = 0;
    use("values");
    uint64_t before = monotonic();
    trace_hm_none();
    trace_hm_two(INT_MIN, UINT64_MAX);
    trace_hm_name(NULL, NULL);
    trace_hm_name("", (void *)UINTPTR_MAX);
    trace_hm_name(over, over);
    trace_hm_ten(INT8_MIN, UINT8_MAX, INT16_MIN, UINT16_MAX, true, LLONG_MIN, over, SIZE_MAX,
                 "\xff", -1);
    trace_hm_off(1);
    uint64_t after = monotonic();
    struct trace_file f = finish("values");
    static const char *const names[] = {"hm_none", "hm_two",  "hm_name",
                                        "hm_name", "hm_name", "hm_ten"};
    assert_int_equal(f.count, 6);
    for (size_t i = 0; i < f.count; i++) {
        assert_string_equal(f.records[i].name, names[i]);
        assert_int_equal(f.records[i].pid, getpid());
        /* the clock is extrapolated: see src/events/library/record/clock.h */
        assert_true(f.records[i].time + 100000 >= before && f.records[i].time <= after + 100000);
        before = f.records[i].time - 100000;
    }
    assert_int_equal(take_u64(&f.records[1]), (uint64_t)INT_MIN);
    assert_int_equal(take_u64(&f.records[1]), UINT64_MAX);
    take_string(&f.records[2], &length);
    assert_int_equal(length, 0);
    assert_int_equal(take_u64(&f.records[2]), 0);
    assert_string_equal(take_string(&f.records[3], NULL), "");
    assert_int_equal(take_u64(&f.records[3]), UINTPTR_MAX);
    assert_memory_equal(take_string(&f.records[4], &length), over, GT_TRACE_STRING_MAX);
    assert_int_equal(length, GT_TRACE_STRING_MAX);
    struct trace_record *ten = &f.records[5];
    assert_int_equal(take_u64(ten), (uint64_t)INT8_MIN);
    assert_int_equal(take_u64(ten), UINT8_MAX);
    assert_int_equal(take_u64(ten), (uint64_t)INT16_MIN);
    assert_int_equal(take_u64(ten), UINT16_MAX);
    assert_int_equal(take_u64(ten), 1);
    assert_int_equal(take_u64(ten), (uint64_t)LLONG_MIN);
    assert_memory_equal(take_string(ten, NULL), over, GT_TRACE_STRING_MAX);
    assert_int_equal(take_u64(ten), SIZE_MAX);
    assert_string_equal(take_string(ten, NULL), "\xff");
    assert_int_equal(take_u64(ten), (uint64_t)-1);
    assert_ptr_equal(ten->at, ten->end);
    trace_file_free(&f);
}

/* Everything is made of the thread and the number, so that the reader knows what must stand there.
 */
static const char *name_of(char *room, int thread, int i)
{
    size_t n = (size_t)((i * 13 + thread) % 600);
    memset(room, 'A' + (i + thread) % 50, n);
    room[n] = 0;
    return room;
}

static void fire_one(int thread, int i)
{
    char g[600], h[600];
    uint64_t key = (uint64_t)thread << 32 | (uint32_t)i;
    if (i % 3 == 0)
        trace_hm_two(-thread - 1, key);
    else if (i % 3 == 1)
        trace_hm_name(name_of(g, thread, i), (void *)(uintptr_t)key);
    else
        trace_hm_ten((int8_t)-i, (uint8_t)i, (int16_t)-i, (uint16_t)i, i & 1, -(long long)i,
                     name_of(g, thread, i), (size_t)key, name_of(h, thread, i + 1), (char)i);
}

static void check_string(struct trace_record *r, int thread, int i)
{
    char room[600];
    uint32_t length, n = (uint32_t)strlen(name_of(room, thread, i));
    const char *found = take_string(r, &length);
    assert_int_equal(length, n < GT_TRACE_STRING_MAX ? n : GT_TRACE_STRING_MAX);
    assert_memory_equal(found, room, length);
}

static void check_one(struct trace_record *r, int *next)
{
    struct trace_record look = *r;
    int thread, i;
    bool two = strcmp(r->name, "hm_two") == 0, name = strcmp(r->name, "hm_name") == 0;
    if (two)
        take_u64(&look);
    else if (name)
        take_string(&look, NULL);
    else
        for (int k = 0; k < 7; k++)
            k < 6 ? (void)take_u64(&look) : (void)take_string(&look, NULL);
    uint64_t key = take_u64(&look);
    thread = (int)(key >> 32);
    i = (int)(uint32_t)key;
    assert_in_range(thread, 0, THREADS - 1);
    assert_int_equal(i, next[thread]++);
    assert_int_equal(i % 3, two ? 0 : name ? 1 : 2);
    if (two) {
        assert_int_equal(take_u64(r), (uint64_t)(-thread - 1));
        take_u64(r);
    } else if (name) {
        check_string(r, thread, i);
        take_u64(r);
    } else {
        assert_int_equal(take_u64(r), (uint64_t)(int8_t)-i);
        assert_int_equal(take_u64(r), (uint8_t)i);
        assert_int_equal(take_u64(r), (uint64_t)(int16_t)-i);
        assert_int_equal(take_u64(r), (uint16_t)i);
        assert_int_equal(take_u64(r), i & 1);
        assert_int_equal(take_u64(r), (uint64_t) - (long long)i);
        check_string(r, thread, i);
        take_u64(r);
        check_string(r, thread, i + 1);
        assert_int_equal(take_u64(r), (uint64_t)(char)i);
    }
    assert_ptr_equal(r->at, r->end);
}

static void *fire(void *number)
{
    for (int i = 0; i < EVENTS; i++)
        fire_one((int)(intptr_t)number, i);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int next[THREADS] = {0};
    use("threads");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fire, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct trace_file f = finish("threads");
    assert_int_equal(f.count, THREADS * EVENTS);
    size_t back = 0;
    for (size_t i = 0; i < f.count; i++) {
        check_one(&f.records[i], next);
        back += i > 0 && f.records[i].time < f.records[i - 1].time;
    }
    /* A thread that lost the processor between the clock and the last byte is late. */
    assert_true(back < f.count / 1000);
    struct gt_trace_file_status status;
    gt_trace_file_status(&status);
    assert_int_equal(status.dropped, 0);
    trace_file_free(&f);
}

/* Switching, flushing and changing files while threads record: each event is in one file, whole. */
static void test_files_in_turn(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int next[THREADS] = {0};
    char name[32];
    enum { FILES = 10 };
    use("turn0");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fire, (void *)(intptr_t)i), 0);
    for (int n = 1; n < FILES; n++) {
        snprintf(name, sizeof name, "turn%d", n);
        assert_int_equal(gt_trace_file_flush(NULL), GT_TRACE_OK);
        assert_int_equal(gt_trace_file_set(name, NULL), GT_TRACE_OK);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    size_t total = 0;
    for (int n = 0; n < FILES; n++) {
        snprintf(name, sizeof name, "turn%d", n);
        struct trace_file f = finish(name);
        for (size_t i = 0; i < f.count; i++)
            check_one(&f.records[i], next);
        total += f.count;
        trace_file_free(&f);
    }
    assert_int_equal(total, THREADS * EVENTS);
}

static volatile int nested;

static void on_signal(int number)
{
    (void)number;
    trace_hm_name("nested", (void *)(uintptr_t)nested);
    nested++;
}

/* An interval timer interrupts a thread that does nothing but record. */
static void test_signal_handler(void **state)
{
    (void)state;
    enum { ENOUGH = 200, MANY = 5000000 };
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    use("signals");
    nested = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t i = 0;
    for (; nested < ENOUGH && i < MANY; i++)
        trace_hm_two(7, i);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    struct trace_file f = finish("signals");
    uint64_t next_two = 0, next_nested = 0;
    for (size_t n = 0; n < f.count; n++) {
        struct trace_record *r = &f.records[n];
        if (strcmp(r->name, "hm_two") == 0) {
            assert_int_equal(take_u64(r), 7);
            assert_int_equal(take_u64(r), next_two++);
        } else {
            assert_string_equal(take_string(r, NULL), "nested");
            assert_int_equal(take_u64(r), next_nested++);
        }
    }
    assert_int_equal(next_two, i);
    assert_int_equal(next_nested, nested);
    trace_file_free(&f);
}

/* What was recorded before another file was named is in the one before. */
static void test_next_file(void **state)
{
    (void)state;
    use("first");
    trace_hm_two(1, 0);
    assert_int_equal(gt_trace_file_set("second", NULL), GT_TRACE_OK);
    struct trace_file f = trace_file_read("first");
    assert_int_equal(f.count, 1);
    trace_file_free(&f);
    trace_hm_two(2, 0);
    f = finish("second");
    assert_int_equal(f.count, 1);
    assert_int_equal(take_u64(&f.records[0]), 2);
    trace_file_free(&f);
}

/* While the backend is paused, nothing is recorded. */
static void test_pause(void **state)
{
    (void)state;
    struct gt_trace_file_status status;
    use("paused");
    trace_hm_two(1, 1);
    assert_int_equal(gt_trace_file_enable(false, NULL), GT_TRACE_OK);
    trace_hm_two(2, 2);
    gt_trace_file_status(&status);
    assert_false(status.on);
    assert_int_equal(gt_trace_file_enable(true, NULL), GT_TRACE_OK);
    trace_hm_two(3, 3);
    struct trace_file f = finish("paused");
    assert_int_equal(f.count, 2);
    assert_int_equal(take_u64(&f.records[1]), 3);
    trace_file_free(&f);
    gt_trace_file_status(&status);
    assert_true(status.on && status.open);
    assert_string_equal(strrchr(status.path, '/'), "/paused");
}

/* A nesting that is deeper than the rings: the loss is counted, and what is before and after stays.
 */
static void test_too_deep(void **state)
{
    (void)state;
    enum { DEEP = 6 };
    struct gt_trace_slot slots[DEEP];
    struct gt_trace_file_status before, after;
    bool taken[DEEP];
    gt_trace_file_status(&before);
    use("deep");
    for (int i = 0; i < DEEP; i++) {
        taken[i] = gt_trace_simple_begin(&slots[i], &_TRACE_HM_TWO_EVENT, 16);
        if (taken[i]) {
            gt_trace_put_u64(&slots[i], (uint64_t)i);
            gt_trace_put_u64(&slots[i], 0);
        }
    }
    for (int i = DEEP - 1; i >= 0; i--) {
        if (taken[i])
            gt_trace_simple_end(&slots[i]);
    }
    assert_true(taken[3] && !taken[4] && !taken[5]);
    trace_hm_two(100, 0);
    assert_false(gt_trace_simple_begin(&slots[0], &_TRACE_HM_TWO_EVENT, UINT32_MAX));
    trace_hm_two(101, 0);
    struct trace_file f = finish("deep");
    assert_int_equal(trace_file_count(&f, "hm_two"), 6);
    assert_int_equal(trace_file_dropped(&f), 1);
    gt_trace_file_status(&after);
    assert_int_equal(after.dropped - before.dropped, 3);
    trace_file_free(&f);
}

int main(void)
{
    char folder[] = "/tmp/events-simple-XXXXXX", command[64];
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_files_in_turn), cmocka_unit_test(test_signal_handler),
        cmocka_unit_test(test_next_file),     cmocka_unit_test(test_pause),
        cmocka_unit_test(test_too_deep),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? 1 : failed;
}
