/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that are asked for are found by the index, by the chunks' headers where it is damaged or
 * missing, and without reading it all. */
#include "execlog_util.h"

#include "execlog/format/select.h"

static struct world w;

static int make_log(void **state)
{
    (void)state;
    world_make(&w, 3, WORLD_BUFFER, false);
    for (unsigned i = 0; i < 30000; i++) {
        unsigned v = i / 100 % 3;
        world_run(&w, &w.vcpus[v], v & 1);
        if (i % 100 == 99)
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

/* ---- what is expected, from the text ------------------------------------------------------- */

static bool has_access(const char *line, const char *end, uint64_t lo, uint64_t hi)
{
    const char *at = memrchr(line, '"', (size_t)(end - line));
    for (at = at ? at : line; (at = memmem(at, (size_t)(end - at), ", 0x", 4)); at += 4) {
        uint64_t address = strtoull(at + 4, NULL, 16);
        if (address >= lo && address <= hi)
            return true;
    }
    return false;
}

static bool is_asked_for(const struct gt_execlog_query *q, const char *line, const char *end,
                         uint64_t number)
{
    const char *pc = memmem(line, (size_t)(end - line), ", 0x", 4);
    uint64_t address = pc ? strtoull(pc + 4, NULL, 16) : 0;
    bool insn = pc && *line != ',' && address >= q->insn_lo && address <= q->insn_hi;
    return number >= q->from && number <= q->to && (!q->by_insn || insn) &&
           (!q->by_access || has_access(line, end, q->access_lo, q->access_hi));
}

static void expect(const struct gt_execlog_query *q, struct gt_text *out)
{
    const char *line = w.text.data, *end = w.text.data + w.text.len;
    for (uint64_t number = 1; line < end; number++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (is_asked_for(q, line, newline, number))
            gt_text_add(out, line, (size_t)(newline + 1 - line));
        line = newline + 1;
    }
}

/* ---- what is read -------------------------------------------------------------------------- */

struct pick {
    struct gt_execlog_reader *r;
    struct gt_execlog_selection selection;
    struct gt_text *out;
};

static int take(void *self, const char *text, size_t n)
{
    gt_text_add(((struct pick *)self)->out, text, n);
    return 0;
}

static void learn(void *self, uint32_t id)
{
    struct pick *p = self;
    gt_execlog_selection_learn(&p->selection, p->r, id);
}

/* Bytes that were read of the log. */
static uint64_t read_selected(const struct gt_execlog_query *q, size_t size, struct gt_text *out,
                              bool *whole)
{
    struct bytes_source s = {(uint8_t *)w.log.data, size, .piece = SIZE_MAX};
    struct gt_execlog_source source = {"made.log", bytes_read, bytes_seek, &s};
    struct pick p = {.out = out};
    const struct gt_execlog_text_options o = {*q, false, take, learn, &p};
    struct gt_execlog_text *t;
    struct gt_execlog_item item;
    struct gt_error first_damage, err;
    const uint8_t *body;
    assert_int_equal(gt_execlog_reader_create(&source, &p.r, NULL), 0);
    assert_int_equal(gt_execlog_text_create(gt_execlog_reader_codes(p.r), &o, &t, NULL), 0);
    s.read = 0;
    assert_int_equal(gt_execlog_select(p.r, size, q, &p.selection, &first_damage, &err), 0);
    for (size_t i = 0; i < p.selection.n_events; i++) {
        assert_true(gt_execlog_go(p.r, p.selection.events[i].offset, false));
        assert_int_equal(gt_execlog_next(p.r, &item, NULL), 1);
        assert_int_equal(gt_execlog_body(p.r, &item, &body, NULL), 0);
        if (gt_execlog_text_add(t, &item.chunk, body, &err) != 0)
            break;
    }
    gt_execlog_text_flush(t);
    *whole = p.selection.whole;
    gt_execlog_selection_free(&p.selection);
    gt_execlog_text_destroy(t);
    gt_execlog_reader_destroy(p.r);
    return s.read;
}

static uint64_t check(const struct gt_execlog_query *q, size_t size, bool whole)
{
    struct gt_text got = {0}, expected = {0};
    bool is_whole;
    expect(q, &expected);
    uint64_t read = read_selected(q, size, &got, &is_whole);
    assert_int_equal(is_whole, whole);
    assert_int_equal(got.len, expected.len);
    if (got.len)
        assert_memory_equal(got.data, expected.data, got.len);
    gt_text_free(&got);
    gt_text_free(&expected);
    return read;
}

static struct gt_execlog_query any_query(void)
{
    struct gt_execlog_query q = gt_execlog_all;
    unsigned kinds = 1 + (unsigned)roll(&w, 7);
    if (kinds & 1) {
        q.from = 1 + roll(&w, 150000);
        q.to = q.from + roll(&w, 5000);
    }
    q.by_insn = kinds & 2;
    q.by_access = kinds & 4;
    q.insn_lo = 0x400000 + roll(&w, 64 * WORLD_BLOCKS);
    q.insn_hi = q.insn_lo + roll(&w, 100);
    q.access_lo = 0x1000 + roll(&w, 800);
    q.access_hi = q.access_lo + roll(&w, 20);
    return q;
}

static void test_queries(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        const struct gt_execlog_query q = any_query();
        check(&q, w.log.len, true);
    }
}

static void test_without_index(void **state)
{
    (void)state;
    struct gt_execlog_chunk end;
    uint8_t *last = (uint8_t *)w.log.data + w.log.len - GT_EXECLOG_HEAD;
    assert_true(gt_execlog_get_chunk(last, &end));
    uint8_t *index = (uint8_t *)w.log.data + end.first + GT_EXECLOG_HEAD + 30;
    for (unsigned i = 0; i < 5; i++) {
        const struct gt_execlog_query q = any_query();
        check(&q, end.first, false); /* killed before the last index */
        *index ^= 1;
        check(&q, w.log.len, true);
        *index ^= 1;
        last[60] ^= 1; /* an END that is damaged ends nothing */
        check(&q, w.log.len, false);
        last[60] ^= 1;
    }
}

/* A few lines cost a few chunks: of one vCPU, so that chunks are as large as buffers. */
static void test_bytes_read(void **state)
{
    struct gt_execlog_query q = gt_execlog_all;
    drop_log(state);
    world_make(&w, 5, WORLD_BUFFER, false);
    for (unsigned i = 0; i < 60000; i++) {
        w.near = 0x1000 + (i / 10000 << 20);
        world_run(&w, &w.vcpus[0], false);
    }
    world_end(&w);
    q.from = 200000;
    q.to = 200009;
    uint64_t read = check(&q, w.log.len, true);
    print_message("10 lines: %" PRIu64 " of %zu bytes\n", read, w.log.len);
    assert_true(read * 8 < w.log.len);
    q = gt_execlog_all;
    q.by_access = true;
    q.access_lo = q.access_hi = 0x301000; /* by one block in six */
    read = check(&q, w.log.len, true);
    print_message("one address: %" PRIu64 " of %zu bytes\n", read, w.log.len);
    assert_true(read * 3 < w.log.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_without_index),
        cmocka_unit_test(test_bytes_read),
    };
    return cmocka_run_group_tests(tests, make_log, drop_log);
}
