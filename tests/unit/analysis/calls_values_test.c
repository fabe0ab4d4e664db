/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A value is of the call that it stands at, or it is absent: random recordings, whose values say
 * what record they are of, in random windows and below filters. */
#include "calls_model.h"
#include "filter/filter.h"
#include "recording/values/payload.h"

enum { TURNS = 40, WINDOWS = 6, RECORDS = 2500 };

/* ---- a recording with values ----------------------------------------------------------------- */

/* A third of all entries and exits have values. */
static bool has_values(uint64_t time, uint32_t function, bool entry)
{
    return (time * 7 + function * 3 + entry) % 3 == 0;
}

static const char *text_of(uint64_t time, uint32_t function, bool entry)
{
    static char text[64];
    snprintf(text, sizeof text, "%s f%u at %u", entry ? "into" : "out of", function,
             (unsigned)(time % 10));
    return text;
}

static void put(struct gt_compact_packer *p, uint32_t tid, const struct gt_compact_record *r)
{
    uint32_t function = (uint32_t)((r->word >> 16) - BASE) / FUNCTION;
    bool entry = (r->word & 3) == GT_UFTRACE_ENTRY, exit = (r->word & 3) == GT_UFTRACE_EXIT;
    struct gt_value_list list = {.n = 2};
    if (!(entry || exit) || !has_values(r->time, function, entry)) {
        assert_int_equal(gt_compact_packer_put(p, tid, r, 1), 0);
        return;
    }
    const char *text = text_of(r->time, function, entry);
    list.value[0] = (struct gt_value){.kind = GT_VALUE_WORD, .word = r->time};
    list.value[1] =
        (struct gt_value){.kind = GT_VALUE_BYTES, .bytes = text, .size = (uint16_t)strlen(text)};
    assert_int_equal(gt_compact_packer_put_valued(p, tid, r, &list), 0);
}

/* The model's records once more, in pieces of all tasks in turn. */
static const char *make_file(struct model *m)
{
    const struct gt_compact_packer_options o = {.packer = 9, .exact = true, .segment = 700};
    const char *file = in_scratch("values.gtrace");
    char *data[TASKS];
    size_t size[TASKS], at[TASKS] = {0};
    struct gt_compact_packer *p;
    remove(file);
    assert_int_equal(gt_compact_file_create(file, NULL), 0);
    append_texts(file, &m->dir);
    assert_int_equal(gt_compact_packer_create(&o, &p), 0);
    for (unsigned i = 0; i < TASKS; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%u.dat", m->dir.path, FIRST_TID + i);
        data[i] = NULL;
        size[i] = 0; /* a task may have no records, and no file */
        gt_file_read(path, 1 << 24, &data[i], &size[i], NULL);
    }
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < TASKS; i++)
            for (unsigned n = model_roll(m, 40); n > 0 && at[i] < size[i]; n--, at[i] += 16)
                put(p, FIRST_TID + i, (const struct gt_compact_record *)(void *)(data[i] + at[i]));
        for (unsigned i = 0; i < TASKS; i++)
            more |= at[i] < size[i];
        if (model_roll(m, 3) == 0)
            end_block(file, p);
    }
    end_block(file, p);
    gt_compact_packer_destroy(p);
    for (unsigned i = 0; i < TASKS; i++)
        free(data[i]);
    return file;
}

/* ---- what comes ------------------------------------------------------------------------------ */

struct seen {
    const struct gt_calls *c;
    size_t valued, missing;
};

/* The values are those of the record that the event was made of. */
static void check(struct seen *seen, const struct gt_call *e, const struct gt_value_list *values)
{
    bool entry = e->kind == GT_CALL_ENTRY, own = entry || e->kind == GT_CALL_EXIT;
    const struct gt_calls_function *f = own ? gt_calls_function(seen->c, e->function) : NULL;
    uint32_t function = f && f->name[0] == 'f' ? (uint32_t)atoi(f->name + 1) : UINT32_MAX;
    if (!values) {
        bool clipped = e->flags & (GT_CALL_CLIPPED | GT_CALL_UNFINISHED);
        if (function != UINT32_MAX && !clipped && has_values(e->time, function, entry))
            seen->missing++;
        return;
    }
    assert_true(function != UINT32_MAX && !(e->flags & GT_CALL_CLIPPED));
    assert_int_equal(values->n, 2);
    assert_true(has_values(values->value[0].word, function, entry));
    assert_int_equal(values->value[0].word, e->time);
    const char *text = text_of(e->time, function, entry);
    assert_int_equal(values->value[1].size, strlen(text));
    assert_memory_equal(values->value[1].bytes, text, strlen(text));
    seen->valued++;
}

static int take(void *self, const struct gt_call *e)
{
    struct seen *seen = self;
    check(seen, e, gt_calls_values_at(seen->c));
    return 0;
}

static void *share(void *self)
{
    return self;
}

static int batch(void *self, const struct gt_calls_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        check(self, &b->call[i], i == b->n - 1 ? b->values : NULL);
    return 0;
}

static int merge(void *self, void *share)
{
    (void)self, (void)share;
    return 0;
}

static void read_window(struct gt_calls *c, const struct gt_calls_window *w)
{
    static const struct gt_calls_consumer consumer = {share, batch, merge};
    struct seen walked = {.c = c}, scanned = {.c = c};
    struct gt_error err;
    assert_int_equal(gt_calls_walk(c, w, take, &walked, &err), 0);
    assert_int_equal(gt_calls_scan(c, w, &consumer, &scanned, 1, &err), 0);
    assert_int_equal(walked.missing, 0);
    if (w->min_time == 0 && !w->filter) { /* else an entry may be shown in a later stretch */
        assert_int_equal(scanned.missing, 0);
        assert_int_equal(walked.valued, scanned.valued);
    }
    if (w->from == 0 && w->to == 0 && !w->filter && w->min_time == 0 && w->depth == 0)
        assert_true(walked.valued > RECORDS / 5);
}

static struct gt_filter_set *make_filter(struct model *m)
{
    static const struct gt_filter_settings settings;
    struct gt_filter_set *set = gt_filter_set_new(&settings);
    struct gt_error err;
    char text[64];
    snprintf(text, sizeof text, "f%u", model_roll(m, FUNCTIONS));
    enum gt_filter_option option = model_roll(m, 2) ? GT_FILTER_NOT : GT_FILTER_CALLERS;
    assert_int_equal(gt_filter_set_add(set, option, "-N", text, &err), 0);
    snprintf(text, sizeof text, "%uns", model_roll(m, 300));
    assert_int_equal(gt_filter_set_add(set, GT_FILTER_TIME, "-t", text, &err), 0);
    return set;
}

static void test_random(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        struct model *m = model_make(turn + 1, RECORDS, 300, 40);
        struct gt_calls *c = open_calls(make_file(m));
        for (unsigned i = 0; i < WINDOWS; i++) {
            struct gt_calls_window w = {0};
            if (i > 0 && model_roll(m, 2))
                w.from = model_roll(m, (uint32_t)m->time);
            if (i > 0 && model_roll(m, 2))
                w.to = w.from + 1 + model_roll(m, (uint32_t)m->time);
            w.depth = i > 1 && model_roll(m, 2) ? 1 + model_roll(m, 12) : 0;
            w.min_time = i > 2 ? model_roll(m, 300) : 0;
            struct gt_filter_set *set = i > 3 ? make_filter(m) : NULL;
            w.filter = set;
            read_window(c, &w);
            gt_filter_set_free(set);
        }
        gt_calls_close(c);
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
