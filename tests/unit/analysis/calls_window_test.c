/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random recordings: what gt_calls_walk and gt_calls_scan show of them in random windows, against a
 * model that looks at every call. */
#include "calls_model.h"

enum { TURNS = 24, WINDOWS = 30, RECORDS = 6000 };

/* A task's events that came. */
struct came {
    struct gt_calls *c;
    bool compact;
    GArray *event[TASKS];
    struct gt_call before;
    GArray *open[TASKS]; /* struct gt_call: entries of what is open */
};

/* f12 is 12. */
static uint32_t number_of(struct came *came, const struct gt_call *e)
{
    if (e->kind == GT_CALL_EVENT)
        return e->function;
    const char *name = name_of(came->c, e->function);
    return strcmp(name, "linux:schedule") == 0 ? (uint32_t)SCHEDULE : (uint32_t)atoi(name + 1);
}

static void check_open(struct came *came, const struct gt_call *e)
{
    size_t n;
    GArray *open = came->open[e->task];
    const struct gt_call_frame *frame = gt_calls_open_at(came->c, e->task, &n);
    const bool clipped = e->kind == GT_CALL_ENTRY && e->flags & GT_CALL_CLIPPED;
    assert_int_equal(n, e->depth + (e->kind == GT_CALL_EXIT || clipped));
    if (clipped)
        g_array_append_val(open, *e);
    assert_int_equal(n, open->len);
    for (size_t i = 0; i < n; i++) {
        const struct gt_call *o = &g_array_index(open, struct gt_call, i);
        assert_int_equal(frame[i].function, o->function);
        assert_int_equal(frame[i].begin, o->time - (uint64_t)o->self);
    }
    if (e->kind == GT_CALL_ENTRY && !clipped)
        g_array_append_val(open, *e);
    if (e->kind == GT_CALL_EXIT)
        g_array_set_size(open, open->len - 1);
}

static int take(void *self, const struct gt_call *e)
{
    struct came *came = self;
    struct gt_call own = *e;
    const bool late =
        e->flags &
        (came->compact || e->kind == GT_CALL_EXIT ? GT_CALL_CLIPPED | GT_CALL_UNFINISHED : 0);
    check_open(came, e);
    own.function = number_of(came, e);
    if (!late) {
        assert_true(e->time >= came->before.time);
        assert_true(e->time > came->before.time || e->task >= came->before.task);
        came->before = *e;
    }
    own.task = 0;
    g_array_append_val(came->event[e->task], own);
    return 0;
}

static void compare(const GArray *came, const GArray *wanted, unsigned task)
{
    for (guint i = 0; i < MIN(came->len, wanted->len); i++) {
        const struct gt_call *a = &g_array_index(came, struct gt_call, i);
        const struct gt_call *b = &g_array_index(wanted, struct gt_call, i);
        if (a->time != b->time || a->begin != b->begin || a->self != b->self ||
            a->slept != b->slept || a->function != b->function || a->depth != b->depth ||
            a->kind != b->kind || a->flags != b->flags)
            fail_msg("task %u event %u: time %zu begin %zu self %zd slept %zu function %u depth %u "
                     "kind %u flags %u; not %zu %zu %zd %zu %u %u %u %u",
                     task, i, (size_t)a->time, (size_t)a->begin, (ssize_t)a->self, (size_t)a->slept,
                     a->function, a->depth, a->kind, a->flags, (size_t)b->time, (size_t)b->begin,
                     (ssize_t)b->self, (size_t)b->slept, b->function, b->depth, b->kind, b->flags);
    }
    assert_int_equal(came->len, wanted->len);
}

/* Sums of a function. */
struct sum {
    uint64_t calls, ends, total, slept;
    int64_t self;
};

static void check_walk(const struct model *m, struct gt_calls *c, const struct gt_calls_window *w,
                       bool compact, struct sum *sum)
{
    struct came came = {.c = c, .compact = compact};
    struct gt_error err = {0};
    for (unsigned i = 0; i < TASKS; i++) {
        came.event[i] = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
        came.open[i] = g_array_new(FALSE, FALSE, sizeof(struct gt_call));
    }
    assert_int_equal(gt_calls_walk(c, w, take, &came, &err), 0);
    for (unsigned i = 0; i < TASKS; i++) {
        GArray *wanted = model_events(m, i, w);
        /* of a task that sleeps from before the first segment until after the window is not known
         */
        if (!compact || came.event[i]->len > 0 || model_has(m, i, w))
            compare(came.event[i], wanted, i);
        for (guint k = 0; k < came.event[i]->len; k++) {
            const struct gt_call *e = &g_array_index(came.event[i], struct gt_call, k);
            struct sum *s = &sum[e->kind == GT_CALL_EVENT ? SCHEDULE + 1 : e->function];
            s->calls += e->kind != GT_CALL_EXIT;
            s->ends += e->kind == GT_CALL_EXIT;
            s->self += e->kind == GT_CALL_EXIT ? e->self : 0;
            s->slept += e->slept;
            s->total +=
                e->kind == GT_CALL_EXIT && !(e->flags & GT_CALL_RECURSIVE) ? e->time - e->begin : 0;
        }
        g_array_free(wanted, TRUE);
        g_array_free(came.event[i], TRUE);
        g_array_free(came.open[i], TRUE);
    }
}

/* ---- scans --------------------------------------------------------------------------------- */

struct share {
    const struct scanning *scanning;
    struct sum sum[SCHEDULE + 2];
    uint32_t depth[TASKS], carried[TASKS];
    uint64_t time[TASKS];
};

struct scanning {
    struct gt_calls *c;
    struct sum sum[SCHEDULE + 2];
};

static void *make_share(void *self)
{
    struct share *s = g_new0(struct share, 1);
    s->scanning = self;
    return s;
}

/* Within a stretch events are in order and balanced. */
static void check_order(struct share *s, const struct gt_calls_batch *b, const struct gt_call *e)
{
    uint32_t *depth = &s->depth[b->task];
    assert_int_equal(e->task, b->task);
    assert_true(e->time >= s->time[b->task]);
    s->time[b->task] = e->time;
    if (e->kind == GT_CALL_ENTRY)
        assert_int_equal(e->depth, (*depth)++);
    else if (e->kind == GT_CALL_EVENT)
        assert_int_equal(e->depth, *depth);
    else
        assert_int_equal(e->depth, --*depth);
    if (e->kind == GT_CALL_EXIT) {
        uint32_t *carried = &s->carried[b->task];
        assert_int_equal(!!(e->flags & GT_CALL_PART), e->depth < *carried);
        *carried = MIN(*carried, e->depth);
    }
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    struct came came = {.c = s->scanning->c};
    if (b->first) {
        assert_int_equal(b->n, 0);
        s->depth[b->task] = s->carried[b->task] = (uint32_t)b->n_open;
        s->time[b->task] = 0;
    }
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        check_order(s, b, e);
        struct sum *sum =
            &s->sum[e->kind == GT_CALL_EVENT ? (uint32_t)SCHEDULE + 1 : number_of(&came, e)];
        bool ends = e->kind == GT_CALL_EXIT;
        sum->calls += e->kind == GT_CALL_ENTRY || e->kind == GT_CALL_EVENT;
        sum->ends += ends;
        sum->self += ends || e->kind == GT_CALL_SPLIT ? e->self : 0;
        sum->slept += e->slept;
        assert_true(e->self >= 0);
        sum->total += ends && !(e->flags & GT_CALL_RECURSIVE) ? e->time - e->begin : 0;
    }
    return 0;
}

static int merge(void *self, void *share)
{
    struct scanning *to = self;
    struct share *s = share;
    for (int i = 0; to && i < SCHEDULE + 2; i++) {
        to->sum[i].calls += s->sum[i].calls;
        to->sum[i].ends += s->sum[i].ends;
        to->sum[i].self += s->sum[i].self;
        to->sum[i].total += s->sum[i].total;
        to->sum[i].slept += s->sum[i].slept;
    }
    g_free(s);
    return 0;
}

static void check_scan(struct gt_calls *c, const struct gt_calls_window *w, unsigned threads,
                       const struct sum *wanted)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge};
    struct scanning s = {.c = c};
    assert_int_equal(gt_calls_scan(c, w, &consumer, &s, threads, NULL), 0);
    for (int i = 0; i < SCHEDULE + 2; i++) {
        assert_int_equal(s.sum[i].calls, wanted[i].calls);
        assert_int_equal(s.sum[i].ends, wanted[i].ends);
        assert_int_equal(s.sum[i].self, wanted[i].self);
        assert_int_equal(s.sum[i].total, wanted[i].total);
        assert_int_equal(s.sum[i].slept, wanted[i].slept);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static struct gt_calls_window make_window(struct model *m, bool *tasks)
{
    struct gt_calls_window w = {0};
    const uint32_t last = (uint32_t)m->time;
    if (model_roll(m, 3))
        w.from = model_roll(m, last + 20);
    if (model_roll(m, 3))
        w.to = MAX(w.from, 1) + model_roll(m, model_roll(m, 2) ? last : 500);
    if (model_roll(m, 3) == 0)
        w.depth = 1 + model_roll(m, 12);
    if (model_roll(m, 2))
        w.min_time = model_roll(m, model_roll(m, 2) ? 30 : 1000);
    w.wall = model_roll(m, 2);
    for (unsigned i = 0; i < TASKS; i++)
        tasks[i] = model_roll(m, 3);
    if (model_roll(m, 4) == 0)
        w.tasks = tasks;
    return w;
}

static void check(const struct model *m, struct gt_calls *c, const struct gt_calls_window *w,
                  bool compact)
{
    struct sum sum[SCHEDULE + 2] = {0};
    check_walk(m, c, w, compact, sum);
    for (unsigned threads = 1; threads <= 3; threads++)
        check_scan(c, w, threads, sum);
    assert_string_equal(notices->str, "");
}

static void test_windows(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        const uint64_t segment = turn % 3 == 0 ? 0 : 50 << turn % 7;
        struct model *m = model_make(turn + 1, RECORDS, segment, 20 + 40 * (turn % 5));
        for (int compact = 0; compact < 2; compact++) {
            struct gt_calls *c = open_calls(compact ? m->file : m->dir.path);
            assert_int_equal(gt_calls_n_tasks(c), TASKS);
            assert_int_equal(gt_calls_facts(c)->last, m->time);
            check(m, c, &(const struct gt_calls_window){0}, compact);
            for (int i = 0; i < WINDOWS; i++) {
                bool tasks[TASKS];
                const struct gt_calls_window w = make_window(m, tasks);
                check(m, c, &w, compact);
            }
            gt_calls_close(c);
        }
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
