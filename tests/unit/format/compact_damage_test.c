/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packed records that are cut, changed or made to be hostile; columns and their numbers. */
#include "compact_util.h"

#include "calls/file/column.h"
#include "calls/file/model.h"

static int ignore(void *self, const struct gt_compact_piece *p)
{
    (void)self, (void)p;
    return 0;
}

static int refuse(void *self, const struct gt_compact_piece *p)
{
    (void)self, (void)p;
    return GT_E_RANGE;
}

static int unpack(const struct gt_compact_head *h, const uint8_t *payload)
{
    struct gt_compact_unpacker *u;
    struct gt_error err;
    assert_int_equal(gt_compact_unpacker_create(&u), 0);
    int status = gt_compact_unpacker_block(u, h, payload, ignore, NULL, &err);
    gt_compact_unpacker_destroy(u);
    return status;
}

/* One block of calls, whose bytes the caller may change. */
static struct log *one_block(struct gt_compact_head *h)
{
    struct log *l = log_create(true, 0);
    for (unsigned i = 0; i < 300; i++) {
        enter(l, i % 2, 0x1000 + i % 5, 1 + i % 3);
        if (i % 3)
            leave(l, i % 2, 900 + i % 4);
    }
    put(l, 0, 0);
    put(l, 1, 0);
    end_block(l);
    assert_int_equal(gt_compact_head_read(l->file, l->size, h), 0);
    assert_int_equal(unpack(h, l->file + GT_COMPACT_HEAD), 0);
    return l;
}

static void test_cut(void **state)
{
    (void)state;
    struct gt_compact_head h;
    struct log *l = one_block(&h);
    for (size_t n = 0; n < GT_COMPACT_HEAD; n++)
        assert_int_equal(gt_compact_head_read(l->file, n, &h), GT_E_TRUNC);
    assert_int_equal(gt_compact_head_read(l->file, l->size, &h), 0);
    for (uint32_t size = h.size; h.size-- > 0;) {
        uint8_t *cut = malloc(h.size + 1); /* a byte beyond is seen by sanitizers */
        memcpy(cut, l->file + GT_COMPACT_HEAD, h.size);
        assert_int_equal(unpack(&h, cut), GT_E_FORMAT);
        free(cut);
        assert_true(h.size < size);
    }
    log_destroy(l);
}

/* Every change is seen by the checksums; what gets past them is no more than an error. */
static void test_changed(void **state)
{
    (void)state;
    struct gt_compact_head h, own;
    struct log *l = one_block(&own);
    for (size_t at = 0; at < l->size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            l->file[at] ^= (uint8_t)(1u << bit);
            assert_false(gt_compact_head_fits(l->file, l->file + GT_COMPACT_HEAD,
                                              l->size - GT_COMPACT_HEAD));
            assert_int_equal(gt_compact_head_read(l->file, l->size, &h) == 0,
                             at >= GT_COMPACT_HEAD);
            int status = at < GT_COMPACT_HEAD ? 0 : unpack(&h, l->file + GT_COMPACT_HEAD);
            assert_true(status == 0 || status == GT_E_FORMAT);
            l->file[at] ^= (uint8_t)(1u << bit);
        }
    log_destroy(l);
}

static void test_refused(void **state)
{
    (void)state;
    struct gt_compact_head h;
    struct gt_error err;
    struct log *l = one_block(&h);
    gt_compact_unpacker_create(&l->u);
    h.flags &= (uint8_t)~GT_COMPACT_SEGMENT;
    assert_int_equal(
        gt_compact_unpacker_block(l->u, &h, l->file + GT_COMPACT_HEAD, ignore, NULL, &err),
        GT_E_USAGE);
    h.flags |= GT_COMPACT_SEGMENT;
    assert_int_equal(
        gt_compact_unpacker_block(l->u, &h, l->file + GT_COMPACT_HEAD, refuse, NULL, &err),
        GT_E_RANGE);
    assert_int_equal(
        gt_compact_unpacker_block(l->u, &h, l->file + GT_COMPACT_HEAD, ignore, NULL, &err), 0);
    log_destroy(l);
}

/* Columns that the test makes: what they stand for, or that they are refused. */
static int unpack_columns(const uint8_t *const column[GT_COLUMN_STEPS],
                          const size_t size[GT_COLUMN_STEPS], uint32_t records)
{
    struct gt_compact_column_out payload = {0};
    for (int i = 0; i < GT_COLUMN_STEPS; i++) {
        assert_true(gt_compact_column_reserve(&payload, 2 * GT_NUMBER_MAX + size[i]));
        gt_compact_column_put(&payload, size[i]);
        gt_compact_column_put(&payload, 0);
        for (size_t k = 0; k < size[i]; k++)
            payload.data[payload.n++] = column[i][k];
    }
    const struct gt_compact_head h = {.type = GT_COMPACT_RECORDS,
                                      .flags = GT_COMPACT_SEGMENT | GT_COMPACT_EXACT,
                                      .size = (uint32_t)payload.n,
                                      .records = records};
    int status = unpack(&h, payload.data);
    free(payload.data);
    return status;
}

#define BYTES(...)                                                                                 \
    (const uint8_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void test_hostile(void **state)
{
    (void)state;
    /* One task, entry of function 1, once. */
    const uint8_t *c[GT_COLUMN_STEPS] = {BYTES(0, 1), BYTES(5, 1, 0), BYTES(0, 0),
                                         BYTES(3),    BYTES(1),       BYTES(0x80, 0x40, 0, 0),
                                         BYTES(0),    BYTES(9),       BYTES(0)};
    size_t n[GT_COLUMN_STEPS] = {2, 3, 2, 1, 1, 2, 0, 1, 0};
    assert_int_equal(unpack_columns(c, n, 1), 0);
    static const struct {
        enum gt_compact_column column;
        size_t size;
        uint8_t bytes[11];
    } bad[] = {
        {GT_COLUMN_PIECES, 2, {1, 1}},   /* a task that has not appeared */
        {GT_COLUMN_PIECES, 2, {0, 2}},   /* more records than the head says */
        {GT_COLUMN_PIECES, 2, {0, 0}},   /* none */
        {GT_COLUMN_TASKS, 3, {5, 1, 1}}, /* a function is open, and no number says which */
        /* a head that says more functions than it has */
        {GT_COLUMN_TASKS, 5, {5, 1, 0x80, 0x80, 0x40}},
        {GT_COLUMN_TASKS, 11, {5, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255}},
        {GT_COLUMN_RUNS, 2, {1, 0}},  /* a prediction of nothing: an exit of nothing */
        {GT_COLUMN_RUNS, 2, {0, 1}},  /* one more than there are */
        {GT_COLUMN_MISSES, 1, {8}},   /* no such miss */
        {GT_COLUMN_MISSES, 1, {0}},   /* the second prediction is nothing either */
        {GT_COLUMN_SYMS, 1, {4}},     /* an exit of a function by number */
        {GT_COLUMN_SYMS, 1, {5}},     /* number 1, which nobody has */
        {GT_COLUMN_SYMS, 2, {1, 1}},  /* one too many */
        {GT_COLUMN_WORDS, 1, {0x80}}, /* cut */
        {GT_COLUMN_WORDS, 0, {0}},    /* gone */
        {GT_COLUMN_LOW, 1, {0}},      /* no step that needs it */
        {GT_COLUMN_FAR, 0, {0}},
        {GT_COLUMN_NEAR, 1, {0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const uint8_t *own = c[bad[i].column];
        size_t size = n[bad[i].column];
        c[bad[i].column] = bad[i].bytes;
        n[bad[i].column] = bad[i].size;
        if (unpack_columns(c, n, 1) != GT_E_FORMAT)
            fail_msg("row %zu was taken", i);
        c[bad[i].column] = own;
        n[bad[i].column] = size;
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const uint64_t samples[] = {
        0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    struct gt_compact_column_out out = {0};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        out.n = 0;
        assert_true(gt_compact_column_reserve(&out, GT_NUMBER_MAX));
        gt_compact_column_put(&out, samples[i]);
        for (size_t n = 0; n <= out.n; n++) {
            assert_in_range(out.n, 1, GT_NUMBER_MAX);
            struct gt_compact_column_in in = {out.data, out.data + n, false};
            uint64_t back = gt_compact_column_take(&in);
            assert_true(in.bad == (n < out.n) && back == (n < out.n ? 0 : samples[i]));
        }
        assert_true(gt_compact_unzigzag(gt_compact_zigzag((int64_t)samples[i])) ==
                    (int64_t)samples[i]);
    }
    free(out.data);
    static const uint8_t long_zero[] = {128, 128, 0};
    struct gt_compact_column_in in = {long_zero, long_zero + sizeof long_zero, false};
    assert_int_equal(gt_compact_column_take(&in), 0);
    assert_true(!in.bad && in.at == in.end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_changed),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
