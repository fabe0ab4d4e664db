/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams whose records a backend takes: what a kill and a fork leave. */
#include "../sanitizer.h"
#include "base/stream/internal.h"
#include "packing_util.h"

#include <signal.h>
#include <sys/wait.h>

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
 * slow machine, by the end of the first block, or where the writer had memory's ready for the
 * stream's first chunk. */
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
    for (unsigned i = 0; !missing.records || check_blocks(1) == 0; i++) {
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
        WITH_SCRIPT(test_recovery),
        WITH_SCRIPT(test_wrong_recovery),
        WITH_SCRIPT(test_fork),
        WITH_SCRIPT(test_partly_in_memory),
    };
    return THREADS_AFTER_FORK ? cmocka_run_group_tests(tests, NULL, NULL) : 77; /* skipped */
}
