/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams where the system refuses: what is in the files is whole, the rest is counted. */
#include "base/stream/internal.h"
#include "base/stream/stream.h"
#include "stream_util.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct gt_stream_sys *real_sys;
static _Atomic unsigned calls, fail_after;
static _Atomic int fail_errno;

static ssize_t failing_pwritev(int fd, const struct iovec *iov, int n, off_t at)
{
    if (calls++ < fail_after)
        return real_sys->pwritev(fd, iov, n, at);
    errno = fail_errno;
    return -1;
}

static ssize_t short_pwritev(int fd, const struct iovec *iov, int n, off_t at)
{
    (void)n;
    if (calls++ % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    size_t most = 1 + calls * 7919 % 5000;
    struct iovec one = {.iov_base = iov->iov_base,
                        .iov_len = iov->iov_len < most ? iov->iov_len : most};
    return real_sys->pwritev(fd, &one, 1, at);
}

/* Writes half a record more, then nothing. */
static ssize_t torn_pwritev(int fd, const struct iovec *iov, int n, off_t at)
{
    if (calls++ > 0) {
        errno = ENOSPC;
        return -1;
    }
    struct iovec one = {.iov_base = iov->iov_base, .iov_len = 72};
    return real_sys->pwritev(fd, &one, n < 1 ? n : 1, at);
}

static int no_fallocate(int fd, int mode, off_t at, off_t size)
{
    (void)fd, (void)mode, (void)at, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

static int first_fallocate(int fd, int mode, off_t at, off_t size)
{
    if (at == 0)
        return real_sys->fallocate(fd, mode, at, size);
    errno = ENOSPC;
    return -1;
}

static int copy_on_write(int fd, struct statfs *out)
{
    int r = real_sys->fstatfs(fd, out);
    out->f_type = 0x9123683e;
    return r;
}

static void *no_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    (void)at, (void)size, (void)prot, (void)flags, (void)fd, (void)offset;
    errno = ENOMEM;
    return MAP_FAILED;
}

static int with_real_sys(void **state)
{
    static struct gt_stream_sys copy;
    if (!real_sys) {
        copy = gt_stream_sys;
        real_sys = &copy;
    }
    calls = 0;
    return make_scratch(state);
}

static int back_to_real_sys(void **state)
{
    gt_stream_sys = *real_sys;
    return drop_scratch(state);
}

/* Three streams are written to while writing may fail; what is in the files is whole and a
 * beginning, and what is not is counted. */
static struct gt_streams_stats run_three(uint64_t records)
{
    struct gt_streams *set = create_set(1 << 20);
    struct gt_streams_stats stats;
    struct gt_stream *s[3];
    uint64_t in_files = 0;
    for (uint32_t i = 0; i < 3; i++)
        s[i] = open_stream(set, i);
    for (uint64_t n = 0; n < records; n++) {
        for (uint32_t i = 0; i < 3; i++)
            put_records(s[i], n, 1);
        if (n == 100)
            gt_streams_flush(set);
    }
    for (uint32_t i = 0; i < 3; i++)
        gt_stream_close(s[i]);
    gt_streams_flush(set);
    const struct gt_stream_loss *loss;
    uint64_t losses[3] = {0};
    for (size_t i = 0, n = gt_streams_get_losses(set, &loss); i < n; i++)
        losses[loss[i].id] += loss[i].records;
    gt_streams_destroy(set, &stats);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t n = check_file(i);
        assert_true(n >= 0);
        assert_int_equal(losses[i], records - (uint64_t)n);
        in_files += (uint64_t)n;
    }
    assert_int_equal(stats.records, 3 * records);
    assert_int_equal(stats.written, in_files * GT_STREAM_RECORD);
    assert_int_equal(stats.lost, stats.records - in_files);
    assert_int_equal(count_rings(), 0);
    return stats;
}

static void test_eio(void **state)
{
    (void)state;
    gt_stream_sys.pwritev = failing_pwritev;
    fail_errno = EIO;
    fail_after = 4;
    struct gt_streams_stats stats = run_three(20000);
    assert_int_equal(stats.error, EIO);
    assert_true(stats.lost > 0);
    assert_int_equal(calls, 5);
    assert_int_equal(strncmp(stats.error_path, scratch, strlen(scratch)), 0);
    assert_non_null(strstr(stats.error_path, ".dat"));
}

static void test_torn_write(void **state)
{
    (void)state;
    gt_stream_sys.pwritev = torn_pwritev;
    struct gt_streams_stats stats = run_three(3000);
    assert_int_equal(stats.error, ENOSPC);
    assert_int_equal(stats.written, 64);
}

static void test_short_writes(void **state)
{
    (void)state;
    gt_stream_sys.pwritev = short_pwritev;
    struct gt_streams_stats stats = run_three(20000);
    assert_int_equal(stats.error, 0);
    assert_int_equal(stats.lost, 0);
}

static void test_pool_fallbacks(void **state)
{
    (void)state;
    struct gt_streams_stats stats = run_three(20000);
    gt_stream_sys.fallocate = no_fallocate;
    drop_scratch(state), make_scratch(state);
    stats = run_three(20000);
    assert_false(stats.survives_kill);
    assert_int_equal(stats.lost, 0);
    gt_stream_sys.fallocate = real_sys->fallocate;
    gt_stream_sys.fstatfs = copy_on_write;
    drop_scratch(state), make_scratch(state);
    stats = run_three(20000);
    assert_false(stats.survives_kill);
    assert_int_equal(stats.lost, 0);
}

/* More streams than the first slab has chunks, and no disk for another slab: part of the pool is in
 * memory. */
static void test_pool_cannot_grow(void **state)
{
    (void)state;
    enum { STREAMS = 2 * GT_FIRST_SLAB };
    gt_stream_sys.fallocate = first_fallocate;
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    struct gt_stream *s[STREAMS];
    for (uint32_t i = 0; i < STREAMS; i++)
        s[i] = open_stream(set, i);
    for (uint64_t n = 0; n < 3000; n++) {
        for (uint32_t i = 0; i < STREAMS; i++)
            put_records(s[i], n, 1);
    }
    gt_streams_destroy(set, &stats);
    assert_false(stats.survives_kill);
    assert_int_equal(stats.lost, 0);
    for (uint32_t i = 0; i < STREAMS; i++)
        assert_int_equal(check_file(i), 3000);
    assert_int_equal(count_rings(), 0);
}

static void test_no_memory(void **state)
{
    (void)state;
    gt_stream_sys.mmap = no_mmap;
    struct gt_streams_stats stats = run_three(5000);
    assert_int_equal(stats.error, ENOMEM);
    assert_int_equal(stats.lost, 15000);
}

static void test_cannot_create_file(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/1.dat", scratch);
    assert_int_equal(mkdir(path, 0700), 0);
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    struct gt_stream *s = open_stream(set, 1);
    put_records(s, 0, 5000);
    gt_streams_destroy(set, &stats);
    assert_int_equal(stats.error, EISDIR);
    assert_string_equal(stats.error_path, path);
    assert_int_equal(stats.lost, 5000);
    rmdir(path);
}

/* A limit on file sizes is an error of writing, not a signal that ends the process. */
static void test_file_size_limit(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 300008, .rlim_max = 300008};
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        struct gt_streams *set;
        struct gt_streams_stats stats;
        struct gt_stream *s;
        if (gt_streams_create(scratch, 0, &set, NULL) != 0 || gt_stream_open(set, 9, &s) != 0)
            _exit(1);
        put_records(s, 0, 30000);
        gt_streams_destroy(set, &stats);
        bool good = stats.error == EFBIG && stats.written == 300000 && stats.lost == 30000 - 18750;
        _exit(good ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(check_file(9), 18750);
}

static int run_with_descriptors(rlim_t most)
{
    struct gt_streams *set;
    struct gt_streams_stats stats;
    struct gt_stream *s[3];
    if (gt_streams_create(scratch, 0, &set, NULL) != 0)
        return 1;
    for (uint32_t i = 0; i < 3; i++) {
        if (gt_stream_open(set, i, &s[i]) != 0)
            return 2;
        put_records(s[i], 0, 3000);
        if (i == 0)
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, most});
    }
    for (uint32_t i = 0; i < 3; i++) {
        gt_streams_flush(set);
        put_records(s[i], 3000, 2000);
    }
    gt_streams_destroy(set, &stats);
    if (most > 0)
        return stats.error || stats.lost ? 3 : 0;
    char *name = strrchr(stats.error_path, '/');
    return stats.error == EMFILE && stats.lost == 10000 && strcmp(name, "/1.dat") == 0 ? 0 : 4;
}

/* A guest may lower how many descriptors there are: one is enough, and where there is none the
 * files that are open go on. */
static void test_few_descriptors(void **state)
{
    for (rlim_t most = 0; most < 6; most++) {
        pid_t child = fork();
        if (child == 0)
            _exit(run_with_descriptors(most));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(check_file(0), 5000);
        for (uint32_t i = 1; i < 3; i++)
            assert_int_equal(check_file(i), most > 0 ? 5000 : -1);
        drop_scratch(state), make_scratch(state);
    }
}

#define WITH_SYS(test) cmocka_unit_test_setup_teardown(test, with_real_sys, back_to_real_sys)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SYS(test_eio),
        WITH_SYS(test_torn_write),
        WITH_SYS(test_short_writes),
        WITH_SYS(test_pool_fallbacks),
        WITH_SYS(test_pool_cannot_grow),
        WITH_SYS(test_no_memory),
        WITH_SYS(test_cannot_create_file),
        WITH_SYS(test_file_size_limit),
        WITH_SYS(test_few_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
