/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams: every record arrives, in order, with many streams and threads. */
#include "base/stream/stream.h"
#include "stream_util.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

enum { THREADS = 8, PER_THREAD = 12, RECORDS = 5000 };

struct job {
    struct gt_streams *set;
    uint32_t first;
};

static void *produce(void *arg)
{
    struct job *j = arg;
    struct gt_stream *s[PER_THREAD] = {0};
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        if (gt_stream_open(j->set, j->first + i, &s[i]) != 0)
            return NULL;
    }
    for (uint64_t n = 0; n < RECORDS; n += 10) {
        for (uint32_t i = 0; i < PER_THREAD; i++)
            put_records(s[i], n, 10);
    }
    for (uint32_t i = 0; i < PER_THREAD; i += 2) /* destroy closes the others */
        gt_stream_close(s[i]);
    return j;
}

static void all_arrive(size_t limit)
{
    struct gt_streams *set = create_set(limit);
    struct gt_streams_stats stats;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        jobs[t] = (struct job){.set = set, .first = 1000 * t};
        assert_int_equal(pthread_create(&threads[t], NULL, produce, &jobs[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        void *done;
        pthread_join(threads[t], &done);
        assert_non_null(done);
    }
    gt_streams_destroy(set, &stats);
    for (uint32_t t = 0; t < THREADS; t++) {
        for (uint32_t i = 0; i < PER_THREAD; i++)
            assert_int_equal(check_file(1000 * t + i), RECORDS);
    }
    assert_int_equal(stats.records, THREADS * PER_THREAD * RECORDS);
    assert_int_equal(stats.written, stats.records * GT_STREAM_RECORD);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.error, 0);
    assert_true(stats.private_files);
    assert_int_equal(count_rings(), 0);
}

static void test_all_arrive(void **state)
{
    (void)state;
    all_arrive(0);
}

/* A pool for hardly more than a chunk a stream: producers wait, nothing is lost. */
static void test_small_pool(void **state)
{
    (void)state;
    all_arrive(1);
}

static void test_flush(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    gt_streams_flush(set); /* nothing was started */
    struct gt_stream *a = open_stream(set, 1), *b = open_stream(set, 2);
    assert_int_equal(check_file(2), 0);
    assert_int_equal(gt_stream_records(a), 0);
    for (uint64_t n = 0; n < 300; n++) {
        put_records(a, n, 1);
        put_records(b, 7 * n, 7);
        gt_streams_flush(set);
        assert_int_equal(check_file(1), n + 1);
        assert_int_equal(check_file(2), 7 * (n + 1));
    }
    assert_int_equal(gt_stream_records(b), 2100);
    gt_streams_get_stats(set, &stats);
    assert_int_equal(stats.records, 2400);
    assert_int_equal(stats.written, 2400 * GT_STREAM_RECORD);
    gt_streams_destroy(set, NULL);
}

/* A stream opened again goes on at its end: at once after the close, and with a later set; a torn
 * record at the end of a file is cut off. */
static void test_continue(void **state)
{
    (void)state;
    struct gt_stream *s, *again;
    char path[128];
    snprintf(path, sizeof path, "%s/5.dat", scratch);
    uint64_t n = 0;
    for (unsigned round = 0; round < 3; round++) {
        struct gt_streams *set = create_set(0);
        for (unsigned i = 0; i < 200; i++) {
            s = open_stream(set, 5);
            assert_int_equal(gt_stream_open(set, 5, &again), GT_E_EXISTS);
            put_records(s, n, i * 11);
            n += i * 11;
            gt_stream_close(s);
        }
        gt_stream_close(NULL);
        gt_streams_destroy(set, NULL);
        assert_int_equal(check_file(5), n);
        assert_int_equal(truncate(path, (off_t)(n * 16 + 5)), 0);
    }
    struct gt_streams *set = create_set(0);
    open_stream(set, 5); /* is enough to cut the file */
    gt_streams_destroy(set, NULL);
    assert_int_equal(check_file(5), n);
    gt_streams_destroy(NULL, NULL);
}

static void test_create_errors(void **state)
{
    (void)state;
    struct gt_streams *set = NULL;
    struct gt_error err = {0};
    assert_int_equal(gt_streams_create("/nonexistent/dir", 0, &set, &err), GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "/nonexistent/dir"));
    assert_int_equal(gt_streams_create("/dev/null", 0, &set, &err), GT_E_IO);
    assert_non_null(strstr(err.text, "/dev/null"));
}

/* More streams than the pool has chunks and than files may be open. */
static void test_many_streams(void **state)
{
    (void)state;
    enum { STREAMS = 4000 };
    static struct gt_stream *s[STREAMS];
    struct rlimit old, low;
    getrlimit(RLIMIT_NOFILE, &old);
    low = (struct rlimit){.rlim_cur = 64, .rlim_max = old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    struct gt_streams *set = create_set(8 << 20);
    struct gt_streams_stats stats;
    for (uint32_t i = 0; i < STREAMS; i++)
        s[i] = open_stream(set, i);
    for (uint64_t n = 0; n < 60; n += 20) {
        for (uint32_t i = 0; i < STREAMS; i++)
            put_records(s[i], n, 20);
    }
    gt_streams_destroy(set, &stats);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(stats.error, 0);
    assert_int_equal(stats.lost, 0);
    for (uint32_t i = 0; i < STREAMS; i++)
        assert_int_equal(check_file(i), 60);
}

/* Nobody waits for a file that is known to be new; one that was opened before goes on at its end.
 */
static void test_fresh(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    gt_streams_begin_fresh(set);
    for (uint32_t i = 0; i < 400; i++) {
        struct gt_stream *s = open_stream(set, i);
        put_records(s, 0, 3 + i % 2 * 2000);
        gt_stream_close(s);
    }
    for (uint32_t i = 0; i < 400; i += 7) {
        struct gt_stream *s = open_stream(set, i);
        put_records(s, 3 + i % 2 * 2000, 4);
        gt_stream_close(s);
    }
    gt_streams_destroy(set, &stats);
    assert_int_equal(stats.error, 0);
    for (uint32_t i = 0; i < 400; i++)
        assert_int_equal(check_file(i), 3 + i % 2 * 2000 + (i % 7 ? 0 : 4));
}

/* A file that should not be there is not written over. */
static void test_not_fresh(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    gt_stream_close(open_stream(set, 1));
    gt_streams_flush(set);
    char path[96];
    snprintf(path, sizeof path, "%s/2.dat", scratch);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite("0123456789abcdef", 1, 16, f), 16);
    fclose(f);
    gt_streams_begin_fresh(set);
    struct gt_stream *s = open_stream(set, 2);
    put_records(s, 0, 5);
    gt_stream_close(s);
    gt_streams_destroy(set, &stats);
    assert_int_equal(stats.error, EEXIST);
    assert_int_equal(stats.lost, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRATCH(test_all_arrive),    WITH_SCRATCH(test_small_pool),
        WITH_SCRATCH(test_flush),         WITH_SCRATCH(test_continue),
        WITH_SCRATCH(test_create_errors), WITH_SCRATCH(test_many_streams),
        WITH_SCRATCH(test_fresh),         WITH_SCRATCH(test_not_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
