/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams in a process that is not ours: its descriptors, its signals and its fork(). */
#include "../sanitizer.h"
#include "base/stream/stream.h"
#include "base/thread.h"
#include "stream_util.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The descriptors of this process, as a bit set of the first 64; its own listing's is left out. */
static uint64_t descriptors(void)
{
    uint64_t set = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd != dirfd(d) && fd < 64)
            set |= 1ull << fd;
    }
    if (d)
        closedir(d);
    return set;
}

static int lowest(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

static void test_descriptors(void **state)
{
    (void)state;
    uint64_t before = descriptors();
    int first = lowest();
    struct gt_streams *set = create_set(0);
    struct gt_stream *s[20];
    for (uint32_t i = 0; i < 20; i++) {
        s[i] = open_stream(set, i);
        assert_int_equal(lowest(), first);
    }
    for (uint64_t n = 0; n < 20000; n += 10) {
        for (uint32_t i = 0; i < 20; i++)
            put_records(s[i], n, 10);
        if (n % 1000 == 0)
            gt_streams_flush(set);
        assert_int_equal(lowest(), first);
        if (n % 500 == 0)
            assert_true(descriptors() == before);
    }
    gt_streams_destroy(set, NULL);
    assert_true(descriptors() == before);
}

/* The guest closes whatever it finds, and opens files of its own in their places. */
static void test_close_range(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct gt_streams *set;
        struct gt_streams_stats stats;
        struct gt_stream *s;
        if (gt_streams_create(scratch, 0, &set, NULL) != 0 || gt_stream_open(set, 1, &s) != 0)
            _exit(1);
        for (uint64_t n = 0; n < 50; n++) {
            put_records(s, 1000 * n, 1000);
            for (int fd = 0; fd < 32; fd++)
                close(fd);
            for (int fd = 0; fd < 16; fd++) {
                if (open("/dev/full", O_RDWR) != fd)
                    _exit(2);
            }
            gt_streams_flush(set);
        }
        gt_streams_destroy(set, &stats);
        _exit(stats.error ? 3 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(check_file(1), 50000);
}

static int refused_close_range(unsigned first, unsigned last, int flags)
{
    (void)first, (void)last, (void)flags;
    errno = ENOSYS;
    return -1;
}

static int refused_unshare(int flags)
{
    (void)flags;
    errno = EPERM;
    return -1;
}

static void run_some(bool *private_files)
{
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    struct gt_stream *s = open_stream(set, 1);
    put_records(s, 0, 5000);
    gt_streams_destroy(set, &stats);
    *private_files = stats.private_files;
    assert_int_equal(check_file(1), 5000);
    drop_scratch(NULL);
    make_scratch(NULL);
}

static void test_older_kernels(void **state)
{
    (void)state;
    struct gt_thread_sys real = gt_thread_sys;
    uint64_t before = descriptors();
    bool private_files;
    run_some(&private_files);
    assert_true(private_files);
    gt_thread_sys.close_range = refused_close_range;
    run_some(&private_files);
    assert_true(private_files);
    gt_thread_sys.unshare = refused_unshare;
    run_some(&private_files);
    assert_false(private_files);
    assert_true(descriptors() == before);
    gt_thread_sys = real;
}

/* Every thread but the caller's must block every signal that can be blocked. */
static void test_signals(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    open_stream(set, 1);
    DIR *d = opendir("/proc/self/task");
    unsigned others = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[300], line[256];
        if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(path, "r");
        bool ours = false;
        unsigned long long blocked = 0;
        while (f && fgets(line, sizeof line, f)) {
            ours |= strcmp(line, "Name:\tguesttrace\n") == 0;
            sscanf(line, "SigBlk: %llx", &blocked);
        }
        if (f)
            fclose(f);
        if (!ours) /* a sanitizer's */
            continue;
        others++;
        /* all 64 but KILL, STOP and the C library's own 32 and 33 */
        assert_int_equal(blocked | 1ull << 8 | 1ull << 18 | 3ull << 31, ~0ull);
    }
    closedir(d);
    assert_int_equal(others, 1);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert_int_equal(sigismember(&now, SIGTERM), 0);
    gt_streams_destroy(set, NULL);
}

static _Atomic bool stop;

static void *produce(void *arg)
{
    struct gt_stream *s = arg;
    for (uint64_t n = 0; !atomic_load(&stop); n++)
        put_records(s, n, 1);
    return NULL;
}

/* The child's part: its own stream in the same set, and a set that forks again. */
static int child_part(struct gt_streams *set, uint32_t id, unsigned depth)
{
    struct gt_streams_stats stats;
    struct gt_stream *s;
    gt_streams_fork_child(set);
    gt_streams_get_stats(set, &stats);
    if (stats.records || stats.written || gt_stream_open(set, id, &s) != 0)
        return 1;
    put_records(s, 0, 3000);
    if (depth) {
        gt_streams_fork_prepare(set);
        pid_t child = fork();
        if (child == 0)
            _exit(child_part(set, id + 1, depth - 1));
        gt_streams_fork_parent(set);
        int status;
        waitpid(child, &status, 0);
        if (child < 0 || status)
            return 2;
    }
    put_records(s, 3000, 3000);
    gt_streams_destroy(set, &stats);
    return stats.records == 6000 && stats.error == 0 ? 0 : 3;
}

static void test_fork(void **state)
{
    (void)state;
    enum { PRODUCERS = 3, FORKS = 15 };
    struct gt_streams *set = create_set(1 << 20);
    struct gt_stream *s[PRODUCERS];
    pthread_t t[PRODUCERS];
    atomic_store(&stop, false);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        s[i] = open_stream(set, i);
        assert_int_equal(pthread_create(&t[i], NULL, produce, s[i]), 0);
    }
    for (uint32_t k = 0; k < FORKS; k++) {
        gt_streams_fork_prepare(set);
        pid_t child = fork();
        if (child == 0)
            _exit(THREADS_AFTER_FORK ? child_part(set, 100 + 10 * k, 1) : 0);
        gt_streams_fork_parent(set);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&stop, true);
    uint64_t n[PRODUCERS];
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        pthread_join(t[i], NULL);
        n[i] = gt_stream_records(s[i]);
    }
    gt_streams_destroy(set, NULL);
    for (uint32_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(check_file(i), n[i]);
    for (uint32_t k = 0; k < FORKS && THREADS_AFTER_FORK; k++) {
        assert_int_equal(check_file(100 + 10 * k), 6000);
        assert_int_equal(check_file(101 + 10 * k), 6000);
    }
    assert_int_equal(count_rings(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRATCH(test_descriptors),   WITH_SCRATCH(test_close_range),
        WITH_SCRATCH(test_older_kernels), WITH_SCRATCH(test_signals),
        WITH_SCRATCH(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
