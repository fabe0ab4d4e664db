/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording in one file: blocks and text files; cut and changed at every byte; appending. */
#include "compact_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_records(unsigned n)
{
    const struct gt_compact_packer_options o = {.packer = 7, .exact = true};
    struct gt_compact_packer *p;
    const uint8_t *block;
    size_t size;
    assert_int_equal(gt_compact_packer_create(&o, &p), 0);
    for (unsigned i = 0; i < n; i++) {
        struct gt_compact_record r = {100 + i, i};
        assert_int_equal(gt_compact_packer_put(p, 5, &r, 1), 0);
    }
    assert_int_equal(gt_compact_packer_end_block(p, &block, &size), 0);
    assert_int_equal(gt_compact_file_append(path, block, size, &err), 0);
    gt_compact_packer_destroy(p);
}

static void make(void)
{
    unlink(path);
    assert_int_equal(gt_compact_file_create(path, &err), 0);
    add_text("info", "old\n");
    add_records(10);
    add_text("task.txt", "");
    add_text("info", "new\n");
}

static void check_text(struct gt_compact_file *f, const char *name, const char *text)
{
    char *data;
    size_t size;
    assert_int_equal(gt_compact_file_text(f, name, &data, &size, &err), 0);
    assert_int_equal(size, strlen(text));
    assert_string_equal(data, text);
    free(data);
}

static void test_whole(void **state)
{
    (void)state;
    struct gt_compact_file f;
    char *data;
    size_t size;
    const uint8_t *payload;
    make();
    assert_int_equal(gt_compact_file_create(path, &err), GT_E_EXISTS);
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_true(f.n == 4 && f.size == f.whole);
    assert_int_equal(f.block[1].head.records, 10);
    assert_int_equal(f.block[1].head.first_time, 100);
    assert_int_equal(f.block[1].head.last_time, 109);
    assert_int_equal(gt_compact_file_payload(&f, 1, &payload, &err), 0);
    check_text(&f, "info", "new\n");
    check_text(&f, "task.txt", "");
    assert_int_equal(gt_compact_file_text(&f, "task", &data, &size, &err), GT_E_NOT_FOUND);
    gt_compact_file_close(&f);
}

/* All that was whole before the cut is there; the head of the file must be. */
static void test_cut(void **state)
{
    (void)state;
    struct gt_compact_file f;
    struct stat st;
    make();
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    uint64_t ends[4];
    for (size_t i = 0; i < 4; i++)
        ends[i] = f.block[i].at + GT_COMPACT_HEAD + f.block[i].head.size;
    gt_compact_file_close(&f);
    assert_int_equal(stat(path, &st), 0);
    for (off_t size = st.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate(path, size), 0);
        int status = gt_compact_file_open(path, &f, &err);
        assert_int_equal(status, size < GT_COMPACT_FILE_HEAD ? GT_E_FORMAT : 0);
        size_t want = 0;
        while (want < 4 && ends[want] <= (uint64_t)size)
            want++;
        if (status == 0) {
            assert_int_equal(f.n, want);
            assert_int_equal(f.whole, want ? ends[want - 1] : GT_COMPACT_FILE_HEAD);
            gt_compact_file_close(&f);
        }
    }
}

static void flip(off_t at)
{
    uint8_t byte;
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x55;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* A byte that is another: the block that it is in is refused or skipped, the others are there. */
static void test_changed(void **state)
{
    (void)state;
    struct gt_compact_file f;
    struct stat st;
    const uint8_t *payload;
    make();
    assert_int_equal(stat(path, &st), 0);
    for (off_t at = 0; at < st.st_size; at++) {
        flip(at);
        int status = gt_compact_file_open(path, &f, &err);
        if (at < 10)
            assert_int_equal(status, at < 8 ? GT_E_FORMAT : GT_E_UNSUPPORTED);
        size_t good = 0;
        for (size_t i = 0; status == 0 && i < f.n; i++)
            good += gt_compact_file_payload(&f, i, &payload, &err) == 0;
        if (at >= 10)
            assert_int_equal(good, at < GT_COMPACT_FILE_HEAD ? 4 : 3);
        if (at >= 10)
            assert_int_equal(f.n_gaps, f.n < 4);
        if (status == 0)
            gt_compact_file_close(&f);
        flip(at);
    }
}

static void test_not_one(void **state)
{
    (void)state;
    struct gt_compact_file f;
    assert_int_equal(gt_compact_file_open(path, &f, &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_compact_file_open(dir, &f, &err), GT_E_FORMAT);
    assert_int_equal(gt_compact_file_append(path, "x", 1, &err), GT_E_NOT_FOUND);
    snprintf(path + strlen(dir), sizeof path - strlen(dir), "/none/a");
    assert_int_equal(gt_compact_file_create(path, &err), GT_E_NOT_FOUND);
    snprintf(path + strlen(dir), sizeof path - strlen(dir), "/a.gtrace");
    FILE *empty = fopen(path, "w");
    fclose(empty);
    assert_int_equal(gt_compact_file_open(path, &f, &err), GT_E_FORMAT);
}

/* What does not fit on the disk is not there at all. */
static void test_full(void **state)
{
    (void)state;
    struct stat before, after;
    struct rlimit old, limit;
    make();
    assert_int_equal(stat(path, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = (rlim_t)before.st_size + 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    char block[100] = "";
    assert_int_equal(gt_compact_file_append(path, block, sizeof block, &err), GT_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

static void test_names(void **state)
{
    (void)state;
    uint8_t *block;
    size_t size;
    char name[GT_COMPACT_MAX_NAME + 2];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(gt_compact_text_pack(name, "", 0, &block, &size), GT_E_RANGE);
    assert_int_equal(gt_compact_text_pack("", "", 0, &block, &size), GT_E_RANGE);
    make();
    name[GT_COMPACT_MAX_NAME] = '\0';
    add_text(name, "long");
    struct gt_compact_file f;
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    check_text(&f, name, "long");
    gt_compact_file_close(&f);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {TEST(test_whole),   TEST(test_cut),  TEST(test_changed),
                                       TEST(test_not_one), TEST(test_full), TEST(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
