/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text backends: each line whole, from several threads, and to several backends at once. */
#include "events/library/text/text.h"
#include "handmade.h"

#include <guesttrace/control.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, EVENTS = 1000, LONG = 100000 };

/* The C library's, in its place: what would reach the system's log. */
static pthread_mutex_t syslog_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[1 << 17];
static int opened_option = -1, opened_facility = -1, logged_priority = -1, logged_lines;

void openlog(const char *ident, int option, int facility)
{
    assert_null(ident);
    opened_option = option;
    opened_facility = facility;
}

void syslog(int priority, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&syslog_lock);
    logged_priority = priority;
    logged_lines++;
    vsnprintf(logged, sizeof logged, format, args);
    pthread_mutex_unlock(&syslog_lock);
    va_end(args);
}

/* The file's text, until the next call. */
static char *text_of(const char *path)
{
    static char *text;
    free(text);
    gt_trace_log_flush(NULL);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    text = malloc(n + 1);
    assert_int_equal(fread(text, 1, n, f), n);
    text[n] = 0;
    fclose(f);
    return text;
}

static void only(unsigned backends)
{
    gt_trace_set_backends(backends);
    assert_int_equal(gt_trace_switch_all("*", true, NULL), 4);
}

static __attribute__((format(printf, 1, 2))) void format_case(const char *format, ...)
{
    char expected[300], found[300];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    for (size_t size = 1; size <= sizeof found; size = size * 3 + 1) {
        va_list one, two;
        va_copy(one, args);
        va_copy(two, again);
        int n = vsnprintf(expected, size, format, one);
        assert_int_equal(gt_events_format(found, size, format, two), n);
        assert_memory_equal(found, expected, (size_t)n < size ? (size_t)n + 1 : size);
        va_end(one);
        va_end(two);
    }
    va_end(again);
    va_end(args);
}

static void test_format(void **state)
{
    (void)state;
    static const int64_t values[] = {0,         1,         -1,         9,
                                     10,        99,        100,        12345,
                                     INT32_MIN, INT32_MAX, UINT8_MAX,  INT16_MIN,
                                     INT64_MIN, INT64_MAX, UINT32_MAX, -1234567890123};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t v = values[i];
        format_case("a %d %i %u %x %X %#x %c|", (int)v, (int)v, (unsigned)v, (unsigned)v,
                    (unsigned)v, (unsigned)v, 'x');
        format_case("%" PRId64 " %" PRIu64 " 0x%" PRIx64 " %#" PRIX64, v, v, v, v);
        format_case("%hhd %hhu %hd %hu %hhx", (int8_t)v, (uint8_t)v, (int16_t)v, (uint16_t)v,
                    (uint8_t)v);
        format_case("%zu %zd %jd %td %lld %lu %llx", (size_t)v, (ssize_t)v, (intmax_t)v,
                    (ptrdiff_t)v, (long long)v, (unsigned long)v, (unsigned long long)v);
        format_case("%8d|%08d|%016" PRIx64 "|%#010x|%3u|%04x", (int)v, (int)v, v, (unsigned)v,
                    (unsigned)v, (unsigned)v);
        format_case("%-8d|%+d|% d|%.3d|%*d|%o", (int)v, (int)v, (int)v, (int)v, 12, (int)v,
                    (unsigned)v);
        format_case("%p %20p", (void *)(uintptr_t)v, (void *)(uintptr_t)v);
    }
    format_case("%s|%10s|%-10s|%.2s|%%|%5c", "text", "text", "text", "text", 'c');
    format_case("%100d %f", 1, 1.5);
    format_case("%s%s", "", "a longer text, a longer text, a longer text, a longer text");
}

static void test_lines(void **state)
{
    (void)state;
    char expected[300], *over = malloc(LONG + 1);
    memset(over, 'y', LONG);
    over[LONG] = 0;
    only(GT_TRACE_LOG);
    assert_int_equal(gt_trace_log_set("log", NULL), GT_TRACE_OK);
    errno = EBADMSG;
    trace_hm_none();
    trace_hm_two(INT_MIN, UINT64_MAX);
    trace_hm_name(NULL, NULL);
    trace_hm_off(1);
    assert_int_equal(errno, EBADMSG);
    snprintf(expected, sizeof expected,
             "hm_none \nhm_two a %d b %" PRIu64 "\nhm_name name (null) p (nil)\n", INT_MIN,
             UINT64_MAX);
    assert_string_equal(text_of("log"), expected);
    assert_int_equal(gt_trace_log_set("log2", NULL), GT_TRACE_OK);
    trace_hm_ten(INT8_MIN, UINT8_MAX, INT16_MIN, UINT16_MAX, true, LLONG_MIN, "g", SIZE_MAX, "",
                 'j');
    assert_string_equal(text_of("log"), expected);
    assert_string_equal(text_of("log2"),
                        "hm_ten a -128 b 255 c -32768 d 65535 e 1 f "
                        "-9223372036854775808 g g h 18446744073709551615 i  j 106\n");
    assert_int_equal(gt_trace_log_set("log3", NULL), GT_TRACE_OK);
    trace_hm_name(over, (void *)1);
    char *text = text_of("log3");
    assert_int_equal(strlen(text), strlen("hm_name name  p 0x1\n") + LONG);
    assert_memory_equal(text + strlen("hm_name name "), over, LONG);
    assert_int_equal(gt_trace_log_set(NULL, NULL), GT_TRACE_OK);
    assert_int_equal(gt_trace_log_set("no/such", NULL), GT_TRACE_E_NOT_FOUND);
    free(over);
}

static void test_prefix(void **state)
{
    (void)state;
    long tid;
    unsigned long seconds, now = (unsigned long)time(NULL);
    char dot, rest[64];
    int digits[2];
    only(GT_TRACE_LOG);
    gt_trace_log_prefix(true);
    assert_int_equal(gt_trace_log_set("prefixed", NULL), GT_TRACE_OK);
    trace_hm_two(1, 2);
    gt_trace_log_prefix(false);
    gt_trace_log_set(NULL, NULL);
    char *text = text_of("prefixed");
    assert_int_equal(sscanf(text, "%ld@%lu%c%n%*6[0-9]%n:%63[^\n]", &tid, &seconds, &dot,
                            &digits[0], &digits[1], rest),
                     4);
    assert_int_equal(tid, getpid());
    assert_true(seconds >= now && seconds <= now + 1000);
    assert_int_equal(dot, '.');
    assert_int_equal(digits[1] - digits[0], 6);
    assert_string_equal(rest, "hm_two a 1 b 2");
}

static void *fire(void *number)
{
    char name[4000];
    int thread = (int)(intptr_t)number;
    for (int i = 0; i < EVENTS; i++) {
        size_t n = (size_t)(i * 7 % (int)sizeof name);
        memset(name, 'a' + thread, n);
        name[n ? n - 1 : 0] = 0;
        trace_hm_name(name, (void *)(uintptr_t)(thread * EVENTS + i + 1));
    }
    return NULL;
}

static void check_lines(char *text)
{
    int next[THREADS] = {0}, lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        char *p = strstr(line, " p 0x"), *end;
        assert_non_null(p);
        int value = (int)strtol(p + 3, &end, 16) - 1, thread = value / EVENTS, i = value % EVENTS;
        assert_true(!*end && thread >= 0 && thread < THREADS);
        assert_int_equal(i, next[thread]++);
        int n = i * 7 % 4000;
        assert_int_equal(p - line, (int)strlen("hm_name name ") + (n ? n - 1 : 0));
        for (char *c = line + strlen("hm_name name "); c < p; c++)
            assert_int_equal(*c, 'a' + thread);
    }
    assert_int_equal(lines, THREADS * EVENTS);
}

static void test_threads_and_backends(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    mkdir("tracing", 0700);
    fclose(fopen("tracing/trace_marker", "w"));
    fclose(fopen("tracing/tracing_on", "w"));
    assert_int_equal(gt_trace_ftrace_set("nowhere", NULL), GT_TRACE_E_NOT_FOUND);
    assert_int_equal(gt_trace_ftrace_set("tracing", NULL), GT_TRACE_OK);
    assert_string_equal(text_of("tracing/tracing_on"), "1");
    assert_int_equal(gt_trace_log_set("threads", NULL), GT_TRACE_OK);
    logged_lines = 0;
    only(GT_TRACE_TEXT);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fire, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    only(GT_TRACE_SYSLOG);
    trace_hm_two(3, 4);
    gt_trace_switch_all("*", false, NULL);
    check_lines(text_of("threads"));
    check_lines(text_of("tracing/trace_marker"));
    assert_int_equal(logged_lines, THREADS * EVENTS + 1);
    assert_int_equal(opened_option, LOG_PID);
    assert_int_equal(opened_facility, LOG_DAEMON);
    assert_int_equal(logged_priority, LOG_INFO);
    assert_string_equal(logged, "hm_two a 3 b 4");
}

int main(void)
{
    char folder[] = "/tmp/events-text-XXXXXX", command[64];
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_threads_and_backends),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? 1 : failed;
}
