/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random options on random calls: what a task's state records is what the model says. */
#include "filter/state.h"
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 7;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* ---- options, and what the model is told of them ------------------------------------------------
 */

static char log_text[4096]; /* the options of this round, for a failure */

static void add(struct gt_filter_set *set, enum gt_filter_option option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct gt_filter_set *set, enum gt_filter_option option, const char *format, ...)
{
    static const char *const names[] = {"-F", "-N", "-T", "-C", "-H", "-L", "-D", "-t", "-Z"};
    char value[200];
    struct gt_error err;
    va_list ap;
    va_start(ap, format);
    vsnprintf(value, sizeof value, format, ap);
    va_end(ap);
    const char *name = option == GT_FILTER_OFF ? "--trace=off" : names[option];
    snprintf(log_text + strlen(log_text), sizeof log_text - strlen(log_text), " %s %s", name,
             value);
    if (gt_filter_set_add(set, option, name, value, &err) < 0)
        fail_msg("%s", err.text);
}

/* The patterns of one option: a function or some. */
struct chosen {
    char pattern[32];
    bool f[MODEL_FUNCTIONS];
};

static struct chosen choose(void)
{
    struct chosen c = {.pattern = ""};
    int lo = (int)below(MODEL_FUNCTIONS), hi = lo;
    if (below(3) == 0)
        hi = lo + (int)below((unsigned)(MODEL_FUNCTIONS - lo));
    if (lo == hi)
        sprintf(c.pattern, "f%d", lo);
    else
        sprintf(c.pattern, "^f[%d-%d]$", lo, hi);
    for (int i = lo; i <= hi; i++)
        c.f[i] = true;
    return c;
}

#define SAY(chosen, statement)                                                                     \
    for (int i = 0; i < MODEL_FUNCTIONS; i++)                                                      \
        if ((chosen).f[i]) {                                                                       \
            struct model_function *f = &m->function[i];                                            \
            statement;                                                                             \
        }

/* -F and -N, in this order of uftrace's before all others. */
static void add_areas(struct gt_filter_set *set, struct model *m)
{
    for (unsigned k = below(3); k > 0; k--) {
        struct chosen c = choose();
        bool only = below(2);
        add(set, only ? GT_FILTER_ONLY : GT_FILTER_NOT, "%s", c.pattern);
        SAY(c, f->only = only; f->not = !only);
        m->only |= only;
    }
}

static void add_trigger(struct gt_filter_set *set, struct model *m)
{
    struct chosen c = choose();
    unsigned n = below(6);
    switch (below(9)) {
    case 0:
        add(set, GT_FILTER_TRIGGER, "%s@depth=%u", c.pattern, n % 4);
        SAY(c, f->depth = (int)n % 4);
        break;
    case 1:
        add(set, GT_FILTER_TRIGGER, "%s@time=%u", c.pattern, n * 8);
        SAY(c, f->time = n * 8);
        break;
    case 2:
        add(set, GT_FILTER_TRIGGER, "%s@size=%u", c.pattern, n * 20);
        SAY(c, f->size = n * 20);
        break;
    case 3:
        add(set, GT_FILTER_TRIGGER, "%s@trace", c.pattern);
        SAY(c, f->always = true);
        break;
    case 4:
        add(set, GT_FILTER_TRIGGER, "%s@notrace", c.pattern);
        SAY(c, f->not = true; f->only = false);
        break;
    case 5:
        add(set, GT_FILTER_TRIGGER, "%s@filter,hide", c.pattern);
        SAY(c, f->only = f->hide = true; f->not = false);
        m->only = true;
        break;
    default:
        add(set, GT_FILTER_TRIGGER, "%s@%s", c.pattern, n % 2 ? "trace-on" : "trace_off");
        SAY(c, f->on = n % 2; f->off = !f->on);
    }
}

/* A switch that does not apply each time: the only one of its functions. */
static void add_counted(struct gt_filter_set *set, struct model *m)
{
    int i = (int)below(MODEL_FUNCTIONS);
    struct model_function *f = &m->function[i];
    if (f->on || f->off)
        return;
    f->counted = true;
    f->after = below(3);
    f->every = 1 + below(3);
    f->count = 1 + below(4);
    f->on = below(2);
    f->off = !f->on;
    add(set, GT_FILTER_TRIGGER, "f%d@%s,after=%u,every=%u,count=%u", i,
        f->on ? "trace-on" : "trace-off", f->after, f->every, f->count);
}

static void add_limits(struct gt_filter_set *set, struct model *m)
{
    if (below(3) == 0) {
        m->depth = 1 + below(5);
        add(set, GT_FILTER_DEPTH, "%u", m->depth);
    }
    if (below(3) == 0) {
        m->time = below(60);
        add(set, GT_FILTER_TIME, "%uns", (unsigned)m->time);
    }
    if (below(4) == 0) {
        m->size = below(100);
        add(set, GT_FILTER_SIZE, "%u", m->size);
    }
    if (below(4) == 0) {
        struct chosen c = choose();
        add(set, GT_FILTER_CALLERS, "%s", c.pattern);
        SAY(c, f->caller = true);
        m->callers = true;
    }
    if (below(4) == 0) {
        struct chosen c = choose();
        add(set, GT_FILTER_HIDE, "%s", c.pattern);
        SAY(c, f->hide = true);
    }
    if (below(5) == 0) { /* functions 0 to 3 are in a.c, the others in b.c */
        bool hides = below(2);
        add(set, GT_FILTER_PLACE, "%s", hides ? "b.c@hide" : "^/src/a");
        for (int i = 0; i < MODEL_FUNCTIONS; i++)
            m->function[i].place = hides ? -(i >= 4) : i < 4;
        m->places = !hides;
    }
    if (below(8) == 0) {
        add(set, GT_FILTER_OFF, "%s", "");
        m->off = true;
    }
}

static struct gt_filter_set *random_set(struct model *m)
{
    struct gt_filter_set *set = gt_filter_set_new(NULL);
    assert_non_null(set);
    log_text[0] = 0;
    *m = (struct model){.depth = UINT32_MAX};
    for (int i = 0; i < MODEL_FUNCTIONS; i++) {
        struct model_function *f = &m->function[i];
        *f = (struct model_function){.depth = -1, .time = -1, .size = -1, .own_size = below(100)};
    }
    add_areas(set, m);
    for (unsigned k = below(4); k > 0; k--)
        add_trigger(set, m);
    if (below(3) == 0)
        add_counted(set, m);
    add_limits(set, m);
    return set;
}

/* ---- calls --------------------------------------------------------------------------------------
 */

static struct model_call call[MODEL_CALLS];
static size_t n_calls;
static uint64_t now;

static void make_calls(int parent, uint32_t depth, int *left)
{
    while (*left > 0 && below(5)) {
        size_t i = n_calls++;
        (*left)--;
        now += 1 + below(10);
        call[i] = (struct model_call){(int)below(MODEL_FUNCTIONS), parent, depth, now, 0};
        if (depth < 12)
            make_calls((int)i, depth + 1, left);
        now += 1 + below(12);
        call[i].end = now;
    }
}

/* ---- what the state does
 * -------------------------------------------------------------------------
 */

static struct model_record got[4 * MODEL_CALLS * 4], want[4 * MODEL_CALLS * 4];
static size_t n_got;
static int open_call[64];
static uint32_t n_shown;

static void put(bool leaves, uint32_t depth, uint64_t time)
{
    assert_true(n_got < sizeof got / sizeof *got);
    got[n_got++] = (struct model_record){leaves, depth, time, open_call[depth]};
}

static void put_enter(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    (void)self;
    assert_int_equal(shown, n_shown++);
    put(false, f->depth, time);
}

static void put_leave(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    (void)self;
    assert_int_equal(shown, --n_shown);
    put(true, f->depth, time);
}

static const struct gt_filter_sink sink = {.enter = put_enter, .leave = put_leave};

static void run(const struct gt_filter_set *set, const struct model *m)
{
    struct gt_filter_state s;
    struct gt_filter_verdict v[MODEL_FUNCTIONS];
    struct gt_filter_live *live = gt_filter_live_new(set);
    int depth = 0;
    for (int i = 0; i < MODEL_FUNCTIONS; i++) {
        char name[8];
        sprintf(name, "f%d", i);
        const struct gt_filter_function f = {.name = name,
                                             .size = m->function[i].own_size,
                                             .file = i < 4 ? "/src/a.c" : "/src/b.c",
                                             .line = 1};
        assert_int_equal(gt_filter_verdict(set, &f, &v[i]), 0);
    }
    n_got = 0;
    assert_int_equal(gt_filter_state_init(&s, set, live, &sink, NULL), 0);
    for (size_t i = 0; i < n_calls; i++) {
        while (depth > (int)call[i].depth)
            gt_filter_leave(&s, call[open_call[--depth]].end);
        open_call[depth++] = (int)i;
        gt_filter_enter(&s, &v[call[i].function], 0, 0, call[i].begin);
    }
    while (depth > 0)
        gt_filter_leave(&s, call[open_call[--depth]].end);
    assert_int_equal(s.depth, 0);
    gt_filter_state_finish(&s);
    gt_filter_live_free(live);
}

static void print(const char *who, const struct model_record *r, size_t n)
{
    printf("%s:\n", who);
    for (size_t i = 0; i < n; i++)
        printf("  %4u %*s%s f%d\n", (unsigned)r[i].time, (int)r[i].depth, "",
               r[i].leaves ? "}" : "{", call[r[i].call].function);
}

static void test_random(void **state)
{
    size_t recorded = 0, all = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct model m;
        struct gt_filter_set *set = random_set(&m);
        int left = (int)below(round % 50 ? 40 : MODEL_CALLS);
        n_calls = 0;
        now = 1;
        make_calls(-1, 0, &left);
        run(set, &m);
        size_t n = model_records(&m, call, n_calls, want);
        if (n != n_got || memcmp(got, want, n * sizeof *want) != 0) {
            for (size_t i = 0; i < n_calls; i++)
                printf("%*sf%d %u-%u\n", (int)call[i].depth, "", call[i].function,
                       (unsigned)call[i].begin, (unsigned)call[i].end);
            print("model", want, n);
            print("state", got, n_got);
            fail_msg("round %d:%s", round, log_text);
        }
        recorded += n;
        all += 2 * n_calls;
        gt_filter_set_free(set);
    }
    printf("%zu of %zu records\n", recorded, all);
    assert_true(recorded > all / 10 && recorded < all * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
