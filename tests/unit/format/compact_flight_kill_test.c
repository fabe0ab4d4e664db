/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring of a flight recorder: what a kill, damage and a full disk leave. */
#include "compact_flight_util.h"

/* ---- kills --------------------------------------------------------------------------------- */

static int64_t bytes_left; /* that can be written before the process ends; -1: any number */

static ssize_t killed_pwrite(int fd, const void *data, size_t n, off_t at)
{
    if (bytes_left < 0)
        return pwrite(fd, data, n, at);
    size_t some = n < (size_t)bytes_left ? n : (size_t)bytes_left;
    bytes_left -= (int64_t)some;
    if (some)
        return pwrite(fd, data, some, at);
    errno = EIO;
    return -1;
}

/* The process ends after each number of bytes; then another one goes on where the ring ends. */
static void kill_after(unsigned pieces, int64_t bytes)
{
    struct flight l = {0};
    bytes_left = -1;
    assert_int_equal(begin(&l, 64 << 10, 0), 0);
    put_pieces(&l, pieces);
    bytes_left = bytes;
    while (put_piece(&l) == 0)
        continue;
    bytes_left = -1;
    end(&l);
    uint64_t before = kept_up_to(l.ended);
    assert_true(before >= 5000 || before == l.ended);
    assert_int_equal(begin(&l, 64 << 10, 0), 0);
    assert_int_equal(kept_up_to(l.ended), before);
    put_pieces(&l, 5);
    assert_true(kept_up_to(l.ended) >= before / 2);
    end(&l);
    unlink(ring_path);
}

static void test_kill(void **state)
{
    (void)state;
    gt_compact_flight_sys.pwrite = killed_pwrite;
    for (int64_t bytes = 0; bytes < 200; bytes++)
        kill_after(1, bytes);
    for (int64_t bytes = 0; bytes < 6000; bytes += 61)
        kill_after(150, bytes);
}

/* Whatever else is in a ring's file, no more is believed than its blocks prove. */
static void test_damage(void **state)
{
    (void)state;
    struct flight l = {0};
    gt_compact_flight_sys.pwrite = pwrite;
    assert_int_equal(begin(&l, 64 << 10, 0), 0);
    put_pieces(&l, 150);
    end(&l);
    off_t size = size_of(ring_path);
    for (off_t at = 0; at < size; at += 997) {
        uint8_t byte;
        int fd = open(ring_path, O_RDWR);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        unlink(path);
        assert_int_equal(gt_compact_file_create(path, &err), 0);
        assert_true(gt_compact_flight_copy(dir, path, &err) >= 0);
        read_file();
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
    }
    kept_up_to(l.ended);
}

/* ---- a full disk --------------------------------------------------------------------------- */

static off_t disk;

static int full_fallocate(int fd, int mode, off_t at, off_t size)
{
    if (at + size <= disk)
        return fallocate(fd, mode, at, size);
    errno = ENOSPC;
    return -1;
}

static int no_fallocate(int fd, int mode, off_t at, off_t size)
{
    (void)fd, (void)mode, (void)at, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

static ssize_t full_pwrite(int fd, const void *data, size_t n, off_t at)
{
    if (at + (off_t)n <= disk)
        return pwrite(fd, data, n, at);
    errno = ENOSPC;
    return -1;
}

static void go_on_in(off_t bytes)
{
    struct flight l = {0};
    disk = bytes;
    assert_int_equal(begin(&l, 8 << 20, 0), 0);
    put_pieces(&l, 6000);
    assert_true(kept_up_to(l.ended) >= 10000);
    assert_true(kept_up_to(l.ended) < l.ended);
    end(&l);
    unlink(ring_path);
}

static void test_full(void **state)
{
    (void)state;
    gt_compact_flight_sys.fallocate = full_fallocate;
    go_on_in((1 << 20) + 100);
    gt_compact_flight_sys.fallocate = no_fallocate;
    gt_compact_flight_sys.pwrite = full_pwrite;
    go_on_in(100000);
    struct flight l = {0};
    disk = 100;
    assert_int_equal(begin(&l, 8 << 20, 0), 0);
    assert_int_equal(put_piece(&l), 0);
    assert_int_equal(end_block(&l), ENOSPC);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kill, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
