/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records with payloads: all arrive, files end with whole records, losses are counted, and a pool
 * whose marks lie is refused. */
#include "base/stream/internal.h"
#include "stream_util.h"

#include <errno.h>

static int begin(void **state)
{
    payloads = true;
    return make_scratch(state);
}

static void test_all_arrive(void **state)
{
    enum { RECORDS = 30000, STREAMS = 3 };
    struct gt_streams_stats stats;
    struct gt_streams *set = create_set(0);
    struct gt_stream *s[STREAMS];
    (void)state;
    for (uint32_t i = 0; i < STREAMS; i++)
        s[i] = open_stream(set, i + 1);
    for (uint64_t n = 0; n < RECORDS; n++)
        for (uint32_t i = 0; i < STREAMS; i++)
            put_record(s[i], n);
    assert_int_equal(gt_stream_records(s[0]), RECORDS);
    gt_streams_get_stats(set, &stats);
    assert_int_equal(stats.records, STREAMS * RECORDS);
    gt_streams_flush(set);
    assert_int_equal(check_file(1), RECORDS);
    put_records(s[0], RECORDS, 1001);
    gt_streams_destroy(set, &stats);
    assert_int_equal(stats.records, STREAMS * RECORDS + 1001);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(check_file(1), RECORDS + 1001);
    assert_int_equal(check_file(3), RECORDS);
}

/* A file that ends in the middle of two words is continued. */
static void test_continue(void **state)
{
    (void)state;
    for (uint64_t from = 0; from < 300; from += 7) {
        struct gt_streams *set = create_set(0);
        put_records(open_stream(set, 1), from, 7);
        gt_streams_destroy(set, NULL);
        assert_int_equal(check_file(1), from + 7);
    }
}

/* ---- a disk that is full after `room` bytes ----------------------------------------------------
 */

static size_t room;

static ssize_t pwritev_some(int fd, const struct iovec *iov, int n, off_t offset)
{
    struct iovec one = iov[0];
    (void)n;
    if (one.iov_len > room)
        one.iov_len = room;
    ssize_t put = one.iov_len ? pwrite(fd, one.iov_base, one.iov_len, offset) : -1;
    if (put < 0)
        errno = ENOSPC;
    room -= put > 0 ? (size_t)put : 0;
    return put;
}

static void test_full_disk(void **state)
{
    enum { RECORDS = 24 };
    const struct gt_stream_sys real = gt_stream_sys;
    bool more = true;
    (void)state;
    for (size_t bytes = 0; more; bytes++) {
        struct gt_streams_stats stats;
        struct gt_streams *set = create_set(0);
        room = bytes;
        gt_stream_sys.pwritev = pwritev_some;
        put_records(open_stream(set, 1), 0, RECORDS);
        gt_streams_destroy(set, &stats);
        gt_stream_sys = real;
        int64_t n = check_file(1);
        assert_int_equal(stats.records, RECORDS);
        assert_int_equal(stats.lost + (uint64_t)n, RECORDS);
        more = stats.lost > 0;
        char path[128];
        struct stat st;
        snprintf(path, sizeof path, "%s/1.dat", scratch);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(stats.written, st.st_size);
        unlink(path);
    }
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

/* The run: 16, 16 + 24, 16 + 8, 16, 16 bytes. */
static const uint64_t two_marks[] = {(uint64_t)8 << 32 | 56, (uint64_t)24 << 32 | 16};

static void test_bounds(void **state)
{
    static const uint32_t begins[] = {0, 16, 56, 80, 96, 112};
    struct gt_stream_bounds m = {two_marks + 2, 2};
    (void)state;
    for (uint32_t at = 0, i = 0; at <= 112; at++) {
        i += i < 5 && at == begins[i + 1];
        assert_int_equal(gt_stream_bounds_whole(&m, at), begins[i]);
    }
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = i; k < 6; k++) {
            assert_int_equal(gt_stream_bounds_records(&m, begins[i], begins[k]), k - i);
            assert_int_equal(gt_stream_bounds_skip(&m, begins[i], k - i), begins[k]);
        }
    }
    for (uint32_t end = 0; end <= 112; end += 8) {
        struct gt_stream_bounds some = m;
        bool whole = gt_stream_bounds_whole(&m, end) == end;
        assert_int_equal(gt_stream_bounds_check(&some, end), whole);
    }
}

/* What no producer stores. */
static void test_bad_marks(void **state)
{
    static const struct {
        uint32_t at, more;
    } bad[] = {{8, 8},          {16, 0},       {16, 4}, {16, GT_STREAM_MORE_MOST + 8},
               {UINT32_MAX, 8}, {16, 1u << 31}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t word = gt_stream_bound(bad[i].at, bad[i].more);
        struct gt_stream_bounds m = {&word + 1, 1};
        bool later = bad[i].at >= 64; /* of a record that was not published */
        assert_int_equal(gt_stream_bounds_check(&m, 64), later);
        assert_int_equal(m.n, later ? 0 : 1);
    }
    const uint64_t overlap[] = {gt_stream_bound(24, 8), gt_stream_bound(0, 16)};
    struct gt_stream_bounds m = {overlap + 2, 2};
    assert_false(gt_stream_bounds_check(&m, 128));
}

/* ---- recovery of a pool that was made by hand ---------------------------------------------------
 */

static struct {
    char head[GT_CHUNK_SIZE];
    char chunk[GT_CHUNK_SIZE];
} ring;

static struct gt_stream_ring_chunk *make_ring(uint64_t records, uint32_t written)
{
    struct gt_stream_ring_chunk *c = (struct gt_stream_ring_chunk *)ring.chunk;
    uint64_t *end = (uint64_t *)(ring.chunk + GT_CHUNK_SIZE);
    uint32_t at = 0, marks = 0;
    memset(&ring, 0, sizeof ring);
    *(struct gt_stream_ring_head *)ring.head =
        (struct gt_stream_ring_head){.magic = GT_RING_MAGIC, .chunk_size = GT_CHUNK_SIZE};
    *c = (struct gt_stream_ring_chunk){.magic = GT_CHUNK_MAGIC, .id = 1};
    for (uint64_t n = 0; n < records; n++) {
        uint64_t *w = (uint64_t *)(ring.chunk + GT_BODY_AT + at);
        size_t more = payload_words(n);
        w[0] = 1;
        w[1] = n;
        for (size_t i = 0; i < more; i++)
            w[2 + i] = payload_word(1, n, i);
        if (more)
            end[-1 - (int)marks++] = gt_stream_bound(at, (uint32_t)more * 8);
        at += 16 + (uint32_t)more * 8;
    }
    c->state.full = c->state.base = at;
    c->state.n_more = marks;
    c->state.written = written;
    return c;
}

static int64_t recover_ring(uint32_t in_file, struct gt_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/.guesttrace-1-1.ring", scratch);
    FILE *f = fopen(path, "wb");
    fwrite(&ring, 1, sizeof ring, f);
    fclose(f);
    snprintf(path, sizeof path, "%s/1.dat", scratch);
    f = fopen(path, "wb");
    fwrite(ring.chunk + GT_BODY_AT, 1, in_file, f);
    fclose(f);
    return gt_streams_recover(scratch, err);
}

/* A kill at each byte of a write. */
static void test_recover(void **state)
{
    (void)state;
    uint32_t all = make_ring(60, 0)->state.full;
    for (uint32_t written = 0; written <= all; written++) {
        make_ring(60, written);
        int64_t n = recover_ring(written, NULL);
        assert_in_range(n, written < all, 60);
        assert_int_equal(check_file(1), 60);
    }
}

static void test_recover_refuses(void **state)
{
    struct gt_error err;
    (void)state;
    struct gt_stream_ring_chunk *c = make_ring(60, 0);
    c->state.n_more = 100000;
    assert_int_equal(recover_ring(0, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "more payloads"));
    c = make_ring(60, 0);
    c->state.n_more--;
    assert_int_equal(recover_ring(0, &err), GT_E_FORMAT);
    c = make_ring(60, 0);
    c->state.base = c->state.full -= 8;
    assert_int_equal(recover_ring(0, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "payloads that do not fit"));
    assert_int_equal(check_file(1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_arrive, begin, drop_scratch),
        cmocka_unit_test_setup_teardown(test_continue, begin, drop_scratch),
        cmocka_unit_test_setup_teardown(test_full_disk, begin, drop_scratch),
        cmocka_unit_test_setup_teardown(test_recover, begin, drop_scratch),
        cmocka_unit_test_setup_teardown(test_recover_refuses, begin, drop_scratch),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_bad_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
