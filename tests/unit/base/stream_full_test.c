/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record streams on a disk that becomes full: on a small tmpfs of our own, which needs privileges.
 */
#include "base/stream/stream.h"
#include "stream_util.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

static int mount_scratch(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    return mount("none", scratch, "tmpfs", 0, "size=4m,mode=700");
}

static int unmount_scratch(void **state)
{
    umount2(scratch, MNT_DETACH);
    return drop_scratch(state);
}

/* The pool takes its 2 MiB of the disk, and then the files the rest, or the other way round. */
static void fill_disk(uint64_t records)
{
    struct gt_streams *set = create_set(0);
    struct gt_streams_stats stats;
    struct gt_stream *s[4];
    uint64_t in_files = 0;
    for (uint32_t i = 0; i < 4; i++)
        s[i] = open_stream(set, i);
    for (uint64_t n = 0; n < records; n += 8) {
        for (uint32_t i = 0; i < 4; i++)
            put_records(s[i], n, 8);
    }
    gt_streams_flush(set);
    gt_streams_get_stats(set, &stats);
    assert_int_equal(stats.error, ENOSPC);
    for (uint32_t i = 0; i < 4; i++) /* and nothing comes later */
        put_records(s[i], records, 5000);
    gt_streams_destroy(set, &stats);
    for (uint32_t i = 0; i < 4; i++) {
        int64_t n = check_file(i);
        assert_true(n >= 0);
        in_files += (uint64_t)n;
    }
    assert_int_equal(stats.records, 4 * (records + 5000));
    assert_int_equal(stats.written, in_files * GT_STREAM_RECORD);
    assert_int_equal(stats.lost, stats.records - in_files);
    assert_int_equal(count_rings(), 0);
}

static void test_full_disk(void **state)
{
    (void)state;
    fill_disk(100000);
}

/* No room for the pool from the start. */
static void test_full_at_start(void **state)
{
    (void)state;
    char path[128], block[4096] = {1};
    snprintf(path, sizeof path, "%s/filler", scratch);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 1016; i++)
        assert_int_equal(write(fd, block, sizeof block), sizeof block);
    close(fd);
    fill_disk(20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full_disk, mount_scratch, unmount_scratch),
        cmocka_unit_test_setup_teardown(test_full_at_start, mount_scratch, unmount_scratch),
    };
    /* In a chroot, whose / is no mount, nothing can be made private; what we mount is unmounted. */
    if (unshare(CLONE_NEWNS) != 0 ||
        (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 && errno != EINVAL)) {
        puts("SKIP: cannot mount a small file system here (needs root)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
