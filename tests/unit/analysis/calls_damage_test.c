/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compact files with damaged or missing blocks, and cut ones: what is whole is read as it would be
 * without the damage. */
#include "calls_model.h"

#include "calls/repair/compact.h"

enum { RECORDS = 3000, SEGMENT = 300, BLOCK = 60 };

struct came {
    GArray *event[TASKS];
    uint32_t open[TASKS];
};

static int take(void *self, const struct gt_call *e)
{
    struct came *came = self;
    if (e->kind == GT_CALL_ENTRY)
        assert_int_equal(e->depth, came->open[e->task]++);
    else if (e->kind == GT_CALL_EXIT)
        assert_int_equal(e->depth, --came->open[e->task]);
    g_array_append_val(came->event[e->task], *e);
    return 0;
}

static void *make_share(void *self)
{
    return self;
}

static int count_batch(void *share, const struct gt_calls_batch *b)
{
    __atomic_fetch_add((size_t *)share, b->n, __ATOMIC_RELAXED);
    return 0;
}

static int merge(void *self, void *share)
{
    (void)self;
    (void)share;
    return 0;
}

static void put_line(void *self, const char *line)
{
    g_string_append_printf(self, "%s\n", line);
}

/* Events are as they should be before a time, and again after another one: by what they say of
 * themselves, as times of calls across the gap are not known. */
static void compare(struct gt_calls *c, const GArray *came, const GArray *wanted, uint64_t before,
                    uint64_t after)
{
    guint i = 0, k = 0;
    for (; i < came->len && k < wanted->len; i++, k++) {
        const struct gt_call *a = &g_array_index(came, struct gt_call, i);
        const struct gt_call *b = &g_array_index(wanted, struct gt_call, k);
        if (b->time >= before)
            break;
        assert_int_equal(a->time, b->time);
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->depth, b->depth);
    }
    for (i = came->len, k = wanted->len; i > 0 && k > 0; i--, k--) {
        const struct gt_call *a = &g_array_index(came, struct gt_call, i - 1);
        const struct gt_call *b = &g_array_index(wanted, struct gt_call, k - 1);
        if (b->time <= after)
            return;
        assert_int_equal(a->time, b->time);
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->depth, b->depth);
        if (a->kind == GT_CALL_ENTRY && b->function < FUNCTIONS)
            assert_int_equal(atoi(name_of(c, a->function) + 1), b->function);
    }
}

/* A packer's tasks between two times are damaged; those of the others are whole. */
static void check_calls(const struct model *m, const char *file, uint32_t packer, uint64_t before,
                        uint64_t after)
{
    static const struct gt_calls_consumer consumer = {make_share, count_batch, merge};
    struct gt_calls *c = open_calls(file);
    struct came came = {0};
    size_t events = 0;
    struct gt_error err = {0};
    for (unsigned i = 0; i < TASKS; i++)
        came.event[i] = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
    if (gt_calls_walk(c, NULL, take, &came, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(gt_calls_scan(c, NULL, &consumer, &events, 2, &err), 0);
    assert_true(events > 0);
    for (unsigned i = 0; i < TASKS; i++) {
        const bool hit = i % 2 + 7 == packer;
        GArray *wanted = model_events(m, i, &(const struct gt_calls_window){0});
        assert_int_equal(came.open[i], 0);
        if (!hit)
            assert_int_equal(came.event[i]->len, wanted->len);
        compare(c, came.event[i], wanted, hit ? before : UINT64_MAX, hit ? after : UINT64_MAX);
        g_array_free(wanted, TRUE);
        g_array_free(came.event[i], TRUE);
    }
    gt_calls_close(c);
}

/* As a directory it has the same calls, and they match: what was open where records are missing has
 * been left. */
static void check_directory(const struct model *m, const char *file, uint32_t packer,
                            uint64_t before, uint64_t after)
{
    g_autofree char *dir = g_strdup(in_scratch("exported"));
    const struct gt_error_notices to = {put_line, g_string_new(NULL)};
    struct gt_error err = {0};
    if (gt_repair_unpack(file, dir, &to, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(strstr(((GString *)to.self)->str, "left out"));
    g_string_free(to.self, TRUE);
    check_calls(m, dir, packer, before, after);
    assert_null(strstr(notices->str, "do not fit"));
    assert_int_equal(gt_file_remove_dir(dir, NULL), 0);
}

static char *read_file(const char *path, size_t *n)
{
    char *data;
    assert_int_equal(gt_file_read(path, 1 << 24, &data, n, NULL), 0);
    return data;
}

/* The times of the segment that a block is in. */
static void find_segment(const struct gt_compact_file *f, size_t block, uint64_t *first,
                         uint64_t *last)
{
    struct gt_compact_segments s;
    assert_int_equal(gt_compact_segments_find(f, &s), 0);
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.segment[i].n; k++)
            if (s.segment[i].block[k] == block) {
                *first = s.segment[i].first_time;
                *last = s.segment[i].last_time;
            }
    gt_compact_segments_free(&s);
}

/* Each block of records in turn: a bit of its payload, then of its head, so that it is missing. */
static void test_blocks(void **state)
{
    struct model *m = model_make(5, RECORDS, SEGMENT, BLOCK);
    g_autofree char *damaged = g_strdup(in_scratch("damaged.gtrace"));
    struct gt_compact_file f;
    size_t n;
    (void)state;
    assert_int_equal(gt_compact_file_open(m->file, &f, NULL), 0);
    char *data = read_file(m->file, &n);
    for (size_t i = 0; i < f.n; i++) {
        const struct gt_compact_block *b = &f.block[i];
        uint64_t first = 0, last = 0;
        if (b->head.type != GT_COMPACT_RECORDS)
            continue;
        find_segment(&f, i, &first, &last);
        for (int head = 0; head < 2; head++) {
            size_t at = (size_t)b->at + (head ? 1 : GT_COMPACT_HEAD + b->head.size / 2);
            data[at] ^= 16;
            assert_int_equal(gt_file_replace(damaged, data, n, NULL), 0);
            check_directory(m, damaged, b->head.packer, first, last);
            check_calls(m, damaged, b->head.packer, first, last);
            g_autofree char *place = g_strdup_printf("offset %zu", (size_t)b->at);
            assert_non_null(strstr(notices->str, place));
            data[at] ^= 16;
        }
    }
    free(data);
    gt_compact_file_close(&f);
    model_free(m);
}

/* Cut anywhere: what is before the cut is read. */
static void test_cut(void **state)
{
    struct model *m = model_make(6, RECORDS, SEGMENT, BLOCK);
    const char *cut = in_scratch("cut.gtrace");
    struct gt_compact_file f;
    size_t n, texts = 0;
    (void)state;
    assert_int_equal(gt_compact_file_open(m->file, &f, NULL), 0);
    char *data = read_file(m->file, &n);
    for (size_t i = 0; i < f.n; i++)
        if (f.block[i].head.type == GT_COMPACT_FILE)
            texts = (size_t)f.block[i].at + GT_COMPACT_HEAD + f.block[i].head.size;
    for (size_t size = texts; size < n; size += 1 + size % 97) {
        assert_int_equal(gt_file_replace(cut, data, size, NULL), 0);
        struct gt_calls *c = open_calls(cut);
        struct came came = {0};
        for (unsigned i = 0; i < TASKS; i++)
            came.event[i] = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
        assert_int_equal(gt_calls_walk(c, NULL, take, &came, NULL), 0);
        for (unsigned i = 0; i < TASKS; i++) {
            assert_int_equal(came.open[i], 0);
            g_array_free(came.event[i], TRUE);
        }
        gt_calls_close(c);
    }
    free(data);
    gt_compact_file_close(&f);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
