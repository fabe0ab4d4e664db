/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recovery from pool files that lie: refused, nothing created, nothing written. */
#include "base/stream/internal.h"
#include "base/stream/stream.h"
#include "stream_util.h"

enum { SLOTS = 4 };

/* A pool file of three chunks: two of stream 1, one of stream 2; each stream's file has 100
 * records. */
static struct {
    struct gt_stream_ring_head *head;
    struct gt_stream_ring_chunk *chunk[SLOTS];
    char bytes[SLOTS * GT_CHUNK_SIZE];
} ring;

static char ring_path[128];

static void make_file(uint32_t id, uint64_t records)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%u.dat", scratch, id);
    unlink(path); /* ext4 flushes a file that is cut to nothing and written again */
    FILE *f = fopen(path, "wb");
    for (uint64_t i = 0; i < records; i++)
        fwrite((uint64_t[]){id, i}, 16, 1, f);
    fclose(f);
}

static void make_chunk(unsigned slot, uint32_t id, uint64_t first, uint32_t records)
{
    struct gt_stream_ring_chunk *c =
        (struct gt_stream_ring_chunk *)(ring.bytes + slot * GT_CHUNK_SIZE);
    char *line = (char *)(c + 1), *body = (char *)c + GT_BODY_AT;
    uint32_t full = records * 16 / GT_STREAM_LINE * GT_STREAM_LINE;
    if (full > GT_BODY)
        full = GT_BODY;
    *c = (struct gt_stream_ring_chunk){.magic = GT_CHUNK_MAGIC, .id = id, .offset = first * 16};
    c->state.full = c->state.base = full;
    c->state.fill = records * 16 - full;
    for (uint32_t i = 0; i < records; i++)
        memcpy(i * 16 < full ? body + i * 16 : line + i * 16 - full, (uint64_t[]){id, first + i},
               16);
    ring.chunk[slot] = c;
}

static void write_ring(void)
{
    unlink(ring_path);
    FILE *f = fopen(ring_path, "wb");
    fwrite(ring.bytes, 1, sizeof ring.bytes, f);
    fclose(f);
}

static int make_ring(void **state)
{
    make_scratch(state);
    snprintf(ring_path, sizeof ring_path, "%s/.guesttrace-1-1.ring", scratch);
    memset(&ring, 0, sizeof ring);
    ring.head = (struct gt_stream_ring_head *)ring.bytes;
    *ring.head = (struct gt_stream_ring_head){.magic = GT_RING_MAGIC, .chunk_size = GT_CHUNK_SIZE};
    make_chunk(1, 1, 150, 1000); /* out of order, and the first half of the other is in the file */
    make_chunk(2, 2, 100, 7);
    make_chunk(3, 1, 50, 100);
    ring.chunk[3]->state.written = 50 * 16 - 3;
    make_file(1, 100);
    make_file(2, 100);
    write_ring();
    return 0;
}

static void test_good(void **state)
{
    (void)state;
    assert_int_equal(gt_streams_recover(scratch, NULL), 1000 + 7 + 51);
    assert_int_equal(check_file(1), 1150);
    assert_int_equal(check_file(2), 107);
    assert_int_equal(count_rings(), 0);
}

static void test_failed_set(void **state)
{
    (void)state;
    ring.head->failed = 1;
    write_ring();
    assert_int_equal(gt_streams_recover(scratch, NULL), 0);
    assert_int_equal(check_file(1), 100);
    assert_int_equal(count_rings(), 0);
}

/* Where chunks were elsewhere too, a stream ends before its first hole. */
static void test_partly(void **state)
{
    (void)state;
    ring.head->partly = 1;
    ring.chunk[1]->offset += 16;
    write_ring();
    struct gt_streams_missing missing = {0};
    assert_int_equal(gt_streams_recover_packed(scratch, NULL, NULL, &missing, NULL), 7 + 51);
    assert_int_equal(missing.pools, 1);
    assert_int_equal(missing.records, 1000);
    assert_int_equal(check_file(1), 150);
    assert_int_equal(check_file(2), 107);
    assert_int_equal(count_rings(), 0);
}

/* Where there were too few descriptors, a stream may have no file. */
static void test_no_file(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/1.dat", scratch);
    unlink(path);
    ring.head->partly = 1;
    write_ring();
    assert_int_equal(gt_streams_recover(scratch, NULL), 7);
    assert_int_equal(check_file(2), 107);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(count_rings(), 0);
}

/* Killed while a line was moved to the body: it is there twice, at one place in the run. */
static void test_moved(void **state)
{
    (void)state;
    struct gt_stream_ring_chunk *c = ring.chunk[1]; /* 1000 records: 250 lines */
    c->state.base -= GT_STREAM_LINE;
    c->state.fill = GT_STREAM_LINE;
    memcpy(c + 1, (char *)c + GT_BODY_AT + c->state.base, GT_STREAM_LINE);
    write_ring();
    assert_int_equal(gt_streams_recover(scratch, NULL), 1000 + 7 + 51);
    assert_int_equal(check_file(1), 1150);
    assert_int_equal(check_file(2), 107);
}

/* Nothing has changed, and the error names the pool file. */
static void refused(const char *says)
{
    struct gt_error err = {0};
    write_ring();
    assert_int_equal(gt_streams_recover(scratch, &err), GT_E_FORMAT);
    if (!strstr(err.text, ring_path) || !strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    assert_int_equal(check_file(1), 100);
    assert_int_equal(check_file(2), 100);
    assert_int_equal(count_rings(), 1);
    unsigned files = 0;
    DIR *d = opendir(scratch);
    for (struct dirent *e; (e = readdir(d));)
        files += e->d_name[0] != '.';
    closedir(d);
    assert_int_equal(files, 2);
}

#define REFUSED(field, bad, says)                                                                  \
    do {                                                                                           \
        __typeof__(field) was = field;                                                             \
        field = bad;                                                                               \
        refused(says);                                                                             \
        field = was;                                                                               \
    } while (0)

static void test_lies(void **state)
{
    (void)state;
    REFUSED(ring.head->magic, 1, "magic");
    REFUSED(ring.head->chunk_size, 4096, "chunk size: 4096");
    REFUSED(ring.chunk[2]->magic, 0, "magic");
    REFUSED(ring.chunk[2]->state.fill, 17, "fill");
    REFUSED(ring.chunk[2]->state.fill, GT_CHUNK_SIZE, "fill");
    REFUSED(ring.chunk[2]->state.fill, UINT32_MAX & ~15u, "fill");
    REFUSED(ring.chunk[2]->state.fill, GT_STREAM_LINE + 16, "fill");
    REFUSED(ring.chunk[1]->state.full, GT_BODY + GT_STREAM_LINE, "body");
    REFUSED(ring.chunk[1]->state.full, GT_STREAM_LINE + 4, "body");
    REFUSED(ring.chunk[1]->state.base, GT_BODY + GT_STREAM_LINE, "line");
    REFUSED(ring.chunk[1]->state.base, 4, "line");
    REFUSED(ring.chunk[2]->state.written, GT_CHUNK_SIZE, "written");
    REFUSED(ring.chunk[2]->offset, 1601, "offset 32768: a file offset");
    REFUSED(ring.chunk[2]->offset, UINT64_MAX & ~15ull, "offset");
    REFUSED(ring.chunk[2]->offset, 1616, "beyond the stream's end");
    REFUSED(ring.chunk[1]->offset, 151 * 16, "beyond the stream's end");
    REFUSED(ring.chunk[2]->id, 3, "no file: 3");
}

/* Stream files and pool files that are not regular files. */
static void test_not_regular(void **state)
{
    (void)state;
    char path[128], other[128];
    struct gt_error err = {0};
    snprintf(path, sizeof path, "%s/2.dat", scratch);
    snprintf(other, sizeof other, "%s/victim", scratch);
    close(open(other, O_CREAT | O_WRONLY, 0600));
    unlink(path);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(gt_streams_recover(scratch, &err), GT_E_IO);
    assert_int_equal(check_file(1), 100);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(gt_streams_recover(scratch, &err), GT_E_IO);
    unlink(path);
    make_file(2, 100);
    unlink(ring_path);
    assert_int_equal(symlink(other, ring_path), 0);
    assert_int_equal(gt_streams_recover(scratch, &err), GT_E_IO);
    unlink(ring_path);
    assert_int_equal(mkfifo(ring_path, 0600), 0);
    assert_int_equal(gt_streams_recover(scratch, &err), GT_E_FORMAT);
    unlink(ring_path);
    snprintf(other, sizeof other, "%s/.guesttrace-..-1.ring", scratch);
    close(open(other, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(gt_streams_recover(scratch, &err), 0);
    assert_int_equal(count_rings(), 1);
    assert_int_equal(gt_streams_recover("/nonexistent", &err), GT_E_NOT_FOUND);
}

/* Cut anywhere: the chunks that are whole are copied, or the file is refused. */
static void test_cut(void **state)
{
    (void)state;
    for (off_t size = 0; size < (off_t)sizeof ring.bytes; size += size < 128 ? 1 : 1021) {
        write_ring();
        assert_int_equal(truncate(ring_path, size), 0);
        int64_t n = gt_streams_recover(scratch, NULL);
        assert_true(n == GT_E_FORMAT || (n >= 0 && count_rings() == 0));
        assert_true(check_file(1) >= 100 && check_file(2) >= 100);
        make_file(1, 100);
        make_file(2, 100);
    }
}

/* Heads with random bytes changed: no crash, no new file, no file longer than the pool can explain.
 */
static void test_random(void **state)
{
    uint32_t seed = 7;
    (void)state;
    static char good[sizeof ring.bytes];
    memcpy(good, ring.bytes, sizeof good);
    for (unsigned k = 0; k < 1000; k++) {
        memcpy(ring.bytes, good, sizeof good);
        for (unsigned i = 0; i < 1 + k % 4; i++) {
            seed = seed * 1664525 + 1013904223;
            size_t at = (seed >> 28) % SLOTS * GT_CHUNK_SIZE + (seed >> 20) % 64;
            ring.bytes[at] = (char)(seed >> 8);
        }
        write_ring();
        int64_t n = gt_streams_recover(scratch, NULL);
        assert_true(n == GT_E_FORMAT || (n >= 0 && n <= 3 * 1020));
        for (uint32_t id = 1; id <= 2; id++) {
            struct stat st;
            char path[128];
            snprintf(path, sizeof path, "%s/%u.dat", scratch, id);
            assert_int_equal(stat(path, &st), 0);
            assert_true(st.st_size <= (off_t)(100 * 16 + sizeof ring.bytes));
            make_file(id, 100);
        }
    }
}

int main(void)
{
#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, make_ring, drop_scratch)
    const struct CMUnitTest tests[] = {
        WITH_RING(test_good),        WITH_RING(test_failed_set), WITH_RING(test_partly),
        WITH_RING(test_no_file),     WITH_RING(test_moved),      WITH_RING(test_lies),
        WITH_RING(test_not_regular), WITH_RING(test_cut),        WITH_RING(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
