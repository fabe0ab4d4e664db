/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls made of texts, one a task, in place of calls/read: a letter enters the
 * function of that name, ')' leaves the innermost one; each sign takes 10 ns. 'A' is another
 * function of the name "a", at another address. '*' suspends the task until the next ')'.
 *
 * The scan cuts each task into stretches of `stretch` signs and gives them, the last one first, to
 * `shares` shares in turn. A SPLIT takes `part` ns of the call's self time, so a later part may be
 * less than nothing.
 */
#ifndef GT_FAKE_CALLS_H
#define GT_FAKE_CALLS_H

#include "calls/read/calls.h"

#include <stdlib.h>
#include <string.h>

/* The indexes of functions: those of suspensions, a to z, A to Z. */
enum { FAKE_A = GT_CALLS_PREEMPTED + 1, FAKE_FUNCTIONS = FAKE_A + 52 };
enum { FAKE_DEPTH = 64, FAKE_BATCH = 3, FAKE_TICK = 10, FAKE_SHARES = 8, FAKE_CALLS = 20000 };

struct gt_calls {
    const char *const *text; /* of each task, until NULL */
    size_t stretch, shares;  /* stretch 0: the whole task is one */
    int64_t part;
    bool outer_first; /* SPLITs of outer calls precede those of inner ones */
    int fail;         /* a status that the scan returns after its first batch */
};

static inline size_t fake_n_tasks(const struct gt_calls *c)
{
    size_t n = 0;
    while (c->text[n])
        n++;
    return n;
}

static inline const struct gt_calls_task *fake_task(uint32_t index)
{
    static const struct gt_calls_task tasks[] = {
        {.id = 1, .process = 0}, {.id = 2, .process = 0}, {.id = 3, .process = 1}};
    return &tasks[index];
}

static inline const struct gt_calls_function *fake_function(uint32_t index)
{
    static char names[52][2];
    static struct gt_calls_function functions[FAKE_FUNCTIONS];
    for (uint32_t i = 0; i < FAKE_A; i++)
        functions[i] = (struct gt_calls_function){.name = "*", .module = ""};
    for (uint32_t i = 0; i < 52; i++) {
        names[i][0] = (char)('a' + i % 26);
        functions[FAKE_A + i] = (struct gt_calls_function){
            .name = names[i], .module = i % 26 < 13 ? "/x/one" : "two", .address = 100 - i};
    }
    return &functions[index];
}

/* One task while it is given to the shares. */
struct fake {
    const struct gt_calls *calls;
    const struct gt_calls_consumer *consumer;
    void **share;
    struct {
        uint64_t begin;
        uint64_t slept; /* the fake's, when what was given of it ended */
        int64_t left;   /* of its self time that is not given yet */
        uint32_t function;
    } open[FAKE_DEPTH];
    uint32_t depth;
    uint64_t slept; /* of the task, so far; `wall`: 0 */
    bool wall;
    int64_t inner[FAKE_DEPTH + 1]; /* time in the calls that the open call made */
    struct gt_call_frame frames[FAKE_DEPTH];
    struct gt_call calls_now[FAKE_CALLS];
    size_t n; /* of calls_now */
};

static inline bool fake_recursive(const struct fake *f, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        if (f->open[i].function == f->open[depth].function)
            return true;
    return false;
}

static inline void fake_put(struct fake *f, uint32_t task, uint8_t kind, uint64_t time,
                            uint32_t depth, int64_t self, bool part)
{
    uint8_t flags = (fake_recursive(f, depth) ? GT_CALL_RECURSIVE : 0) | (part ? GT_CALL_PART : 0);
    const uint64_t slept = f->slept - f->open[depth].slept;
    const bool ends = kind != GT_CALL_ENTRY && !gt_call_suspends(f->open[depth].function);
    f->open[depth].slept = f->slept;
    f->calls_now[f->n++] = (struct gt_call){time, f->open[depth].begin,    self,  ends ? slept : 0,
                                            task, f->open[depth].function, depth, kind,
                                            flags};
}

/* A tick has passed. */
static inline void fake_tick(struct fake *f)
{
    if (f->depth && !f->wall && gt_call_suspends(f->open[f->depth - 1].function))
        f->slept += FAKE_TICK;
}

static inline void fake_split(struct fake *f, uint32_t task, uint64_t time)
{
    for (uint32_t i = 0; i < f->depth; i++) {
        uint32_t depth = f->calls->outer_first ? i : f->depth - 1 - i;
        fake_put(f, task, GT_CALL_SPLIT, time, depth, f->calls->part, false);
        f->open[depth].left -= f->calls->part;
    }
}

/* Gives the events of a stretch in batches. */
static inline int fake_give(struct fake *f, uint32_t task, size_t n_open, void *share)
{
    int status = 0;
    for (size_t i = 0; status == 0 && (i == 0 || i < f->n); i += FAKE_BATCH) {
        struct gt_calls_batch b = {.task = task,
                                   .first = i == 0,
                                   .open = f->frames,
                                   .n_open = n_open,
                                   .call = f->calls_now + i,
                                   .n = f->n - i < FAKE_BATCH ? f->n - i : FAKE_BATCH};
        status = f->consumer->batch(share, &b);
    }
    f->n = 0;
    return status;
}

/* The time of the sign `i` of a task's text. */
static inline uint64_t fake_time(size_t i)
{
    return 1000 + FAKE_TICK * i;
}

static inline void fake_sign(struct fake *f, uint32_t task, const char *text, size_t i,
                             size_t stretch_begin)
{
    uint64_t time = fake_time(i);
    if (text[i] == ')') {
        uint32_t d = --f->depth;
        int64_t total = (int64_t)(time - f->open[d].begin);
        int64_t self = total - f->inner[d + 1] + f->open[d].left;
        f->inner[d] += total;
        fake_put(f, task, GT_CALL_EXIT, time, d, self, f->open[d].begin < fake_time(stretch_begin));
        return;
    }
    bool upper = text[i] < 'a';
    const uint32_t function = (uint32_t)(text[i] - (upper ? 'A' : 'a') + (upper ? 26 : 0));
    f->open[f->depth].begin = time;
    f->open[f->depth].left = 0;
    f->open[f->depth].slept = f->slept;
    f->open[f->depth].function = text[i] == '*' ? GT_CALLS_SCHEDULE : FAKE_A + function;
    f->inner[f->depth + 1] = 0;
    fake_put(f, task, GT_CALL_ENTRY, time, f->depth++, 0, false);
}

/* All events up to a sign are made, those of the chosen stretch are given. */
static inline int fake_stretch(struct fake *f, uint32_t task, size_t begin, size_t end, void *share)
{
    const char *text = f->calls->text[task];
    size_t length = strlen(text), n_open = 0,
           step = f->calls->stretch ? f->calls->stretch : length + 1;
    memset(f->inner, 0, sizeof f->inner);
    f->depth = 0;
    f->slept = 0;
    for (size_t i = 0; i < end; i++) {
        fake_tick(f);
        if (i && i % step == 0) {
            fake_split(f, task, fake_time(i));
            f->n = 0;
        }
        if (i == begin) {
            n_open = f->depth;
            for (size_t k = 0; k < n_open; k++)
                f->frames[k] = (struct gt_call_frame){f->open[k].begin, f->open[k].function, false};
        }
        fake_sign(f, task, text, i, i / step * step);
    }
    fake_tick(f);
    if (end < length)
        fake_split(f, task, fake_time(end));
    return fake_give(f, task, n_open, share);
}

static inline int fake_tasks(struct fake *f)
{
    size_t turn = 0;
    for (uint32_t task = 0; f->calls->text[task]; task++) {
        size_t length = strlen(f->calls->text[task]);
        size_t step = f->calls->stretch ? f->calls->stretch : length + 1;
        for (size_t n = (length + step - 1) / step; n-- > 0; turn++) {
            size_t end = (n + 1) * step < length ? (n + 1) * step : length;
            int status = fake_stretch(f, task, n * step, end, f->share[turn % f->calls->shares]);
            if (status == 0)
                status = f->calls->fail;
            if (status < 0)
                return status;
        }
    }
    return 0;
}

static inline int fake_scan(struct gt_calls *c, const struct gt_calls_window *w,
                            const struct gt_calls_consumer *consumer, void *self)
{
    void *share[FAKE_SHARES] = {0};
    struct fake *f = calloc(1, sizeof *f);
    *f = (struct fake){.calls = c, .consumer = consumer, .share = share, .wall = w && w->wall};
    for (size_t i = 0; i < c->shares; i++)
        share[i] = consumer->share(self);
    int status = fake_tasks(f);
    for (size_t i = 0; i < c->shares; i++) {
        int merged = consumer->merge(status < 0 ? NULL : self, share[i]);
        status = status < 0 ? status : merged;
    }
    free(f);
    return status;
}

#endif
