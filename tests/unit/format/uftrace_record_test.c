/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records and the scan over them: round trip, every cut, hostile words. */
#include "recording/directory/dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_word_layout(void **state)
{
    (void)state;
    /* From uftrace's record layout: type | more << 2 | 5 << 3 | depth << 6 | addr << 16. */
    assert_int_equal(gt_uftrace_entry(0, 0), 0x28);
    assert_int_equal(gt_uftrace_exit(1, 0x1234), 0x12340000 | 1 << 6 | 0x29);
    assert_int_equal(gt_uftrace_lost(7), 7 << 16 | 0x2a);
    assert_int_equal(gt_uftrace_event(0, 1000000), UINT64_C(1000000) << 16 | 0x2b);
    /* Neither field runs into its neighbour. */
    assert_true(gt_uftrace_entry(1024, 0) == gt_uftrace_entry(0, 0));
    assert_true(gt_uftrace_entry(1023, 0) == (UINT64_C(1023) << 6 | 0x28));
    assert_true(gt_uftrace_entry(0xffffffff, 0) == gt_uftrace_entry(1023, 0));
    assert_true(gt_uftrace_exit(0, UINT64_C(0xffff800010000000)) ==
                (UINT64_C(0x800010000000) << 16 | 0x29));
}

static void test_round_trip(void **state)
{
    (void)state;
    const struct gt_uftrace_record records[] = {
        {.time = 1, .addr = 0, .depth = 0, .type = GT_UFTRACE_ENTRY},
        {.time = UINT64_MAX, .addr = GT_UFTRACE_ADDR_MASK, .depth = 1023, .type = GT_UFTRACE_EXIT},
        {.time = 5, .addr = 3, .depth = 0, .type = GT_UFTRACE_LOST},
        {.time = 6, .addr = GT_UFTRACE_EV_LOST, .depth = 2, .type = GT_UFTRACE_EVENT},
        {.time = 7, .addr = GT_UFTRACE_EV_WATCH_CPU, .type = GT_UFTRACE_EVENT, .more = true},
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        uint8_t bytes[GT_UFTRACE_RECORD_SIZE];
        struct gt_bytes_writer w;
        struct gt_bytes_reader r;
        struct gt_uftrace_record got;
        gt_bytes_writer_init(&w, bytes, sizeof bytes);
        gt_uftrace_record_write(&w, &records[i]);
        assert_false(w.short_of);
        for (size_t cut = 0; cut < sizeof bytes; cut++) {
            gt_bytes_reader_init(&r, bytes, cut);
            assert_int_equal(gt_uftrace_record_read(&r, true, &got), cut ? GT_E_TRUNC : 0);
            assert_int_equal(r.left, cut);
        }
        gt_bytes_reader_init(&r, bytes, sizeof bytes);
        memset(&got, 0x5a, sizeof got);
        assert_int_equal(gt_uftrace_record_read(&r, true, &got), 1);
        assert_true(got.time == records[i].time && got.addr == records[i].addr);
        assert_int_equal(got.depth, records[i].depth);
        assert_int_equal(got.type, records[i].type);
        assert_int_equal(got.more, records[i].more);
        gt_bytes_reader_init(&r, bytes, sizeof bytes);
        assert_int_equal(gt_uftrace_record_read(&r, false, &got),
                         records[i].more ? GT_E_FORMAT : 1);
    }
}

static int read_words(uint64_t time, uint64_t word)
{
    uint64_t bytes[2] = {time, word};
    struct gt_bytes_reader r;
    struct gt_uftrace_record rec;
    gt_bytes_reader_init(&r, bytes, sizeof bytes);
    return gt_uftrace_record_read(&r, false, &rec);
}

static void test_hostile(void **state)
{
    (void)state;
    assert_int_equal(read_words(1, 0x28), 1);
    assert_int_equal(read_words(0, 0x28), GT_E_FORMAT);
    for (uint64_t magic = 0; magic < 8; magic++)
        assert_int_equal(read_words(1, magic << 3), magic == 5 ? 1 : GT_E_FORMAT);
    assert_int_equal(read_words(1, 0x28 | 4), GT_E_FORMAT);
}

/* ---- the scan ------------------------------------------------------------------------------ */

struct made {
    uint64_t words[64];
    size_t n;
};

static void add(struct made *m, uint64_t time, uint64_t word)
{
    m->words[m->n++] = time;
    m->words[m->n++] = word;
}

static int scan(const struct made *m, size_t cut, struct gt_uftrace_scan *s, struct gt_error *err)
{
    return gt_uftrace_scan(m->words, m->n * 8 - cut, s, err);
}

static void test_scan_every_cut(void **state)
{
    (void)state;
    struct made m = {0};
    add(&m, 5, gt_uftrace_entry(0, 0x10));
    add(&m, 6, gt_uftrace_entry(1, 0x20));
    add(&m, 6, gt_uftrace_exit(1, 0x20));
    add(&m, 7, gt_uftrace_entry(1, 0x30));
    add(&m, 8, gt_uftrace_event(0, GT_UFTRACE_EV_SCHED_OUT));
    const uint32_t open_after[] = {0, 1, 2, 1, 2, 2};
    for (size_t cut = 0; cut <= m.n * 8; cut++) {
        struct gt_uftrace_scan s;
        size_t left = (m.n * 8 - cut) / 16;
        assert_int_equal(scan(&m, cut, &s, NULL), 0);
        assert_int_equal(s.records, left);
        assert_int_equal(s.whole, left * 16);
        assert_int_equal(s.n_open, open_after[left]);
        assert_int_equal(s.depth, left >= 2 ? 2 : left);
        assert_int_equal(s.scheduled_out, left == 5);
        assert_int_equal(s.first_time, left ? 5 : 0);
        if (s.n_open == 2)
            assert_true(s.open[0] == gt_uftrace_exit(0, 0x10));
        if (left >= 4)
            assert_true(s.open[1] == gt_uftrace_exit(1, 0x30));
        free(s.open);
    }
}

static void test_scan_refuses(void **state)
{
    (void)state;
    struct gt_uftrace_scan s;
    struct gt_error err = {0};
    struct made fall = {0}, unmatched = {0}, depth = {0}, more = {0};
    add(&fall, 5, gt_uftrace_entry(0, 1));
    add(&fall, 4, gt_uftrace_exit(0, 1));
    assert_int_equal(scan(&fall, 0, &s, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "offset 16"));
    assert_non_null(strstr(err.text, "does not fall"));
    add(&unmatched, 5, gt_uftrace_exit(0, 1));
    assert_int_equal(scan(&unmatched, 0, &s, NULL), GT_E_FORMAT);
    add(&depth, 5, gt_uftrace_entry(3, 1));
    add(&depth, 5, gt_uftrace_exit(4, 1));
    assert_int_equal(scan(&depth, 0, &s, NULL), GT_E_FORMAT);
    add(&more, 5, gt_uftrace_event(0, GT_UFTRACE_EV_USER) | 4);
    assert_int_equal(scan(&more, 0, &s, NULL), GT_E_FORMAT);
}

static void test_scan_payload(void **state)
{
    (void)state;
    struct gt_uftrace_scan s;
    struct made m = {0};
    add(&m, 5, gt_uftrace_event(0, GT_UFTRACE_EV_PMU_CYCLE_BEGIN) | 4);
    add(&m, 0, 0); /* cycles, instructions: no record, its zeros are not looked at */
    add(&m, 6, gt_uftrace_event(0, GT_UFTRACE_EV_LOST));
    for (size_t cut = 0; cut <= m.n * 8; cut++) {
        size_t left = m.n * 8 - cut;
        assert_int_equal(scan(&m, cut, &s, NULL), 0);
        assert_int_equal(s.whole, left == 48 ? 48 : left >= 32 ? 32 : 0);
        assert_int_equal(s.lost_event, left == 48);
        free(s.open);
    }
}

/* The values of a call are no records. */
static void test_scan_values(void **state)
{
    (void)state;
    struct gt_uftrace_scan s;
    struct made m = {0};
    add(&m, 5, gt_uftrace_entry(0, 0x10));
    add(&m, 6, gt_uftrace_entry(1, 0x20) | 4);
    add(&m, 1, 2);
    m.words[m.n++] = 3;
    add(&m, 7, gt_uftrace_exit(1, 0x20) | 4);
    m.words[m.n++] = 4;
    add(&m, 8, gt_uftrace_event(1, GT_UFTRACE_EV_SCHED_OUT));
    assert_int_equal(scan(&m, 0, &s, NULL), 0);
    assert_int_equal(s.records, 4);
    assert_int_equal(s.whole, m.n * 8);
    assert_int_equal(s.n_open, 1);
    assert_true(s.scheduled_out);
    free(s.open);
    for (size_t cut = 17; cut <= m.n * 8; cut++) {
        assert_int_equal(scan(&m, cut, &s, NULL), 0);
        assert_in_range(s.n_open, 0, 2);
        free(s.open);
    }
}

static void test_scan_lost_event(void **state)
{
    (void)state;
    struct gt_uftrace_scan s;
    struct made m = {0};
    const bool want[] = {false, false, true, true, false, false};
    add(&m, 5, gt_uftrace_entry(0, 1));
    add(&m, 6, gt_uftrace_event(0, GT_UFTRACE_EV_LOST));
    add(&m, 7, gt_uftrace_exit(0, 1));
    add(&m, 8, gt_uftrace_entry(0, 1));
    add(&m, 9, gt_uftrace_event(0, GT_UFTRACE_EV_USER + 1));
    for (size_t n = 0; n <= 5; n++) {
        assert_int_equal(scan(&m, m.n * 8 - n * 16, &s, NULL), 0);
        assert_int_equal(s.lost_event, want[n]);
        free(s.open);
    }
}

static void test_scan_deep(void **state)
{
    (void)state;
    enum { DEEP = 5000 };
    uint64_t *words = calloc(4 * DEEP, 8);
    struct gt_uftrace_scan s;
    assert_non_null(words);
    for (uint32_t i = 0; i < DEEP; i++) {
        words[2 * i] = words[4 * DEEP - 2 - 2 * i] = 1;
        words[2 * i + 1] = gt_uftrace_entry(i, 7);
        words[4 * DEEP - 1 - 2 * i] = gt_uftrace_exit(i, 7);
    }
    assert_int_equal(gt_uftrace_scan(words, 4 * DEEP * 8, &s, NULL), 0);
    assert_int_equal(s.depth, DEEP);
    assert_int_equal(s.n_open, 0);
    free(s.open);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_layout),     cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_hostile),         cmocka_unit_test(test_scan_every_cut),
        cmocka_unit_test(test_scan_refuses),    cmocka_unit_test(test_scan_payload),
        cmocka_unit_test(test_scan_values),     cmocka_unit_test(test_scan_deep),
        cmocka_unit_test(test_scan_lost_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
