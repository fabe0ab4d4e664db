/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded with filters is what filters leave of the whole recording: random recordings are written
 * once more, by what filter states say, and read without filters. */
#include "calls_filtered.h"

enum { TURNS = 60, WINDOWS = 4, RECORDS = 2500 };

/* ---- options ----------------------------------------------------------------------------- */

static GString *options; /* of this turn, for a failure */

static void add(struct gt_filter_set *set, enum gt_filter_option option, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static void add(struct gt_filter_set *set, enum gt_filter_option option, const char *format, ...)
{
    static const char *const names[] = {"-F", "-N", "-T", "-C", "-H",
                                        "-L", "-D", "-t", "-Z", "--task"};
    struct gt_error err;
    va_list ap;
    va_start(ap, format);
    g_autofree char *value = g_strdup_vprintf(format, ap);
    va_end(ap);
    const char *name = option == GT_FILTER_OFF ? "--trace=off" : names[option];
    g_string_append_printf(options, " %s %s", name, value);
    if (gt_filter_set_add(set, option, name, value, &err) < 0)
        fail_msg("%s", err.text);
}

static const char *pattern(struct model *m)
{
    static char text[8][32];
    static unsigned next;
    char *out = text[next++ % 8];
    uint32_t f = model_roll(m, FUNCTIONS), form = model_roll(m, 4);
    sprintf(out, "f%u", f);
    if (form == 1)
        sprintf(out, "^f%u", f % 3);
    else if (form == 2)
        sprintf(out, "[%u]$", f % 10);
    else if (form == 3)
        sprintf(out, "^(f%u|f3)$", f);
    return out;
}

static void add_trigger(struct model *m, struct gt_filter_set *set)
{
    static const char *const action[] = {
        "trace-on",       "trace-off", "trace-off,every=7",   "trace-on,return:trace-off",
        "hide",           "trace",     "trace-on,if:depth<3", "filter",
        "notrace,after=9"};
    uint32_t what = model_roll(m, 12);
    if (what < 9)
        add(set, GT_FILTER_TRIGGER, "%s@%s", pattern(m), action[what]);
    else if (what < 10)
        add(set, GT_FILTER_TRIGGER, "%s@depth=%u", pattern(m), model_roll(m, 5));
    else
        add(set, GT_FILTER_TRIGGER, "%s@time=%uns", pattern(m), model_roll(m, 200));
}

static struct gt_filter_set *make_set(struct model *m)
{
    struct gt_filter_set *set = gt_filter_set_new(NULL);
    g_string_truncate(options, 0);
    for (uint32_t k = model_roll(m, 3); k > 0; k--)
        add(set, model_roll(m, 2) ? GT_FILTER_ONLY : GT_FILTER_NOT, "%s", pattern(m));
    for (uint32_t k = model_roll(m, 3); k > 0; k--)
        add_trigger(m, set);
    if (model_roll(m, 3) == 0)
        add(set, GT_FILTER_HIDE, "%s", pattern(m));
    if (model_roll(m, 4) == 0)
        add(set, GT_FILTER_CALLERS, "%s", pattern(m));
    if (model_roll(m, 3) == 0)
        add(set, GT_FILTER_DEPTH, "%u", 1 + model_roll(m, 8));
    if (model_roll(m, 3) == 0)
        add(set, GT_FILTER_TIME, "%u", model_roll(m, model_roll(m, 2) ? 100 : 2000));
    if (model_roll(m, 8) == 0)
        add(set, GT_FILTER_TASK, "%u", FIRST_TID + model_roll(m, TASKS));
    if (model_roll(m, 8) == 0)
        add(set, GT_FILTER_OFF, "%s", "");
    return set;
}

/* ---- reading ----------------------------------------------------------------------------- */

struct came {
    struct gt_calls *c;
    uint64_t last; /* events at that time are left out */
    GArray *event[TASKS];
};

static int take(void *self, const struct gt_call *e)
{
    struct came *came = self;
    struct gt_call own = *e;
    size_t n;
    gt_calls_open_at(came->c, e->task, &n);
    assert_int_equal(n, e->depth + (e->kind == GT_CALL_EXIT ||
                                    (e->kind == GT_CALL_ENTRY && e->flags & GT_CALL_CLIPPED)));
    if (e->kind == GT_CALL_EVENT && e->time == came->last)
        return 0;
    if (e->kind != GT_CALL_EVENT)
        own.function = (uint32_t)g_str_hash(name_of(came->c, e->function));
    g_array_append_val(came->event[e->task], own);
    return 0;
}

static void walk(struct came *came, struct gt_calls *c, const struct gt_calls_window *w,
                 uint64_t last)
{
    struct gt_error err = {0};
    *came = (struct came){.c = c, .last = last};
    for (unsigned i = 0; i < TASKS; i++)
        came->event[i] = g_array_new(FALSE, TRUE, sizeof(struct gt_call));
    if (gt_calls_walk(c, w, take, came, &err) != 0)
        fail_msg("%s", err.text);
}

static bool equal(const struct gt_call *a, const struct gt_call *b)
{
    return a->time == b->time && a->begin == b->begin && a->self == b->self &&
           a->function == b->function && a->depth == b->depth && a->kind == b->kind &&
           ((a->flags ^ b->flags) & ~GT_CALL_OPEN) == 0; /* a recording says it in a file */
}

static void print(const char *who, const struct gt_call *e)
{
    printf("%s: time %zu begin %zu self %zd function %x depth %u kind %u flags %u\n", who,
           (size_t)e->time, (size_t)e->begin, (ssize_t)e->self, e->function, e->depth, e->kind,
           e->flags);
}

/* Frees both. Returns the number of events. */
static size_t compare(struct came *a, struct came *b, const struct gt_calls_window *w)
{
    size_t n = 0;
    for (unsigned t = 0; t < TASKS; t++) {
        for (guint i = 0; i < MIN(a->event[t]->len, b->event[t]->len); i++) {
            const struct gt_call *x = &g_array_index(a->event[t], struct gt_call, i);
            const struct gt_call *y = &g_array_index(b->event[t], struct gt_call, i);
            if (!equal(x, y)) {
                print("whole", x);
                print("filtered", y);
                fail_msg("task %u event %u:%s; window %zu %zu", t, i, options->str, (size_t)w->from,
                         (size_t)w->to);
            }
        }
        if (a->event[t]->len != b->event[t]->len)
            fail_msg("task %u: %u events, not %u:%s", t, a->event[t]->len, b->event[t]->len,
                     options->str);
        n += a->event[t]->len;
        g_array_free(a->event[t], TRUE);
        g_array_free(b->event[t], TRUE);
    }
    return n;
}

static struct gt_calls_window make_window(struct model *m)
{
    struct gt_calls_window w = {0};
    const uint32_t last = (uint32_t)m->time;
    if (model_roll(m, 3) == 0)
        return w;
    if (model_roll(m, 2))
        w.from = model_roll(m, last);
    if (model_roll(m, 2))
        w.to = MAX(w.from, 1) + model_roll(m, last);
    if (model_roll(m, 4) == 0)
        w.depth = 1 + model_roll(m, 6);
    if (model_roll(m, 4) == 0)
        w.min_time = model_roll(m, 100);
    return w;
}

/* ---- scans ------------------------------------------------------------------------------- */

struct sums {
    uint64_t calls;
    int64_t self;
    uint32_t depth[TASKS];
    bool begun[TASKS];
};

static void *share(void *self)
{
    (void)self;
    return g_new0(struct sums, 1);
}

static int take_batch(void *data, const struct gt_calls_batch *b)
{
    struct sums *s = data;
    assert_true(b->first != s->begun[b->task]);
    s->begun[b->task] = true;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        assert_int_equal(e->task, b->task);
        if (e->kind == GT_CALL_ENTRY)
            assert_int_equal(e->depth, s->depth[b->task]++);
        else if (e->kind == GT_CALL_EXIT)
            assert_int_equal(e->depth, --s->depth[b->task]);
        s->calls++;
        s->self += e->kind == GT_CALL_EXIT ? e->self : 0;
    }
    return 0;
}

static int merge(void *self, void *data)
{
    struct sums *to = self, *s = data;
    if (to)
        *to = *s;
    g_free(s);
    return 0;
}

static void check_scan(struct gt_calls *c, const struct gt_calls_window *w, const struct came *came)
{
    static const struct gt_calls_consumer consumer = {share, take_batch, merge};
    struct sums s = {0};
    uint64_t calls = 0;
    int64_t self = 0;
    assert_int_equal(gt_calls_scan(c, w, &consumer, &s, 2, NULL), 0);
    for (unsigned t = 0; t < TASKS; t++) {
        calls += came->event[t]->len;
        for (guint i = 0; i < came->event[t]->len; i++) {
            const struct gt_call *e = &g_array_index(came->event[t], struct gt_call, i);
            self += e->kind == GT_CALL_EXIT ? e->self : 0;
        }
    }
    assert_int_equal(s.calls, calls);
    assert_int_equal(s.self, self);
}

/* ---- tests ------------------------------------------------------------------------------- */

/* The directory, and the compact file before the event at the end. */
static void check_forms(struct model *m, const struct gt_filter_set *set)
{
    struct gt_calls *dir = open_calls(m->dir.path), *file = open_calls(m->file);
    for (int i = 0; i < WINDOWS; i++) {
        struct came a, b;
        struct gt_calls_window w = make_window(m);
        w.filter = set;
        walk(&a, dir, &w, 0);
        walk(&b, file, &w, 0);
        check_scan(dir, &w, &a);
        compare(&a, &b, &w);
    }
    gt_calls_close(dir);
    gt_calls_close(file);
}

static size_t check_filtered(struct model *m, const struct gt_filter_set *set)
{
    uint64_t last = m->time + 5;
    size_t n = 0;
    struct gt_uftrace_dir d = filtered_record(m, set, last);
    struct gt_calls *whole = open_calls(m->dir.path), *filtered = open_calls(d.path);
    for (int i = 0; i < WINDOWS; i++) {
        struct came a, b;
        struct gt_calls_window w = make_window(m);
        walk(&b, filtered, &w, last);
        assert_string_equal(notices->str, "");
        w.filter = set;
        walk(&a, whole, &w, last);
        n += compare(&a, &b, &w);
    }
    gt_calls_close(whole);
    gt_calls_close(filtered);
    return n;
}

static void test_filters(void **state)
{
    size_t n = 0;
    (void)state;
    options = g_string_new(NULL);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        const uint64_t segment = turn % 3 == 0 ? 0 : 50 << turn % 7;
        struct model *m = model_make(turn + 100, RECORDS, segment, 20 + 40 * (turn % 5));
        struct gt_filter_set *set = make_set(m);
        check_forms(m, set);
        n += check_filtered(m, set);
        gt_filter_set_free(set);
        model_free(m);
    }
    printf("%zu events of %d\n", n, TURNS * WINDOWS * RECORDS);
    assert_true(n > TURNS * WINDOWS * RECORDS / 20);
    g_string_free(options, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filters)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
