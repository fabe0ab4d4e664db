/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The segments of a recording in one file, where all is whole and where blocks are lost; its words.
 */
#include "compact_file_util.h"

static int note_word(void *self, uint64_t word)
{
    uint8_t *seen = self;
    assert_true(word < 2000 && !seen[word]);
    seen[word] = 1;
    return word == 1500 ? GT_E_RANGE : 0;
}

static void test_segments(void **state)
{
    (void)state;
    struct gt_compact_file f;
    struct gt_compact_segments s;
    uint64_t records = 0;
    add_records(20, 100); /* 10 blocks of a packer, 3 blocks a segment */
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(gt_compact_segments_find(&f, &s), 0);
    assert_int_equal(s.n, 8);
    assert_int_equal(s.orphans, 0);
    for (size_t i = 0; i < s.n; i++) {
        const struct gt_compact_segment *g = &s.segment[i];
        assert_int_equal(g->packer, 7 + i % 2);
        assert_int_equal(g->n, i < 6 ? 3 : 1);
        assert_int_equal(g->block[0], 6 * (i / 2) + i % 2);
        assert_int_equal(g->first_time, 100 + g->block[0]);
        assert_int_equal(g->last_time, 103 + g->block[g->n - 1]);
        records += g->records;
    }
    assert_int_equal(records, 40);
    gt_compact_segments_free(&s);
    gt_compact_file_close(&f);
}

/* A block is lost: what follows it in its segment cannot be unpacked. */
static void test_orphans(void **state)
{
    (void)state;
    struct gt_compact_file f;
    struct gt_compact_segments s;
    size_t size;
    uint8_t seen[2000] = {0};
    add_records(20, 100);
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    uint64_t first = f.block[0].at, second = f.block[8].at;
    gt_compact_file_close(&f);
    uint8_t *data = read_all(&size);
    data[first + 9] ^= 1;  /* the first segment's first, of three */
    data[second + 9] ^= 1; /* the second of another one's three */
    write_all(data, size);
    free(data);
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(f.n, 18);
    assert_int_equal(gt_compact_segments_find(&f, &s), 0);
    assert_int_equal(s.n, 7);
    assert_int_equal(s.orphans, 3);
    assert_int_equal(s.orphan_records, 6);
    gt_compact_segments_free(&s);
    assert_int_equal(gt_compact_file_words(&f, note_word, seen, &err), 0);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(seen[i + 1], i != 0 && i != 2 && i != 4 && i != 8 && i != 10);
    gt_compact_file_close(&f);
}

static void test_words(void **state)
{
    (void)state;
    struct gt_compact_file f;
    uint8_t seen[2000] = {0};
    add_records(30, 100);
    add_records(30, 100);
    add_text("info", "here");
    append_index();
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(gt_compact_file_words(&f, note_word, seen, &err), 0);
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(seen[i], (i >= 1 && i <= 30) || (i >= 1000 && i < 1030));
    gt_compact_file_close(&f);
    add_records(501, 100);
    memset(seen, 0, sizeof seen);
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(gt_compact_file_words(&f, note_word, seen, &err), GT_E_RANGE);
    gt_compact_file_close(&f);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_segments), TEST(test_orphans), TEST(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
