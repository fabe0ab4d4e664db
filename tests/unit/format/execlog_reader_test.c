/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs in execlog's binary form that are not whole: cut at every byte, with a bit of every byte
 * turned, with sizes that lie, of other versions. What can be read is read, and the rest told. */
#include "execlog_util.h"

#include "base/bytes.h"

#include <malloc.h>

static struct world w;

static int make_log(void **state)
{
    (void)state;
    world_make(&w, 7, WORLD_BUFFER, false);
    for (unsigned i = 0; i < 160; i++) {
        unsigned v = i / 20 % 2;
        world_run(&w, &w.vcpus[v], v);
        if (i % 20 == 19)
            gt_execlog_cut(&w.vcpus[v].stream);
    }
    world_end(&w);
    return 0;
}

static int drop_log(void **state)
{
    (void)state;
    world_free(&w);
    return 0;
}

static int read_bytes(const void *data, size_t size, struct gt_text *out, struct gt_error *err)
{
    struct bytes_source s = {data, size, .piece = 4099};
    out->len = 0;
    *err = (struct gt_error){0};
    return read_all(&s, false, out, err);
}

/* What was read are lines of the log, in their order. */
static void check_lines(const struct gt_text *got)
{
    const char *in = w.text.data;
    for (const char *line = got->data, *end = got->data + got->len; line < end;) {
        size_t n = (size_t)((char *)memchr(line, '\n', (size_t)(end - line)) + 1 - line);
        while (in < w.text.data + w.text.len && memcmp(in, line, n) != 0)
            in = (char *)memchr(in, '\n', (size_t)(w.text.data + w.text.len - in)) + 1;
        assert_true(in < w.text.data + w.text.len);
        in += n;
        line += n;
    }
}

static void test_cut(void **state)
{
    (void)state;
    struct gt_text got = {0};
    struct gt_error err;
    size_t before = 0;
    for (size_t n = 0; n < w.log.len; n++) {
        char *exact = malloc(n ? n : 1); /* so that a checker sees a read beyond it */
        memcpy(exact, w.log.data, n);
        int status = read_bytes(exact, n, &got, &err);
        free(exact);
        if (n < GT_EXECLOG_HEAD) {
            assert_int_equal(status, n && n < 8 ? GT_E_FORMAT : GT_E_TRUNC);
            continue;
        }
        assert_true(status == GT_E_TRUNC || status == 1); /* 1: between two chunks */
        assert_true(status == 1 || strstr(err.text, "truncated: the log ends after "));
        assert_true(got.len >= before && got.len <= w.text.len);
        assert_memory_equal(got.data ? got.data : "", w.text.data, got.len);
        before = got.len;
    }
    assert_int_equal(read_bytes(w.log.data, w.log.len, &got, &err), 0);
    assert_int_equal(got.len, w.text.len);
    gt_text_free(&got);
}

/* The kind of chunk that a byte is the body of; 0: of none. */
static uint8_t body_at(size_t at)
{
    for (size_t begin = GT_EXECLOG_HEAD; begin < w.log.len;) {
        struct gt_execlog_chunk c;
        assert_true(gt_execlog_get_chunk((uint8_t *)w.log.data + begin, &c));
        size_t body = begin + GT_EXECLOG_HEAD + c.summary;
        if (at < body)
            return 0;
        if (at < body + c.packed)
            return c.type;
        begin = body + c.packed;
    }
    return 0;
}

static void test_turned_bits(void **state)
{
    (void)state;
    struct gt_text got = {0};
    struct gt_error err;
    for (size_t i = 0; i < w.log.len; i++) {
        uint8_t *byte = (uint8_t *)w.log.data + i, was = *byte;
        if (body_at(i) == GT_EXECLOG_INDEX) /* which is not needed */
            continue;
        *byte = (uint8_t)(was ^ 1 << i % 8);
        int status = read_bytes(w.log.data, w.log.len, &got, &err);
        *byte = was;
        /* zstd's frames have bits that mean nothing */
        if (status == 0 && got.len == w.text.len)
            assert_memory_equal(got.data, w.text.data, got.len);
        else if (status >= 0 || !err.text[0])
            fail_msg("byte %zu: its damage is not seen", i);
        check_lines(&got);
    }
    gt_text_free(&got);
}

/* The header with a field of 16 bits changed; the check is right where it is asked for. */
static int read_header_with(size_t at, uint16_t v, bool check, struct gt_error *err)
{
    struct gt_text got = {0};
    uint8_t head[GT_EXECLOG_HEAD];
    memcpy(head, w.log.data, sizeof head);
    gt_bytes_put16(head + at, v);
    if (check)
        gt_bytes_put32(head + 60, gt_execlog_check(0, head, 60));
    int status = read_bytes(head, sizeof head, &got, err);
    gt_text_free(&got);
    return status;
}

static void test_versions(void **state)
{
    (void)state;
    struct gt_error err;
    assert_int_equal(read_header_with(8, 2, true, &err), GT_E_UNSUPPORTED);
    assert_string_equal(err.text,
                        "made.log: execlog log of version 2.0, this guesttrace reads 1.x");
    assert_int_equal(read_header_with(8, 2, false, &err), GT_E_UNSUPPORTED);
    assert_int_equal(read_header_with(10, 9, true, &err), 1); /* a later minor version is read */
    assert_int_equal(read_header_with(10, 9, false, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "its header is damaged"));
    assert_int_equal(read_header_with(0, 0x4547, true, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "not an execlog log in binary form"));
}

/* A log of one chunk with a header that says so, and `n` bytes after it. */
static int read_chunk(const struct gt_execlog_chunk *c, const void *after, size_t n,
                      struct gt_error *err)
{
    static uint8_t log[1 << 16];
    struct gt_text got = {0};
    memcpy(log, w.log.data, GT_EXECLOG_HEAD);
    memcpy(log + 2 * GT_EXECLOG_HEAD, after, n);
    gt_execlog_put_chunk(log + GT_EXECLOG_HEAD, c, log + 2 * GT_EXECLOG_HEAD);
    int status = read_bytes(log, 2 * GT_EXECLOG_HEAD + n, &got, err);
    gt_text_free(&got);
    return status;
}

static void test_sizes(void **state)
{
    (void)state;
    struct gt_error err;
    static const uint8_t none[2048];
    const struct gt_execlog_chunk good = {.type = 99};
    assert_int_equal(read_chunk(&good, none, 0, &err), 1); /* of an unknown type: left out */
    struct gt_execlog_chunk c = good;
    c.packed = 2048;
    assert_int_equal(read_chunk(&c, none, 2048, &err), 1);
    assert_int_equal(read_chunk(&c, none, 2047, &err), GT_E_TRUNC);
    const struct gt_execlog_chunk bad[] = {
        {.type = 1, .packed = GT_EXECLOG_MAX_PACKED + 1},
        {.type = 1, .packed = UINT32_MAX},
        {.type = 2, .unpacked = GT_EXECLOG_MAX_UNPACKED + 1},
        {.type = 2, .unpacked = UINT32_MAX},
        {.type = 2, .vcpu = GT_EXECLOG_MAX_VCPUS},
        {.type = 2, .unpacked = 17}, /* of nothing */
        {.type = 2, .packed = 2048, .unpacked = 17},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_chunk(&bad[i], none, bad[i].packed == 2048 ? 2048 : 0, &err),
                         GT_E_FORMAT);
        assert_non_null(strstr(err.text, "made.log offset 64: "));
    }
    c = (struct gt_execlog_chunk){.type = 2, .packed = GT_EXECLOG_MAX_PACKED, .unpacked = 1};
    assert_int_equal(read_chunk(&c, none, 2000, &err), GT_E_TRUNC);
}

static void test_read_error(void **state)
{
    (void)state;
    struct gt_text got = {0};
    struct gt_error err = {0};
    struct bytes_source s = {(uint8_t *)w.log.data, w.log.len - 1000, .piece = 100, .fail = EIO};
    assert_int_equal(read_all(&s, false, &got, &err), GT_E_IO);
    assert_non_null(strstr(err.text, "made.log offset "));
    assert_non_null(strstr(err.text, "cannot be read: Input/output error"));
    check_lines(&got);
    assert_true(got.len > 0);
    gt_text_free(&got);
}

/* Where the events' chunk of that number is, from 0. */
static size_t events_at(size_t number)
{
    struct gt_execlog_chunk c;
    size_t at = GT_EXECLOG_HEAD;
    for (;; at += GT_EXECLOG_HEAD + c.summary + c.packed) {
        assert_true(gt_execlog_get_chunk((uint8_t *)w.log.data + at, &c));
        if (c.type == GT_EXECLOG_EVENTS && number-- == 0)
            return at;
    }
}

/* A log that goes on after a piece of it was overwritten. */
static void test_found_again(void **state)
{
    (void)state;
    struct gt_text got = {0};
    struct gt_error err;
    size_t from = events_at(1), n = events_at(3) - 100 - from;
    uint8_t *copy = malloc(w.log.len);
    memcpy(copy, w.log.data, w.log.len);
    memset(copy + from, 'x', n);
    assert_int_equal(read_bytes(copy, w.log.len, &got, &err), GT_E_FORMAT);
    check_lines(&got);
    assert_memory_equal(got.data, w.text.data, 100);
    assert_memory_equal(got.data + got.len - 60, w.text.data + w.text.len - 60, 60);
    free(copy);
    gt_text_free(&got);
}

int main(void)
{
    mallopt(M_TRIM_THRESHOLD, 64 << 20); /* new pages would take longer than the rest */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),        cmocka_unit_test(test_turned_bits),
        cmocka_unit_test(test_versions),   cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_read_error), cmocka_unit_test(test_found_again),
    };
    return cmocka_run_group_tests(tests, make_log, drop_log);
}
