/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index of a recording in one file: the same blocks as by their heads, or none; indexes that
 * are damaged or lie; versions. */
#include "base/bytes.h"
#include "compact_file_util.h"

#include <zlib.h>

/* What the index says is what the heads say. Whether it was used. */
static bool check(void)
{
    struct gt_compact_file f, g;
    const uint8_t *payload;
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(gt_compact_file_scan(path, &g, &err), 0);
    assert_true(f.n == g.n && f.n_gaps == g.n_gaps && f.whole == g.whole && f.size == g.size);
    assert_int_equal(g.index_at, 0);
    for (size_t i = 0; i < f.n; i++) {
        assert_memory_equal(&f.block[i].head.first_time, &g.block[i].head.first_time, 24);
        assert_int_equal(f.block[i].at, g.block[i].at);
        assert_int_equal(f.block[i].head.type, g.block[i].head.type);
        assert_int_equal(f.block[i].head.packer, g.block[i].head.packer);
        assert_int_equal(f.block[i].head.records, g.block[i].head.records);
        assert_int_equal(gt_compact_file_payload(&f, i, &payload, &err), 0);
    }
    for (size_t i = 0; i < f.n_gaps; i++)
        assert_memory_equal(&f.gap[i], &g.gap[i], sizeof f.gap[i]);
    bool used = f.index_at != 0;
    gt_compact_file_close(&f);
    gt_compact_file_close(&g);
    return used;
}

static void test_index(void **state)
{
    (void)state;
    assert_false(check());
    append_index();
    assert_true(check());
    add_records(60, 1000);
    assert_true(check()); /* the last one is near the end */
    append_index();
    assert_true(check());
    off_t size = size_now();
    append_index();
    assert_int_equal(size_now(), size); /* there was nothing to add */
    for (unsigned i = 0; i < 5; i++) {
        add_text("info", "something\n");
        append_index();
        add_records(i, 1);
        append_index();
        assert_true(check());
    }
}

/* What is no block has a place in the index, too. */
static void test_gaps(void **state)
{
    (void)state;
    static const char nothing[200] = "tBlk is no block, tBlk, t";
    append_raw(nothing, 1);
    add_records(3, 1);
    append_raw(nothing, sizeof nothing);
    add_records(3, 1);
    append_raw(nothing, 64);
    assert_false(check());
    append_index();
    assert_true(check());
    struct gt_compact_file f;
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(f.n, 7);
    assert_int_equal(f.n_gaps, 3);
    assert_int_equal(f.gap[0].at, GT_COMPACT_FILE_HEAD);
    assert_true(f.gap[0].size == 1 && f.gap[1].size == sizeof nothing && f.gap[2].size == 64);
    assert_int_equal(f.whole, f.size);
    gt_compact_file_close(&f);
    append_raw(nothing, 20);
    append_raw(nothing, sizeof nothing);
    assert_true(check());
    append_index();
    assert_true(check());
}

/* The next block is found wherever it begins. */
static void test_long_gaps(void **state)
{
    (void)state;
    static const char nothing[(64 << 10) + 1];
    struct gt_compact_file f;
    for (size_t size = sizeof nothing - 70; size <= sizeof nothing; size++) {
        append_raw(nothing, size);
        add_records(1, size);
    }
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(f.n, 71);
    assert_int_equal(f.n_gaps, 71);
    gt_compact_file_close(&f);
}

/* Many blocks between an index and the file's end: the heads are read. */
static void test_far_index(void **state)
{
    (void)state;
    static char text[200000];
    srand(1);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)(32 + rand() % 90);
    add_records(3, 1);
    append_index();
    add_text("info", text);
    assert_false(check());
    append_index();
    assert_true(check());
}

static void test_cut(void **state)
{
    (void)state;
    add_records(5, 100);
    append_index();
    add_records(2, 100);
    append_index();
    for (off_t size = size_now() - 1; size > GT_COMPACT_FILE_HEAD; size--) {
        assert_int_equal(truncate(path, size), 0);
        check();
    }
}

/* ---- indexes that are not what the file is ------------------------------------------------- */

static void fix_checksums(uint8_t *block)
{
    gt_bytes_put32(block + 12,
                   (uint32_t)crc32_z(0, block + GT_COMPACT_HEAD, gt_bytes_le32(block + 8)));
    gt_bytes_put32(block + 60, (uint32_t)crc32_z(0, block, 60));
}

/* Block k, as its head in the file says. */
static void check_head(const uint8_t *data, size_t size, const struct gt_compact_block *b)
{
    struct gt_compact_head h;
    assert_int_equal(gt_compact_head_read(data + b->at, size - b->at, &h), 0);
    assert_true(h.type == b->head.type && h.flags == b->head.flags && h.size == b->head.size);
    assert_true(h.packer == b->head.packer && h.records == b->head.records);
    assert_true(h.first_time == b->head.first_time && h.last_time == b->head.last_time);
    assert_true(h.before == b->head.before);
}

/* Each byte of an index is another, and the checksums fit: either the heads are read, or each block
 * is where and what the index says, or its payload is refused. */
static void test_lies(void **state)
{
    (void)state;
    struct gt_compact_file f;
    const uint8_t *payload;
    size_t size, used = 0, refused = 0;
    add_records(6, 100);
    append_index();
    uint8_t *data = read_all(&size);
    uint64_t at = gt_bytes_le64(data + size - 16);
    for (size_t i = at + GT_COMPACT_HEAD; i < size; i++)
        for (unsigned change = 1; change < 256; change = change * 2 + 1) {
            data[i] ^= (uint8_t)change;
            fix_checksums(data + at);
            write_all(data, size);
            assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
            used += f.index_at != 0;
            assert_int_equal(f.whole, size);
            for (size_t k = 0; k < f.n; k++) {
                int status = gt_compact_file_payload(&f, k, &payload, &err);
                assert_true(status == 0 || (status == GT_E_FORMAT && f.index_at));
                refused += status < 0;
                if (status == 0)
                    check_head(data, size, &f.block[k]);
            }
            assert_true(f.index_at || f.n == 7);
            gt_compact_file_close(&f);
            data[i] ^= (uint8_t)change;
        }
    assert_true(used > 0 && refused > 0);
    free(data);
}

/* The sizes of an index's blocks must be all that is before it. */
static void test_wrong_sizes(void **state)
{
    (void)state;
    struct gt_compact_file f;
    size_t size;
    add_records(2, 100);
    append_index();
    uint8_t *data = read_all(&size);
    uint64_t at = gt_bytes_le64(data + size - 16);
    uint8_t *column = data + at + GT_COMPACT_HEAD + 2; /* link and number of entries: a byte each */
    assert_int_equal(column[-1], 2);
    for (int i = 0; i < 2; i++)
        column += 2 + (column[1] ? column[1] : column[0]);
    assert_true(column[0] == 2 && column[1] == 0);
    for (int step = -1; step < 2; step++) {
        column[3] = (uint8_t)(column[3] + step);
        fix_checksums(data + at);
        write_all(data, size);
        column[3] = (uint8_t)(column[3] - step);
        assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
        assert_int_equal(f.index_at, step ? 0 : at);
        assert_int_equal(f.n, 3);
        gt_compact_file_close(&f);
    }
    free(data);
}

/* Another index's bytes, and links that go nowhere. */
static void test_wrong_link(void **state)
{
    (void)state;
    struct gt_compact_file f;
    size_t size;
    add_records(2, 100);
    append_index();
    add_records(2, 100);
    append_index();
    uint8_t *data = read_all(&size);
    uint64_t at = gt_bytes_le64(data + size - 16);
    uint8_t *link = data + at + GT_COMPACT_HEAD; /* two bytes */
    uint8_t low = link[0];
    for (unsigned v = 0; v < 128; v++) {
        link[0] = (uint8_t)(v | 128);
        fix_checksums(data + at);
        write_all(data, size);
        assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
        assert_int_equal(f.index_at != 0, link[0] == low);
        assert_int_equal(f.n, 6);
        gt_compact_file_close(&f);
    }
    for (uint64_t v = 0; v < size + 20; v++) { /* the trailer */
        gt_bytes_put64(data + size - 16, v);
        fix_checksums(data + at);
        write_all(data, size);
        link[0] = low;
        assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
        assert_int_equal(f.n, 6);
        gt_compact_file_close(&f);
    }
    free(data);
}

/* ---- versions ------------------------------------------------------------------------------ */

static void set_version(unsigned major, unsigned minor)
{
    uint8_t version[4];
    int fd = open(path, O_WRONLY);
    gt_bytes_put16(gt_bytes_put16(version, (uint16_t)major), (uint16_t)minor);
    assert_int_equal(pwrite(fd, version, sizeof version, 8), sizeof version);
    close(fd);
}

static void test_versions(void **state)
{
    (void)state;
    struct gt_compact_file f;
    uint8_t block[GT_COMPACT_HEAD + 5] = "";
    const struct gt_compact_head head = {.type = 99, .flags = 200, .size = 5};
    add_records(2, 100);
    gt_compact_head_write(block, &head, block + GT_COMPACT_HEAD);
    append_raw(block, sizeof block);
    add_text("info", "here");
    set_version(1, 7);
    assert_int_equal(gt_compact_file_open(path, &f, &err), 0);
    assert_int_equal(f.n, 4);
    assert_int_equal(f.minor, 7);
    char *text;
    size_t size;
    assert_int_equal(gt_compact_file_text(&f, "info", &text, &size, &err), 0);
    free(text);
    gt_compact_file_close(&f);
    append_index();
    assert_true(check());
    set_version(2, 3);
    assert_int_equal(gt_compact_file_open(path, &f, &err), GT_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "version 2.3; this guesttrace reads version 1.1"));
    assert_int_equal(gt_compact_file_check(path, &err), GT_E_UNSUPPORTED);
}

/* A process died in the middle of a block, and another one went on after it. */
static void test_torn_between(void **state)
{
    (void)state;
    struct gt_compact_file f;
    char *text;
    size_t size, n;
    add_text("one", "1");
    off_t torn = size_now();
    add_records(1, 100);
    uint8_t *data = read_all(&size);
    for (size_t cut = (size_t)torn + 1; cut < size; cut++) {
        write_all(data, cut);
        add_text("two", "2");
        add_text("three", "3");
        assert_int_equal(gt_compact_file_scan(path, &f, &err), 0);
        assert_int_equal(f.n, 3);
        assert_int_equal(f.n_gaps, 1);
        assert_int_equal(f.gap[0].at, torn);
        assert_int_equal(f.gap[0].size, cut - (size_t)torn);
        assert_int_equal(gt_compact_file_text(&f, "two", &text, &n, &err), 0);
        assert_string_equal(text, "2");
        free(text);
        gt_compact_file_close(&f);
    }
    free(data);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_torn_between), TEST(test_index),    TEST(test_gaps), TEST(test_long_gaps),
        TEST(test_far_index),    TEST(test_cut),      TEST(test_lies), TEST(test_wrong_sizes),
        TEST(test_wrong_link),   TEST(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
