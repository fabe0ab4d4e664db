/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams: every packet in order, in pieces of any size; cut at every byte; what is too long, of an
 * unknown type, or no etrace at all. */
#include "etrace_util.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1 << 12 };

static uint8_t stream[ROOM];
static size_t stream_size;
static uint64_t ends[32]; /* of each packet */
static uint16_t types[32];
static size_t n_packets;

static void note_packet(const struct gt_bytes_writer *w, uint16_t type)
{
    assert_false(w->short_of);
    ends[n_packets] = (uint64_t)(w->at - stream);
    types[n_packets++] = type;
}

/* A stream with a packet of each kind, and one of a kind that nobody knows. */
static int make_stream(void **state)
{
    (void)state;
    struct gt_bytes_writer w;
    struct gt_etrace_run run;
    uint8_t packet[256];
    gt_bytes_writer_init(&w, stream, sizeof stream);
    gt_etrace_put_info(&w, &(const struct gt_etrace_info){0});
    note_packet(&w, GT_ETRACE_INFO);
    gt_etrace_put_arch(&w, &(const struct gt_etrace_arch){{243, 32, 0}, {62, 64, 0}});
    note_packet(&w, GT_ETRACE_ARCH);
    gt_etrace_run_init(&run, packet, sizeof packet, 1, 32);
    gt_etrace_run_add(&run, 0x1000, 0x1004, 0, 1);
    gt_etrace_run_add(&run, 0x2000, 0x2004, 1, 2);
    gt_bytes_write_bytes(&w, packet, gt_etrace_run_take(&run));
    note_packet(&w, GT_ETRACE_EXEC);
    gt_etrace_put_barrier(&w, 1);
    note_packet(&w, GT_ETRACE_BARRIER);
    gt_etrace_put_tb(&w, 1, &(const struct gt_etrace_tb){.guest_code = packet, .guest_len = 9});
    note_packet(&w, GT_ETRACE_TB);
    gt_bytes_write_u16(&w, 0x999);
    gt_bytes_write_u16(&w, 0);
    gt_bytes_write_u32(&w, 5);
    gt_bytes_write_bytes(&w, "12345", 5);
    note_packet(&w, 0x999);
    gt_etrace_put_note(&w, 1, &(const struct gt_etrace_note){0, "text", 4});
    note_packet(&w, GT_ETRACE_NOTE);
    gt_etrace_put_mem(&w, 1, &(const struct gt_etrace_mem){.size = 4});
    note_packet(&w, GT_ETRACE_MEM);
    gt_etrace_put_event(&w, &(const struct gt_etrace_event){.device = "", .name = "e"});
    note_packet(&w, GT_ETRACE_EVENT);
    stream_size = (size_t)(w.at - stream);
    return 0;
}

static void test_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= stream_size; piece++) {
        struct source s = {.data = stream, .size = stream_size, .piece = piece};
        struct gt_etrace_reader *r = reader_over(&s);
        struct gt_etrace_packet p;
        assert_int_equal(gt_etrace_reader_arch(r)->guest.bits, 64);
        for (size_t i = 0; i < n_packets; i++) {
            assert_int_equal(gt_etrace_next(r, &p, NULL), 1);
            assert_int_equal(p.type, types[i]);
            uint64_t begin = i ? ends[i - 1] : 0;
            assert_int_equal(p.offset, begin);
            assert_int_equal(p.len, ends[i] - begin - 8);
            assert_memory_equal(p.body, stream + begin + 8, p.len);
            assert_true(s.at - ends[i] < piece); /* it was given as soon as it was whole */
        }
        assert_int_equal(gt_etrace_reader_arch(r)->guest.bits, 32);
        assert_int_equal(gt_etrace_reader_arch(r)->guest.id, 243);
        assert_int_equal(gt_etrace_next(r, &p, NULL), 0);
        assert_int_equal(gt_etrace_next(r, &p, NULL), 0);
        gt_etrace_reader_destroy(r);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for (size_t cut = 0, whole = 0; cut < stream_size; cut++) {
        struct source s = {.data = stream, .size = cut, .piece = 7};
        struct gt_etrace_reader *r = reader_over(&s);
        struct gt_etrace_packet p;
        struct gt_error err = {0};
        char place[64];
        whole += cut == ends[whole];
        for (size_t i = 0; i < whole; i++)
            assert_int_equal(gt_etrace_next(r, &p, &err), 1);
        uint64_t begin = whole ? ends[whole - 1] : 0;
        int status = cut == begin ? 0 : GT_E_TRUNC;
        assert_int_equal(gt_etrace_next(r, &p, &err), status);
        assert_int_equal(err.status, status);
        snprintf(place, sizeof place, "made.etrace offset %llu: truncated",
                 (unsigned long long)begin);
        assert_true(cut == begin || strstr(err.text, place));
        err.text[0] = '\0';
        assert_int_equal(gt_etrace_next(r, &p, &err), status); /* and stays so */
        assert_true(cut == begin || strstr(err.text, place));
        gt_etrace_reader_destroy(r);
    }
}

static int next_of(const uint8_t *data, size_t size, int fail, struct gt_error *err)
{
    struct source s = {.data = data, .size = size, .piece = SIZE_MAX, .fail = fail};
    struct gt_etrace_reader *r = reader_over(&s);
    struct gt_etrace_packet p;
    int status;
    *err = (struct gt_error){0};
    while ((status = gt_etrace_next(r, &p, err)) == 1)
        ;
    gt_etrace_reader_destroy(r);
    return status;
}

static void test_too_long(void **state)
{
    (void)state;
    static uint8_t data[START_SIZE + 8 + GT_ETRACE_MAX_BODY + 1];
    struct gt_error err;
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, data, sizeof data);
    put_start(&w, 64);
    gt_bytes_write_u32(&w, 0x999);
    uint8_t *len = w.at;
    gt_bytes_write_u32(&w, GT_ETRACE_MAX_BODY);
    assert_int_equal(next_of(data, sizeof data - 1, 0, &err), 0);
    for (uint64_t n = GT_ETRACE_MAX_BODY + 1; n <= UINT32_MAX; n = n * 2 - 1) {
        gt_bytes_writer_init(&w, len, 4);
        gt_bytes_write_u32(&w, (uint32_t)n);
        assert_int_equal(next_of(data, sizeof data, 0, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "made.etrace offset 44: packet of type 0x999 has "));
        assert_non_null(strstr(err.text, "expected at most 2097152"));
    }
}

static void test_no_etrace(void **state)
{
    (void)state;
    struct gt_error err;
    assert_int_equal(next_of((const uint8_t *)"\177ELF\2\1\1\0", 8, 0, &err), GT_E_FORMAT);
    assert_string_equal(err.text, "made.etrace: not an etrace stream: it begins with a packet of"
                                  " type 0x457f, expected INFO, 0x4554");
}

static void test_read_error(void **state)
{
    (void)state;
    struct gt_error err;
    assert_int_equal(next_of(stream, 60, EIO, &err), GT_E_IO);
    assert_non_null(strstr(err.text, "made.etrace offset 60: cannot be read: "));
    /* It stays, even if the source would go on. */
    struct source s = {.data = stream, .size = 10, .piece = SIZE_MAX, .fail = EIO};
    struct gt_etrace_reader *r = reader_over(&s);
    struct gt_etrace_packet p;
    assert_int_equal(gt_etrace_next(r, &p, &err), GT_E_IO);
    s.size = stream_size;
    assert_int_equal(gt_etrace_next(r, &p, &err), GT_E_IO);
    gt_etrace_reader_destroy(r);
}

/* Notes of all sizes up to the greatest, in more than the reader's memory holds at a time. */
static void test_large(void **state)
{
    (void)state;
    enum { ALL = 24 << 20 };
    static const size_t pieces[] = {SIZE_MAX, 100000, 65521};
    uint8_t *data = calloc(1, ALL);
    char *text = calloc(1, GT_ETRACE_MAX_BODY);
    assert_true(data && text);
    struct gt_bytes_writer w;
    uint64_t n = 0, random = 1;
    gt_bytes_writer_init(&w, data, ALL);
    put_start(&w, 64);
    for (; !w.short_of; n++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t len = (uint32_t)(random >> 40) % (n % 4 ? 300000 : GT_ETRACE_MAX_BODY - 8);
        const struct gt_etrace_note note = {n, text, len};
        gt_etrace_put_note(&w, 0, &note);
    }
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct source s = {.data = data, .size = ALL - w.left, .piece = pieces[i]};
        struct gt_etrace_reader *r = reader_over(&s);
        struct gt_etrace_packet p;
        uint64_t packets = 0, at = 0;
        while (gt_etrace_next(r, &p, NULL) == 1) {
            assert_int_equal(p.offset, at);
            assert_memory_equal(p.body, data + at + 8, p.len);
            at += 8 + (uint64_t)p.len;
            packets++;
        }
        assert_int_equal(packets, 2 + n - 1);
        assert_int_equal(at, s.size);
        gt_etrace_reader_destroy(r);
    }
    free(text);
    free(data);
}

/* An ARCH packet that makes no sense changes nothing; entries that do not fit are refused. */
static void test_bits(void **state)
{
    (void)state;
    uint8_t data[START_SIZE + 24 + 20 + 8 + 8 + 20];
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, data, sizeof data);
    put_start(&w, 32);
    gt_etrace_put_arch(&w, &(const struct gt_etrace_arch){{1, 33, 0}, {1, 64, 0}});
    /* Nor does another packet that has the look of one. */
    gt_etrace_put_note(&w, 0, &(const struct gt_etrace_note){0x4000000003, "\1\0\100\0", 4});
    gt_bytes_write_u32(&w, GT_ETRACE_EXEC);
    gt_bytes_write_u32(&w, 28);
    memset(w.at, 0, w.left);
    struct source s = {.data = data, .size = sizeof data, .piece = SIZE_MAX};
    struct gt_etrace_reader *r = reader_over(&s);
    struct gt_etrace_packet p;
    struct gt_etrace_arch arch;
    struct gt_etrace_exec x;
    struct gt_error err = {0};
    for (int i = 0; i < 3; i++)
        assert_int_equal(gt_etrace_next(r, &p, NULL), 1);
    assert_int_equal(gt_etrace_get_arch(r, &p, &arch, &err), GT_E_FORMAT);
    assert_int_equal(gt_etrace_next(r, &p, NULL), 1);
    assert_int_equal(p.len, 12);
    assert_int_equal(gt_etrace_reader_arch(r)->guest.bits, 32);
    assert_int_equal(gt_etrace_next(r, &p, NULL), 1);
    for (p.len = 0; p.len <= 28; p.len++)
        assert_int_equal(gt_etrace_get_exec(r, &p, &x, &err),
                         p.len == 8 || p.len == 20 ? 0 : GT_E_FORMAT);
    assert_non_null(strstr(err.text, "offset 88: EXEC packet of 28 bytes: expected 8 + n * 12"));
    gt_etrace_reader_destroy(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_cut),
        cmocka_unit_test(test_too_long),   cmocka_unit_test(test_no_etrace),
        cmocka_unit_test(test_read_error), cmocka_unit_test(test_bits),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, make_stream, NULL);
}
