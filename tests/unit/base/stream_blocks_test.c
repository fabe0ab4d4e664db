/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams whose records a backend takes: when blocks end, what fails. */
#include "base/stream/internal.h"
#include "packing_util.h"

#include <pthread.h>

/* ---- all is well --------------------------------------------------------------------------- */

enum { THREADS = 4, PER_THREAD = 6, RECORDS = 30000 };

struct job {
    struct gt_streams *set;
    uint32_t first;
};

static void *produce(void *arg)
{
    struct job *j = arg;
    struct gt_stream *s[PER_THREAD];
    for (uint32_t i = 0; i < PER_THREAD; i++)
        if (gt_stream_open(j->set, j->first + i, &s[i]) != 0)
            return NULL;
    for (uint64_t n = 0; n < RECORDS; n += 10)
        for (uint32_t i = 0; i < PER_THREAD; i++)
            put_records(s[i], n, 10);
    for (uint32_t i = 0; i < PER_THREAD; i += 2) /* destroy closes the others */
        gt_stream_close(s[i]);
    return j;
}

/* Returns how many blocks there are. */
static unsigned all_arrive(size_t limit, uint64_t full)
{
    script.full = full;
    script.ends = script.forgotten = 0;
    script.largest = script.smallest = 0;
    struct gt_streams *set = create_packed(limit);
    struct gt_streams_stats stats;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        jobs[t] = (struct job){.set = set, .first = 100 * t};
        assert_int_equal(pthread_create(&threads[t], NULL, produce, &jobs[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        void *done;
        pthread_join(threads[t], &done);
        assert_non_null(done);
    }
    gt_streams_destroy(set, &stats);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < PER_THREAD; i++)
            assert_int_equal(check_blocks(100 * t + i), RECORDS);
    assert_int_equal(stats.records, THREADS * PER_THREAD * RECORDS);
    assert_int_equal(stats.written, stats.records * GT_STREAM_RECORD);
    assert_int_equal(stats.bytes, stats.records * 24 + script.ends * 16);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.error, 0);
    assert_int_equal(script.forgotten, THREADS * PER_THREAD);
    assert_int_equal(count_rings(), 0);
    unlink(blocks_path(NULL));
    return script.ends;
}

/* Blocks end early where the pool has no room for one. */
static void test_all_arrive(void **state)
{
    (void)state;
    all_arrive(0, 50000);
    all_arrive(0, 1);
    unsigned blocks =
        all_arrive(1 << 20, 500000); /* 64 chunks: some 65000 records, and what is rounded */
    assert_in_range(script.largest, 1, 75000);
    assert_in_range(blocks, THREADS * PER_THREAD * RECORDS / 75000, 100000);
    all_arrive(1, 500000);
    script.most = 1500;
    all_arrive(0, 0);
    assert_in_range(script.largest, 1, 1500);
}

/* A full block ends, with what the current chunk holds: in a second each, the test would take more
 * than it may. */
static void test_full(void **state)
{
    (void)state;
    script.full = 5000;
    struct gt_streams *set = create_packed(0);
    struct gt_stream *s = open_stream(set, 1);
    for (uint64_t n = 0; n < 40; n++) {
        put_records(s, n * 6000, 6000);
        while (check_blocks(1) != (int64_t)(n + 1) * 6000)
            sched_yield();
    }
    gt_streams_destroy(set, NULL);
    assert_in_range(script.ends, 40, 80);
}

static void test_flush(void **state)
{
    (void)state;
    struct gt_streams *set = create_packed(0);
    struct gt_streams_stats stats;
    struct gt_stream *a = open_stream(set, 1), *b = open_stream(set, 2);
    for (uint64_t n = 0; n < 100; n++) {
        put_records(a, n, 1);
        put_records(b, 7 * n, 7);
        gt_streams_flush(set);
        assert_int_equal(check_blocks(1), n + 1);
        assert_int_equal(check_blocks(2), 7 * (n + 1));
    }
    assert_int_equal(script.ends, 100);
    gt_streams_flush(set); /* nothing has come: no block */
    assert_int_equal(script.ends, 100);
    gt_streams_get_stats(set, &stats);
    assert_int_equal(stats.written, 800 * GT_STREAM_RECORD);
    gt_streams_destroy(set, NULL);
}

/* What is put meanwhile is in the file in the end, though nobody flushes and no chunk is full. */
static void test_time(void **state)
{
    (void)state;
    struct gt_streams *set = create_packed(0);
    struct gt_stream *s = open_stream(set, 1);
    put_records(s, 0, 5);
    while (check_blocks(1) != 5)
        sched_yield();
    gt_streams_destroy(set, NULL);
}

/* A stream that is closed and opened again goes on; a number goes on with its next set. */
static void test_continue(void **state)
{
    (void)state;
    uint64_t n = 0;
    for (unsigned round = 0; round < 3; round++) {
        struct gt_streams *set = create_packed(0);
        for (unsigned i = 0; i < 100; i++, n += i * 11) {
            struct gt_stream *s = open_stream(set, 5);
            put_records(s, n, (i + 1) * 11);
            gt_stream_close(s);
        }
        gt_streams_destroy(set, NULL);
        assert_int_equal(check_blocks(5), n);
    }
}

/* ---- failures ------------------------------------------------------------------------------ */

static struct gt_streams_stats run_three(uint64_t records)
{
    struct gt_streams *set = create_packed(1 << 20);
    struct gt_streams_stats stats;
    struct gt_stream *s[3];
    uint64_t there = 0, losses[3] = {0};
    script.full = 5000;
    for (uint32_t i = 0; i < 3; i++)
        s[i] = open_stream(set, i);
    for (uint64_t n = 0; n < records; n++) {
        for (uint32_t i = 0; i < 3; i++)
            put_records(s[i], n, 1);
        if (n == 100)
            gt_streams_flush(set);
    }
    gt_stream_close(s[0]);
    gt_streams_flush(set);
    const struct gt_stream_loss *loss;
    for (size_t i = 0, n = gt_streams_get_losses(set, &loss); i < n; i++)
        losses[loss[i].id] += loss[i].records;
    gt_streams_destroy(set, &stats);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t n = check_blocks(i);
        assert_true(n >= 0);
        assert_int_equal(losses[i], records - (uint64_t)n);
        there += (uint64_t)n;
    }
    assert_int_equal(stats.records, 3 * records);
    assert_int_equal(stats.written, there * GT_STREAM_RECORD);
    assert_int_equal(stats.lost, stats.records - there);
    assert_int_equal(count_rings(), 0);
    return stats;
}

static void test_no_file(void **state)
{
    (void)state;
    script.fail_open = 1;
    struct gt_streams_stats stats = run_three(5000);
    assert_int_equal(stats.error, EMFILE);
    assert_int_equal(stats.lost, 15000);
    assert_string_equal(stats.error_path, blocks_path(NULL));
}

/* The block that does not fit is lost, and all that comes later. */
static void test_full_disk(void **state)
{
    (void)state;
    script.fail_end = 2; /* the first is the flush's */
    struct gt_streams_stats stats = run_three(20000);
    assert_int_equal(stats.error, ENOSPC);
    assert_int_equal(script.ends, 2);
    assert_true(stats.written > 0 && stats.lost > 0);
    assert_string_equal(stats.error_path, blocks_path(NULL));
}

static void test_no_memory(void **state)
{
    (void)state;
    script.fail_put = 20;
    struct gt_streams_stats stats = run_three(20000);
    assert_int_equal(stats.error, ENOMEM);
    assert_int_equal(script.puts, 20);
}

static int no_fallocate(int fd, int mode, off_t at, off_t size)
{
    (void)fd, (void)mode, (void)at, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

/* A pool in memory: rounds are as short as without a backend, so that a kill loses as little. */
static void test_pool_in_memory(void **state)
{
    (void)state;
    gt_stream_sys.fallocate = no_fallocate;
    struct gt_streams *set = create_packed(0);
    struct gt_stream *s = open_stream(set, 1);
    for (uint64_t n = 0; n < 50;
         n++) { /* half a second; of a second each it would be much longer */
        put_records(s, n, 1);
        while (check_blocks(1) != (int64_t)n + 1)
            sched_yield();
    }
    gt_streams_destroy(set, NULL);
    gt_stream_sys.fallocate = fallocate;
}

#define WITH_SCRIPT(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRIPT(test_all_arrive), WITH_SCRIPT(test_full),      WITH_SCRIPT(test_flush),
        WITH_SCRIPT(test_time),       WITH_SCRIPT(test_continue),  WITH_SCRIPT(test_no_file),
        WITH_SCRIPT(test_full_disk),  WITH_SCRIPT(test_no_memory), WITH_SCRIPT(test_pool_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
