/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams whose records a backend takes: when blocks end, what fails, what a kill leaves. */
#include "base/stream/internal.h"
#include "packing_util.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define NUMBER 77

static int begin(void **state)
{
    memset(&script, 0, sizeof script);
    return make_scratch(state);
}

static int end(void **state)
{
    free(backend.words);
    backend.words = NULL;
    return drop_scratch(state);
}

static struct gt_streams *create_packed(size_t limit)
{
    struct gt_streams *set = create_set(limit);
    gt_streams_pack(set, &scripted, NULL, NUMBER);
    return set;
}

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

/* ---- kills --------------------------------------------------------------------------------- */

static struct gt_stream *a, *b;

/* What producers put while the block is being ended. */
static void put_more(void)
{
    put_records(a, 5000, 100);
    put_records(b, 100, 500);
}

/* A process that ends in the middle of ending its second block. */
static void run_and_die(void)
{
    struct gt_streams *set = create_packed(0);
    bool before = script.before_end, after = script.after_end;
    script.before_end = script.after_end = false;
    a = open_stream(set, 1);
    b = open_stream(set, 2);
    put_records(a, 0, 3000);
    put_records(b, 0, 50);
    gt_streams_flush(set);
    put_records(a, 3000, 2000);
    put_records(b, 50, 50);
    script.before_end = before;
    script.after_end = after;
    script.at_end = put_more;
    gt_streams_flush(set);
    _exit(1);
}

static int64_t recover(void)
{
    struct gt_error err = {0};
    int64_t n = gt_streams_recover_packed(scratch, &scripted, NULL, NULL, &err);
    if (n < 0)
        fail_msg("%s", err.text);
    return n;
}

static void die(bool before)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        script.before_end = before;
        script.after_end = !before;
        run_and_die();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_rings(), 1);
}

/* Once and whole, whether the block is in the file or not, and wherever the first recovery ends. */
static void test_recovery(void **state)
{
    for (unsigned before = 0; before < 2; before++) {
        for (unsigned fail_at = 0; fail_at < 5; fail_at++) {
            int64_t wanted = before ? 2050 + 600 : 600;
            memset(&script, 0, sizeof script);
            die(before);
            assert_int_equal(check_blocks(1), before ? 3000 : 5000);
            script.full = 1; /* a block for each chunk */
            script.fail_end = fail_at;
            int64_t n = gt_streams_recover_packed(scratch, &scripted, NULL, NULL, NULL);
            bool failed = fail_at > 0 && fail_at <= (before ? 4 : 2);
            assert_true(failed ? n < 0 : n == wanted);
            script.fail_end = 0;
            int64_t rest = recover();
            assert_true(failed ? rest > 0 && rest <= wanted : rest == 0);
            assert_int_equal(check_blocks(1), 5100);
            assert_int_equal(check_blocks(2), 600);
            assert_int_equal(count_rings(), 0);
            drop_scratch(state), make_scratch(state);
        }
    }
}

/* The disk has no room for the second slab of the pool, and then has again. */
static int fallocate_but_once(int fd, int mode, off_t at, off_t size)
{
    static unsigned calls;
    if (++calls != 2)
        return fallocate(fd, mode, at, size);
    errno = ENOSPC;
    return -1;
}

enum { IN_CHUNK = GT_CHUNK_ROOM / GT_STREAM_RECORD, IN_POOL = 2 * GT_SLAB * IN_CHUNK };

/* Killed while the pool's chunks are the file's, then memory's, then the file's again; or, on a
 * slow machine, by the end of the first block. */
static void fill_and_die(void)
{
    struct gt_streams *set = create_packed(0);
    gt_stream_sys.fallocate = fallocate_but_once;
    script.before_end = true;
    put_records(open_stream(set, 1), 0, IN_POOL);
    put_records(open_stream(set, 2), 0, 10);
    raise(SIGKILL);
}

/* What is before the part that was in memory is recovered, and no more: the rest has a hole before
 * it. That is reported, and repeated nothing is. */
static void test_partly_in_memory(void **state)
{
    (void)state;
    struct gt_streams_missing missing = {0};
    struct gt_error err = {0};
    int64_t n = 0;
    for (unsigned i = 0; !missing.records; i++) {
        assert_true(i < 50);
        drop_scratch(state), make_scratch(state);
        memset(&script, 0, sizeof script);
        pid_t child = fork();
        if (child == 0)
            fill_and_die();
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(count_rings(), 1);
        missing = (struct gt_streams_missing){0};
        n = gt_streams_recover_packed(scratch, &scripted, NULL, &missing, &err);
        assert_true(n >= 0);
        assert_int_equal(check_blocks(1) + check_blocks(2), n);
    }
    assert_int_equal(missing.pools, 1);
    assert_in_range(check_blocks(1), IN_CHUNK, GT_FIRST_SLAB * IN_CHUNK);
    assert_true(missing.records + (uint64_t)n < IN_POOL);
    assert_int_equal(count_rings(), 0);
    missing = (struct gt_streams_missing){0};
    assert_int_equal(gt_streams_recover_packed(scratch, &scripted, NULL, &missing, &err), 0);
    assert_true(missing.pools == 0 && missing.records == 0);
}

/* A pool of another kind of recording, or of a file that has been cut, is left alone. */
static void test_wrong_recovery(void **state)
{
    (void)state;
    struct gt_error err = {0};
    die(true);
    assert_int_equal(gt_streams_recover(scratch, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "not the pool of such a recording: 77"));
    assert_int_equal(truncate(blocks_path(NULL), 16), 0);
    assert_int_equal(gt_streams_recover_packed(scratch, &scripted, NULL, NULL, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "more records in the file than it has: 3050"));
    assert_int_equal(count_rings(), 1);
}

/* ---- fork ---------------------------------------------------------------------------------- */

static void test_fork(void **state)
{
    (void)state;
    struct gt_streams *set = create_packed(0);
    struct gt_stream *s = open_stream(set, 1);
    put_records(s, 0, 2500);
    gt_streams_fork_prepare(set);
    pid_t child = fork();
    if (child == 0) {
        gt_streams_fork_child(set);
        s = open_stream(set, 2);
        put_records(s, 0, 1500);
        gt_streams_destroy(set, NULL);
        _exit(backend.number == (uint64_t)getpid() ? 0 : 1);
    }
    gt_streams_fork_parent(set);
    put_records(s, 2500, 1000);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gt_streams_destroy(set, NULL);
    assert_int_equal(check_blocks(1), 3500);
    assert_int_equal(check_blocks(2), 1500);
}

#define WITH_SCRIPT(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRIPT(test_all_arrive),
        WITH_SCRIPT(test_full),
        WITH_SCRIPT(test_flush),
        WITH_SCRIPT(test_time),
        WITH_SCRIPT(test_continue),
        WITH_SCRIPT(test_no_file),
        WITH_SCRIPT(test_full_disk),
        WITH_SCRIPT(test_no_memory),
        WITH_SCRIPT(test_pool_in_memory),
        WITH_SCRIPT(test_recovery),
        WITH_SCRIPT(test_wrong_recovery),
        WITH_SCRIPT(test_fork),
        WITH_SCRIPT(test_partly_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
