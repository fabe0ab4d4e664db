/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams of a process that is killed, or replaced by execve(): what was published is there
 * after the recovery, once and whole. */
#include "base/stream/stream.h"
#include "packing_util.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { STREAMS = 6, THREADS = 2, KILLS = 60 };

/* Shared with the child: records published, each stream. */
static struct {
    _Atomic uint64_t published[STREAMS];
    _Atomic bool ready;
} * progress;

/* The records go to a backend. */
static bool packed;

static int set_packed(void **state)
{
    packed = true;
    return make_scratch(state);
}

static int set_payloads(void **state)
{
    payloads = true;
    return make_scratch(state);
}

static int set_both(void **state)
{
    packed = true;
    return set_payloads(state);
}

static int drop_variant(void **state)
{
    packed = payloads = false;
    return drop_scratch(state);
}

/* NULL: it fails. */
static struct gt_streams *new_set(size_t limit)
{
    struct gt_streams *set;
    if (gt_streams_create(scratch, limit, &set, NULL) != 0)
        return NULL;
    if (payloads)
        gt_streams_expect_more(set);
    script.full = 20000;
    if (packed)
        gt_streams_pack(set, &scripted, NULL, (uint32_t)getpid());
    return set;
}

static int64_t recover(struct gt_error *err)
{
    return packed ? gt_streams_recover_packed(scratch, &scripted, NULL, NULL, err)
                  : gt_streams_recover(scratch, err);
}

static int64_t count_records(uint32_t id)
{
    return packed ? check_blocks(id) : check_file(id);
}

struct job {
    struct gt_stream *s[STREAMS];
    unsigned first;
};

/* Puts for ever, a burst a stream in turn, on every THREADS-th stream. */
static void *produce(void *arg)
{
    struct job *j = arg;
    for (unsigned round = 0;; round++) {
        for (unsigned i = j->first; i < STREAMS; i += THREADS) {
            uint64_t n = atomic_load(&progress->published[i]);
            for (unsigned k = 0; k < 1 + round * 37 % 700; k++) {
                put_record(j->s[i], n);
                atomic_store(&progress->published[i], ++n);
            }
        }
    }
    return NULL;
}

/* The child: continues the streams until it is killed. */
static void run_until_killed(size_t limit)
{
    struct gt_streams *set = new_set(limit);
    struct job jobs[THREADS] = {0};
    pthread_t t;
    if (!set)
        _exit(1);
    for (unsigned i = 0; i < STREAMS; i++) {
        if (gt_stream_open(set, i, &jobs[0].s[i]) != 0)
            _exit(2);
    }
    jobs[1] = jobs[0];
    jobs[1].first = 1;
    atomic_store(&progress->ready, true);
    if (pthread_create(&t, NULL, produce, &jobs[1]) != 0)
        _exit(4);
    produce(&jobs[0]);
}

static void kill_one(unsigned seed, bool while_starting)
{
    atomic_store(&progress->ready, false);
    pid_t child = fork();
    if (child == 0)
        run_until_killed(256 << 10);
    int status;
    while (!while_starting && !atomic_load(&progress->ready)) {
        if (waitpid(child, &status, WNOHANG) == child)
            fail_msg("the child ended with %d", status);
    }
    struct timespec some = {.tv_nsec = seed % 100 * 80000};
    nanosleep(&some, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Between the store that publishes a record and the one to the shared page the child may die. */
static void check_published(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        uint64_t known = atomic_load(&progress->published[i]);
        int64_t n = count_records(i);
        if (n != (int64_t)known && n != (int64_t)known + 1)
            fail_msg("stream %u: %lld of %llu records", i, (long long)n, (unsigned long long)known);
        atomic_store(&progress->published[i], (uint64_t)n);
    }
}

static void test_kill(void **state)
{
    unsigned seed = 1;
    (void)state;
    for (unsigned i = 0; i < STREAMS; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%u.dat", scratch, i);
        close(open(path, O_CREAT | O_WRONLY, 0600));
        atomic_store(&progress->published[i], 0);
    }
    for (unsigned k = 0; k < KILLS; k++) {
        seed = seed * 1103515245 + 12345;
        kill_one(seed >> 8, k % 8 == 0);
        struct gt_error err = {0};
        int64_t n = recover(&err);
        if (n < 0)
            fail_msg("%s", err.text);
        assert_int_equal(count_rings(), 0);
        check_published();
        assert_int_equal(recover(&err), 0);
        if (k % 20 == 19) { /* the files would become large */
            remove_scratch();
            mkdir(scratch, 0700);
            for (unsigned i = 0; i < STREAMS; i++) {
                char path[128];
                snprintf(path, sizeof path, "%s/%u.dat", scratch, i);
                close(open(path, O_CREAT | O_WRONLY, 0600));
                atomic_store(&progress->published[i], 0);
            }
        }
    }
}

/* A pool file of a living process is left alone; the next set in the directory recovers a dead
 * one's before it opens streams. */
static void test_next_set_recovers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STREAMS; i++)
        atomic_store(&progress->published[i], 0);
    kill_one(50, false);
    assert_int_equal(count_rings(), 1);
    struct gt_streams *set = new_set(0);
    struct gt_stream *s = open_stream(set, 3);
    uint64_t n = (uint64_t)count_records(3);
    assert_true(n >= atomic_load(&progress->published[3]));
    put_records(s, n, 3000);
    assert_int_equal(count_rings(), 1);
    assert_int_equal(recover(NULL), 0);
    assert_int_equal(count_rings(), 1);
    put_records(s, n + 3000, 3000);
    gt_streams_destroy(set, NULL);
    assert_int_equal(count_records(3), n + 6000);
}

static void run_records(uint64_t from, uint64_t n, bool finish)
{
    struct gt_streams *set = new_set(0);
    struct gt_stream *s;
    if (!set || gt_stream_open(set, 7, &s) != 0)
        _exit(1);
    put_records(s, from, n);
    if (finish)
        gt_streams_destroy(set, NULL);
}

/* The process and its id live on, its streams do not. */
static void test_exec(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        run_records(0, 12345, false);
        execl("/proc/self/exe", "stream_kill_test", packed ? "--packed" : "--files",
              payloads ? "more" : "", scratch, (char *)NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_records(7), 12345 + 2345);
    assert_int_equal(count_rings(), 0);
}

/* Whether the scratch directory's file system lets a pool survive. */
static bool can_survive(void)
{
    make_scratch(NULL);
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    gt_stream_close(open_stream(set, 1));
    gt_streams_flush(set);
    gt_streams_destroy(set, &stats);
    remove_scratch();
    return stats.survives_kill;
}

int main(int argc, char **argv)
{
    if (argc == 4) { /* test_exec */
        packed = strcmp(argv[1], "--packed") == 0;
        payloads = *argv[2];
        snprintf(scratch, sizeof scratch, "%s", argv[3]);
        run_records(12345, 2345, true);
        return 0;
    }
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return 1;
    if (!can_survive()) {
        puts("SKIP: the file system of /tmp does not promise space (needs ext4, xfs or tmpfs)");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        WITH_SCRATCH(test_kill),
        WITH_SCRATCH(test_next_set_recovers),
        WITH_SCRATCH(test_exec),
        cmocka_unit_test_setup_teardown(test_kill, set_packed, drop_variant),
        cmocka_unit_test_setup_teardown(test_next_set_recovers, set_packed, drop_variant),
        cmocka_unit_test_setup_teardown(test_exec, set_packed, drop_variant),
        cmocka_unit_test_setup_teardown(test_kill, set_payloads, drop_variant),
        cmocka_unit_test_setup_teardown(test_next_set_recovers, set_payloads, drop_variant),
        cmocka_unit_test_setup_teardown(test_exec, set_payloads, drop_variant),
        cmocka_unit_test_setup_teardown(test_kill, set_both, drop_variant),
        cmocka_unit_test_setup_teardown(test_exec, set_both, drop_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
