/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings in several files: a boundary after each block, and what readers make of the parts. */
#include "compact_split_util.h"

static void test_all_parts(void **state)
{
    (void)state;
    record();
    check_all(BLOCKS * EACH);
    assert_int_equal(gt_compact_part_at(path).number, BLOCKS + 1);
    assert_int_not_equal(access(work.dir.path, F_OK), 0);
}

/* Each is complete: it ends with an index, and begins with what is open. */
static void test_part_alone(void **state)
{
    (void)state;
    record();
    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct gt_compact_file f;
        assert_int_equal(gt_compact_set_open(part(i + 1), &f, &err), 0);
        assert_int_equal(f.n_members, 0);
        assert_true(f.index_at && f.whole == f.size && f.n == f.index_blocks);
        assert_int_equal(read_file(&f, NUMBER, i * EACH, UINT64_MAX, 0), EACH);
        gt_compact_file_close(&f);
    }
}

/* Several processes, in turn and at the same time: each moves on with its next block. */
static void test_processes(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 0; i < 5; i++) { /* as after an execve() */
        add_as(NUMBER, i * EACH, 1, i % 2 ? UINT32_MAX : 1);
        add_as(NUMBER + 1, i * EACH, 1, 1);
    }
    finish();
    struct gt_compact_file f;
    assert_int_equal(gt_compact_set_open(path, &f, &err), 0);
    assert_int_equal(read_file(&f, NUMBER, 0, UINT64_MAX, 0), 5 * EACH);
    assert_int_equal(read_file(&f, NUMBER + 1, 0, UINT64_MAX, 0), 5 * EACH);
    gt_compact_file_close(&f);
}

static void test_missing_part(void **state)
{
    (void)state;
    struct gt_compact_file f;
    record();
    assert_int_equal(unlink(part(4)), 0);
    assert_int_equal(gt_compact_set_open(path, &f, &err), 0);
    assert_int_equal(f.n_members, BLOCKS);
    assert_int_equal(f.member[3].number, 5);
    assert_int_equal(read_file(&f, NUMBER, 0, 3 * EACH, EACH), BLOCKS * EACH);
    gt_compact_file_close(&f);
    assert_int_equal(unlink(path), 0); /* the newest one, too */
    assert_int_equal(gt_compact_set_open(path, &f, &err), 0);
    assert_int_equal(f.n_members, BLOCKS - 1);
    gt_compact_file_close(&f);
}

static void test_other_recording(void **state)
{
    (void)state;
    char aside[128];
    struct gt_compact_file f;
    record();
    snprintf(aside, sizeof aside, "%s/other", dir);
    assert_int_equal(rename(part(4), aside), 0);
    record(); /* the earlier one is moved to .old */
    assert_int_equal(rename(aside, part(4)), 0);
    assert_int_equal(gt_compact_set_open(path, &f, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "a.gtrace.4: not part 4"));
    /* a new recording does not touch it */
    assert_int_equal(gt_compact_work_check_set(path, &err), GT_E_EXISTS);
    assert_non_null(strstr(err.text, "a.gtrace.4"));
}

/* The parts of a recording that is replaced follow it. */
static void test_replaced(void **state)
{
    (void)state;
    char old[128];
    struct gt_compact_file f;
    for (int i = 0; i < 3; i++)
        record();
    snprintf(old, sizeof old, "%s.old", path);
    assert_int_equal(gt_compact_set_open(old, &f, &err), 0);
    assert_int_equal(read_file(&f, NUMBER, 0, UINT64_MAX, 0), BLOCKS * EACH);
    gt_compact_file_close(&f);
    check_all(BLOCKS * EACH);
}

/* A name that appears while it is recorded: the part grows, nothing is lost. */
static void test_name_taken(void **state)
{
    (void)state;
    begin();
    assert_int_equal(mkdir(part(1), 0777), 0);
    add_as(NUMBER, 0, 3, 1);
    assert_int_equal(rmdir(part(1)), 0);
    add_as(NUMBER, 3 * EACH, 3, 1);
    finish();
    check_all(6 * EACH);
    assert_int_equal(gt_compact_part_at(path).number, 4);
}

/* A kill between the two names, and one before a part was finished: the next one completes them. */
static void test_killed(void **state)
{
    (void)state;
    begin();
    add_as(NUMBER, 0, 3, 1);
    add_as(NUMBER, 3 * EACH, 1, UINT32_MAX);
    assert_int_equal(link(path, part(4)), 0);
    check_all(4 * EACH);
    finish();
    assert_int_not_equal(access(part(4), F_OK), 0);
    check_all(4 * EACH);
    struct gt_compact_file f;
    assert_int_equal(gt_compact_file_open(part(2), &f, &err), 0);
    assert_true(f.index_at > 0);
    gt_compact_file_close(&f);
}

/* The newest part, truncated at every byte: the whole blocks of all parts. */
static void test_truncated(void **state)
{
    (void)state;
    struct stat st;
    begin();
    add_as(NUMBER, 0, 2, 1);
    add_as(NUMBER, 2 * EACH, 2, UINT32_MAX);
    assert_int_equal(stat(path, &st), 0);
    uint64_t before = 4 * EACH;
    for (off_t size = st.st_size - 1; size >= 16 + 64 + 24; size--) {
        struct gt_compact_file f;
        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(gt_compact_set_open(path, &f, &err), 0);
        uint64_t n = read_file(&f, NUMBER, 0, UINT64_MAX, 0);
        assert_true(n <= before && n % EACH == 0 && n >= 2 * EACH);
        before = n;
        gt_compact_file_close(&f);
    }
    assert_int_equal(before, 2 * EACH);
    gt_compact_work_leave(&work);
    assert_int_equal(gt_file_remove_dir(work.dir.path, &err), 0);
}

static void test_amounts(void **state)
{
    (void)state;
    struct gt_compact_limits l;
    assert_int_equal(gt_compact_limits_parse("5min", NULL, &l, &err), 0);
    assert_int_equal(l.time, 300000000000);
    assert_int_equal(gt_compact_limits_parse("1M", "4M", &l, &err), 0);
    assert_int_equal(l.total, 4 << 20);
    assert_int_equal(gt_compact_limits_parse("1M", "3M", &l, &err), GT_E_USAGE);
    assert_int_equal(gt_compact_limits_parse("10x", NULL, &l, &err), GT_E_USAGE);
    assert_int_equal(gt_compact_limits_parse("1K", NULL, &l, &err), GT_E_USAGE);
    assert_int_equal(gt_compact_limits_parse(NULL, "10s", &l, &err), GT_E_USAGE);
}

/* No byte beyond the limit; what does not fit is refused. With parts the oldest go. */
static void test_limit(void **state)
{
    (void)state;
    struct gt_compact_writer_options o = {.limits = {.total = 80 << 10}};
    struct gt_compact_writer *w;
    uint64_t there, size;
    int e = 0;
    begin();
    o.path = work.file;
    o.dir = work.dir.path;
    assert_int_equal(gt_compact_writer_create(&o, &w), 0);
    assert_int_equal(gt_compact_packing.open(w, NUMBER, false, &there), 0);
    for (uint64_t i = 0; i < 1000 && !e; i++) {
        uint64_t words[2 * EACH];
        for (unsigned k = 0; k < 2 * EACH; k++)
            words[k] = (i * 2 * EACH + k + 1) * 0x9e3779b97f4a7c15u & ~4ull; /* no values */
        assert_int_equal(gt_compact_packing.put(w, TASK, words, 2 * EACH), 0);
        e = gt_compact_packing.end(w, &size);
    }
    assert_int_equal(e, EFBIG);
    gt_compact_packing.close(w, true);
    gt_compact_writer_destroy(w);
    finish();
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 10 << 10 && st.st_size <= 80 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_parts, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_part_alone, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_processes, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_part, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_other_recording, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_name_taken, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_truncated, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_amounts, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_limit, make_folder, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
