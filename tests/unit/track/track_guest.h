/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest for tests of the tracker: functions `a` to `z` of 4 KiB each, blocks in them, and a sink
 * that writes what it is told as text: "+a+b-b" for a call of b in a. Each stack has a text of its
 * own. The sink asserts that depths fit and times never fall.
 */
#ifndef TESTS_TRACK_GUEST_H
#define TESTS_TRACK_GUEST_H

#include "track/stack.h"
#include "track_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FUNCS = 26, STACKS = 16, FUNC_SIZE = 0x1000, BLOCK_SIZE = 0x10 };

struct text {
    char text[400];
    uint64_t time;
    uint32_t depth;
    bool closed;
};

struct guest {
    struct gt_track k;
    struct gt_track_thread t;
    struct gt_track_func fn[FUNCS];
    uint64_t last_exit, time;
    struct text texts[STACKS];
    size_t n_texts;
    bool refuses; /* the sink opens nothing more */
    struct gt_code *codes[400];
    size_t n_codes;
    struct gt_track_sink sink;
};

static inline uint64_t func_at(char name)
{
    return (uint64_t)(name - 'a' + 1) * FUNC_SIZE;
}

static inline void note(struct gt_stack *s, uint64_t time, char sign, uint64_t addr)
{
    struct text *t = s->out;
    size_t n = strlen(t->text);
    assert_false(t->closed);
    assert_true(time >= t->time);
    t->time = time;
    if (n + 3 < sizeof t->text)
        snprintf(t->text + n, 3, "%c%c", sign, (char)('a' + addr / FUNC_SIZE - 1));
}

static inline void on_enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth,
                            uint64_t addr)
{
    (void)self;
    note(s, time, '+', addr);
    assert_int_equal(((struct text *)s->out)->depth++, depth);
}

static inline void on_leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth,
                            uint64_t addr)
{
    (void)self;
    note(s, time, '-', addr);
    assert_int_equal(--((struct text *)s->out)->depth, depth);
}

static inline bool on_open(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    struct guest *g = self;
    assert_ptr_equal(t->stack, s);
    if (g->refuses || g->n_texts == STACKS)
        return false;
    g->texts[g->n_texts].time = time;
    s->out = &g->texts[g->n_texts++];
    return true;
}

static inline void on_close(void *self, struct gt_stack *s)
{
    (void)self;
    assert_int_equal(((struct text *)s->out)->depth, 0);
    ((struct text *)s->out)->closed = true;
    s->out = NULL;
}

static inline struct guest *guest_create(uint32_t max_depth, bool tail_calls)
{
    void *p = NULL;
    assert_int_equal(posix_memalign(&p, 64, sizeof(struct guest)), 0);
    struct guest *g = p;
    memset(g, 0, sizeof *g);
    g->sink = (struct gt_track_sink){on_enter, on_leave, on_open, on_close};
    for (int i = 0; i < FUNCS; i++)
        g->fn[i] = (struct gt_track_func){.lo = func_at((char)('a' + i)),
                                          .hi = func_at((char)('a' + i)) + FUNC_SIZE};
    assert_true(gt_track_init(&g->k, &g->sink, g, max_depth, tail_calls));
    assert_true(gt_track_thread_init(&g->t, &g->k, 1));
    g->time = 1;
    return g;
}

static inline void guest_destroy(struct guest *g)
{
    if (g->t.stack)
        gt_track_thread_finish(&g->t, g->time);
    gt_track_finish(&g->k);
    for (size_t i = 0; i < g->n_codes; i++)
        free(g->codes[i]);
    free(g);
}

static inline struct gt_track_func *func(struct guest *g, char name)
{
    return &g->fn[name - 'a'];
}

/* The n-th block of the function; 0 is its entry. `exit` as in enum gt_code_exit. */
static inline struct gt_code *block(struct guest *g, char name, unsigned n, enum gt_code_exit exit,
                                    uint64_t target)
{
    void *p = NULL;
    assert_true(g->n_codes < sizeof g->codes / sizeof g->codes[0]);
    assert_int_equal(posix_memalign(&p, 64, sizeof(struct gt_code)), 0);
    struct gt_code *c = g->codes[g->n_codes++] = p;
    struct gt_track_func *fn = func(g, name);
    *c = (struct gt_code){.pc = fn->lo + n * BLOCK_SIZE,
                          .size = BLOCK_SIZE,
                          .target = target,
                          .fn = fn,
                          .insns = 4,
                          .exit = exit,
                          .entry = n == 0 && !(fn->flags & GT_FUNC_ANON)};
    gt_code_set_slow_flags(c);
    return c;
}

/* Control arrives at the block, as where translated code keeps the last exit. */
static inline void arrive(struct guest *g, struct gt_code *c)
{
    g->time += 4;
    if (g->last_exit == gt_track_last_exit_of_func(c->fn))
        return;
    bool room = g->t.stack->out != NULL;
    if (g->last_exit && room &&
        transfer_plain(&g->t, c, g->last_exit, g->time, &g->sink, g, g->k.max_depth))
        g->last_exit = gt_track_last_exit_of_func(c->fn);
    else
        g->last_exit = gt_track_slow(&g->t, c, g->last_exit, g->time);
    assert_true(g->t.stack->top >= g->t.stack->base && g->t.stack->top < g->t.stack->limit);
}

/* And the block runs to its end. */
static inline void run(struct guest *g, struct gt_code *c)
{
    arrive(g, c);
    if (c->exit != GT_EXIT_PLAIN)
        g->last_exit = gt_code_last_exit(c);
}

/* Short forms: block n of the function ends so. */
static inline void plain(struct guest *g, char name, unsigned n)
{
    run(g, block(g, name, n, GT_EXIT_PLAIN, 0));
}

static inline void call(struct guest *g, char name, unsigned n, char target)
{
    run(g, block(g, name, n, GT_EXIT_CALL, func_at(target)));
}

static inline void icall(struct guest *g, char name, unsigned n)
{
    run(g, block(g, name, n, GT_EXIT_CALL_INDIRECT, 0));
}

static inline void ret(struct guest *g, char name, unsigned n)
{
    run(g, block(g, name, n, GT_EXIT_RETURN, 0));
}

static inline void check(const struct guest *g, size_t stack, const char *text)
{
    assert_string_equal(g->texts[stack].text, text);
}

/* Returns were decided by these rules: pairs of enum gt_track_counter and count, until -1. */
static inline void check_rules(const struct guest *g, ...)
{
    uint64_t want[GT_COUNTERS] = {0};
    va_list ap;
    va_start(ap, g);
    for (int d; (d = va_arg(ap, int)) >= 0;)
        want[d] = (uint64_t)va_arg(ap, int);
    va_end(ap);
    for (int i = GT_RULES; i < GT_ANOMALIES; i++)
        if (g->t.counters[i] != want[i])
            fail_msg("rule %s has decided %d times, not %d", gt_track_counter_name(i),
                     (int)g->t.counters[i], (int)want[i]);
}

/* The counters, rules aside, are exactly these: pairs of enum gt_track_counter and count, until
 * -1. */
static inline void check_counters(const struct guest *g, ...)
{
    uint64_t want[GT_COUNTERS] = {0};
    va_list ap;
    va_start(ap, g);
    for (int d; (d = va_arg(ap, int)) >= 0;)
        want[d] = (uint64_t)va_arg(ap, int);
    va_end(ap);
    for (int i = 0; i < GT_COUNTERS; i++)
        if (!gt_track_counter_is_rule(i) && g->t.counters[i] != want[i])
            fail_msg("counter %s is %d, not %d", gt_track_counter_name(i), (int)g->t.counters[i],
                     (int)want[i]);
}

#endif
