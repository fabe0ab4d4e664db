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

/* ---- damage -------------------------------------------------------------------------------- */

struct reader {
    struct gt_compact_unpacker *u;
    unsigned records;
};

/* Only records that were put come back: add_records() gave block i, of time 100 + i, two. */
static int check_records(void *self, const struct gt_compact_piece *p)
{
    struct reader *r = self;
    for (size_t i = 0; i < p->n; i++, r->records++) {
        struct gt_compact_record back = gt_compact_unpacker_record(r->u, &p->event[i]);
        if (back.word >= 1000)
            assert_int_equal(back.time, 103 + (back.word - 1000));
        else
            assert_int_equal(back.time, 99 + back.word);
    }
    return 0;
}

/* Unpacks what can be; the blocks that it did not get to. */
static size_t read_whole(const struct gt_compact_file *f, struct reader *r, uint64_t *damaged)
{
    struct gt_compact_segments s;
    struct gt_compact_buffer b = {0};
    size_t left = 0;
    assert_int_equal(gt_compact_segments_find(f, &s), 0);
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.segment[i].n; k++) {
            const struct gt_compact_block *block = &f->block[s.segment[i].block[k]];
            const uint8_t *payload;
            if (gt_compact_file_read(f, s.segment[i].block[k], &b, &payload, &err) < 0) {
                char at[40];
                snprintf(at, sizeof at, "offset %llu:", (unsigned long long)block->at);
                assert_non_null(strstr(err.text, at));
                *damaged = block->at;
                left += s.segment[i].n - k;
                break;
            }
            assert_int_equal(
                gt_compact_unpacker_block(r->u, &block->head, payload, check_records, r, &err), 0);
        }
    left += s.orphans;
    gt_compact_segments_free(&s);
    gt_compact_buffer_free(&b);
    return left;
}

/* A byte is another: all is read but that block and those that follow it in its segment, and
 * where it lies is known. */
static void test_changed(void **state)
{
    (void)state;
    enum { BLOCKS = 12 };
    struct gt_compact_file f;
    struct reader r = {0};
    uint64_t begins[BLOCKS + 1];
    size_t size;
    add_records(BLOCKS, 100); /* of each packer two segments of three blocks */
    assert_int_equal(gt_compact_unpacker_create(&r.u), 0);
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    for (size_t i = 0; i < BLOCKS; i++)
        begins[i] = f.block[i].at;
    begins[BLOCKS] = f.size;
    gt_compact_file_close(&f);
    uint8_t *data = read_all(&size);
    for (size_t i = 0; i < BLOCKS; i++)
        for (uint64_t at = begins[i]; at < begins[i + 1]; at++) {
            uint64_t damaged = 0;
            r.records = 0;
            data[at] ^= (uint8_t)(1 + at % 255);
            write_all(data, size);
            data[at] ^= (uint8_t)(1 + at % 255);
            assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
            size_t left = read_whole(&f, &r, &damaged);
            assert_int_equal(f.n + f.n_gaps, BLOCKS);
            assert_int_equal(f.n_gaps ? f.gap[0].at : damaged, begins[i]);
            assert_int_equal(left + f.n_gaps, 3 - i / 2 % 3);
            assert_int_equal(r.records, 2 * (BLOCKS - left - f.n_gaps));
            gt_compact_file_close(&f);
        }
    free(data);
    gt_compact_unpacker_destroy(r.u);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, remove_folder)
    const struct CMUnitTest tests[] = {TEST(test_segments), TEST(test_orphans), TEST(test_words),
                                       TEST(test_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
