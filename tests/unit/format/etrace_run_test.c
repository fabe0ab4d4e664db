/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Execution entries: bytes written by hand, what is merged and what is not, room, long times. */
#include "etrace_util.h"

static uint8_t packet[8 + GT_ETRACE_MAX_BODY];

static const uint8_t golden64[] = {
    1,    0,    7, 0, 48,   0,    0,    0,    /* EXEC, unit 7, 8 + 2 * 20 bytes */
    0xe8, 3,    0, 0, 0,    0,    0,    0,    /* from 1000 on */
    3,    0,    0, 0,                         /* 3 long */
    0,    0x10, 0, 0, 0x80, 0xff, 0xff, 0xff, /* start */
    0x0c, 0x10, 0, 0, 0x80, 0xff, 0xff, 0xff, /* end */
    1,    0,    0, 0,                         /* 1 long */
    0,    0x20, 0, 0, 0,    0,    0,    0,    /* start */
    4,    0x20, 0, 0, 0,    0,    0,    0,    /* end */
};
static const uint8_t golden32[] = {
    1,    0,    7, 0,    32, 0, 0, 0, /* EXEC, unit 7, 8 + 2 * 12 bytes */
    0xe8, 3,    0, 0,    0,  0, 0, 0, /* from 1000 on */
    3,    0,    0, 0,                 /* 3 long */
    0,    0x10, 0, 0x80,              /* start */
    0x0c, 0x10, 0, 0x80,              /* end */
    1,    0,    0, 0,                 /* 1 long */
    0,    0x20, 0, 0,                 /* start */
    4,    0x20, 0, 0,                 /* end */
};

static void start(struct gt_etrace_run *r, unsigned bits)
{
    memset(packet, 0x5a, 256);
    gt_etrace_run_init(r, packet, sizeof packet, 7, bits);
}

/* Completes the packet and reads its entries; the time they end at. */
static uint64_t take(struct gt_etrace_run *r, struct gt_etrace_exec *out)
{
    static uint8_t stream[START_SIZE + sizeof packet];
    static struct gt_etrace_reader *reader;
    static struct source s;
    struct gt_etrace_packet p;
    struct gt_bytes_writer w;
    size_t size = gt_etrace_run_take(r);
    assert_true(size >= 8 + 8 + 12);
    gt_bytes_writer_init(&w, stream, sizeof stream);
    put_start(&w, r->bits);
    gt_bytes_write_bytes(&w, packet, size);
    assert_false(w.short_of);
    s = (struct source){.data = stream, .size = START_SIZE + size, .piece = SIZE_MAX};
    gt_etrace_reader_destroy(reader);
    reader = reader_over(&s);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gt_etrace_next(reader, &p, NULL), 1);
    assert_true(p.type == GT_ETRACE_EXEC && p.unit == 7);
    assert_int_equal(gt_etrace_get_exec(reader, &p, out, NULL), 0);
    assert_int_equal(out->bits, r->bits);
    uint64_t time = out->start_time;
    for (size_t i = 0; i < out->n; i++)
        time += gt_etrace_entry_at(out, i).duration;
    assert_int_equal(gt_etrace_next(reader, &p, NULL), 0);
    assert_int_equal(gt_etrace_run_take(r), 0);
    return time;
}

static void test_bytes(void **state)
{
    (void)state;
    struct gt_etrace_run r;
    const uint64_t high = UINT64_C(0xffffff8000001000);
    start(&r, 64);
    assert_int_equal(gt_etrace_run_take(&r), 0);
    assert_true(gt_etrace_run_add(&r, high, high + 8, 1000, 1002));
    assert_true(gt_etrace_run_add(&r, high + 8, high + 12, 1002, 1003));
    assert_true(gt_etrace_run_add(&r, 0x2000, 0x2004, 1003, 1004));
    assert_int_equal(gt_etrace_run_take(&r), sizeof golden64);
    assert_memory_equal(packet, golden64, sizeof golden64);
    start(&r, 32);
    assert_true(gt_etrace_run_add(&r, 0x80001000, 0x80001008, 1000, 1002));
    assert_true(gt_etrace_run_add(&r, 0x80001008, 0x8000100c, 1002, 1003));
    assert_true(gt_etrace_run_add(&r, 0x2000, 0x2004, 1003, 1004));
    assert_int_equal(gt_etrace_run_take(&r), sizeof golden32);
    assert_memory_equal(packet, golden32, sizeof golden32);
}

static void test_merge(void **state)
{
    (void)state;
    static const struct {
        uint64_t start1, end1, start2, end2;
        size_t entries;
    } cases[] = {
        {0x1000, 0x1008, 0x1008, 0x1010, 1}, /* continues */
        {0x1000, 0x1ff8, 0x1ff8, 0x1fff, 1}, /* up to the page's last byte */
        {0x1000, 0x1008, 0x100c, 0x1010, 2}, /* a gap */
        {0x1000, 0x1008, 0x1000, 0x1008, 2}, /* again */
        {0x1000, 0x1008, 0x1004, 0x1010, 2}, /* overlaps */
        {0x1008, 0x1010, 0x1000, 0x1008, 2}, /* before it */
        {0x1000, 0x1008, 0x1008, 0x1008, 2}, /* empty */
        {0x1008, 0x1008, 0x1008, 0x1010, 2}, /* after an empty one */
        {0x1ff0, 0x1ff8, 0x1ff8, 0x2000, 2}, /* ends in another page than it starts in */
        {0x1ff0, 0x2004, 0x2004, 0x2008, 2}, /* the former does */
        {0x1ff8, 0x2000, 0x2000, 0x2008, 2}, /* continues in the next page */
        {0x1008, 0x1000, 0x1000, 0x1008, 2}, /* ends before it starts */
    };
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct gt_etrace_run r;
            struct gt_etrace_exec x;
            start(&r, bits);
            assert_true(gt_etrace_run_add(&r, cases[i].start1, cases[i].end1, 5, 7));
            assert_true(gt_etrace_run_add(&r, cases[i].start2, cases[i].end2, 7, 10));
            assert_int_equal(take(&r, &x), 10);
            assert_int_equal(x.start_time, 5);
            assert_int_equal(x.n, cases[i].entries);
            struct gt_etrace_entry first = gt_etrace_entry_at(&x, 0);
            assert_true(first.start == cases[i].start1);
            assert_int_equal(first.duration, cases[i].entries == 1 ? 5 : 2);
            assert_true(gt_etrace_entry_at(&x, x.n - 1).end == cases[i].end2);
        }
    }
}

/* What stood in the packet's memory before does not matter. */
static void test_old_memory(void **state)
{
    (void)state;
    struct gt_etrace_run r;
    struct gt_etrace_exec x;
    start(&r, 64);
    assert_true(gt_etrace_run_add(&r, 0x1000, 0x1008, 0, 1));
    assert_true(gt_etrace_run_add(&r, 0x3000, 0x3008, 1, 2));
    assert_true(gt_etrace_run_take(&r) > 0);
    assert_true(gt_etrace_run_add(&r, 0x3008, 0x3010, 2, 3));
    assert_int_equal(take(&r, &x), 3);
    assert_true(x.n == 1 && x.start_time == 2);
    assert_int_equal(gt_etrace_entry_at(&x, 0).start, 0x3008);
}

/* An entry that does not begin when the newest ended needs a packet of its own. */
static void test_times(void **state)
{
    (void)state;
    struct gt_etrace_run r;
    struct gt_etrace_exec x;
    start(&r, 64);
    assert_true(gt_etrace_run_add(&r, 0x1000, 0x1008, 100, 101));
    assert_false(gt_etrace_run_add(&r, 0x1008, 0x1010, 102, 103));
    assert_false(gt_etrace_run_add(&r, 0x1008, 0x1010, 100, 103));
    assert_int_equal(take(&r, &x), 101);
    assert_int_equal(x.n, 1);
    assert_true(gt_etrace_run_add(&r, 0x1008, 0x1010, 50, 40)); /* a clock that went back */
    assert_int_equal(take(&r, &x), 50);
}

static void test_long_times(void **state)
{
    (void)state;
    struct gt_etrace_run r;
    struct gt_etrace_exec x;
    const uint64_t most = UINT32_MAX;
    start(&r, 64);
    /* Merging stops before the sum overflows. */
    assert_true(gt_etrace_run_add(&r, 0x1000, 0x1004, 0, most - 1));
    assert_true(gt_etrace_run_add(&r, 0x1004, 0x1008, most - 1, most));
    assert_true(gt_etrace_run_add(&r, 0x1008, 0x100c, most, most + 1));
    /* One that is too long for an entry is followed by empty ones. */
    assert_true(gt_etrace_run_add(&r, 0x2000, 0x2004, most + 1, 3 * most + 6));
    assert_int_equal(take(&r, &x), 3 * most + 6);
    assert_int_equal(x.n, 5);
    assert_int_equal(gt_etrace_entry_at(&x, 0).duration, most);
    assert_int_equal(gt_etrace_entry_at(&x, 0).end, 0x1008);
    assert_int_equal(gt_etrace_entry_at(&x, 1).duration, 1);
    assert_int_equal(gt_etrace_entry_at(&x, 2).start, 0x2000);
    for (size_t i = 3; i < 5; i++) {
        assert_int_equal(gt_etrace_entry_at(&x, i).start, 0x2004);
        assert_int_equal(gt_etrace_entry_at(&x, i).end, 0x2004);
    }
    assert_int_equal(gt_etrace_entry_at(&x, 4).duration, 5);
    /* One that is as long as an entry can say is one entry. */
    assert_true(gt_etrace_run_add(&r, 0x1000, 0x1004, 0, most));
    assert_int_equal(take(&r, &x), most);
    assert_int_equal(x.n, 1);
    /* A sum that wraps around is too long as well. */
    assert_true(gt_etrace_run_add(&r, 0x1000, 0x1004, 0, 2));
    assert_false(gt_etrace_run_add(&r, 0x1004, 0x1008, 2, UINT64_MAX));
    assert_int_equal(take(&r, &x), 2);
    /* One that no packet can hold is left at what fits, and the next begins another. */
    gt_etrace_run_init(&r, packet, 64, 7, 64);
    assert_true(gt_etrace_run_add(&r, 0x1000, 0x1004, 0, UINT64_MAX));
    assert_false(gt_etrace_run_add(&r, 0x1004, 0x1008, UINT64_MAX, UINT64_MAX));
    assert_int_equal(take(&r, &x), 2 * most);
    assert_int_equal(x.n, 2);
}

/* A full packet takes no more, not even in part, but merges. */
static void test_room(void **state)
{
    (void)state;
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        for (size_t room = 64; room < 200; room++) {
            struct gt_etrace_run r;
            struct gt_etrace_exec x;
            uint64_t time = 0;
            memset(packet, 0x5a, 256);
            gt_etrace_run_init(&r, packet, room, 7, bits);
            while (gt_etrace_run_add(&r, 0x1000, 0x1008, time, time + 1)) {
                time++;
                size_t left = room - r.fill, size = bits == 32 ? 12 : 20;
                assert_true(left >= 2 * size ||
                            !gt_etrace_run_add(&r, 0x3000, 0x3008, time, time + 5000000000));
            }
            assert_int_equal(time, (room - 16) / (bits == 32 ? 12 : 20));
            assert_true(gt_etrace_run_add(&r, 0x1008, 0x1010, time, time + 1));
            assert_false(gt_etrace_run_add(&r, 0x1010, 0x1018, time + 1,
                                           time + 1 + 2 * (uint64_t)UINT32_MAX));
            for (size_t i = room; i < 256; i++)
                assert_int_equal(packet[i], 0x5a);
            assert_int_equal(take(&r, &x), time + 1);
            assert_int_equal(x.n, time);
        }
    }
}

/* The greatest packet is one that readers take. */
static void test_greatest(void **state)
{
    (void)state;
    struct gt_etrace_run r;
    struct gt_etrace_exec x;
    uint64_t time = 0;
    start(&r, 32);
    while (gt_etrace_run_add(&r, 0x1000, 0x1008, time, time + 1))
        time++;
    assert_int_equal(take(&r, &x), time);
    assert_int_equal(x.n, (GT_ETRACE_MAX_BODY - 8) / 12);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),      cmocka_unit_test(test_merge),
        cmocka_unit_test(test_old_memory), cmocka_unit_test(test_times),
        cmocka_unit_test(test_long_times), cmocka_unit_test(test_room),
        cmocka_unit_test(test_greatest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
