/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: windows, and the passes of calls/read, whose events have the
 * same shape. */
#include "calls/read/function_pattern.h"
#include "gtrace/private.h"

#include <stddef.h>
#include <string.h>

#define SAME(member, ours)                                                                         \
    _Static_assert(offsetof(struct gtrace_event, member) == offsetof(struct gt_call, ours),        \
                   "an event is passed as it is")
SAME(time, time);
SAME(begin, begin);
SAME(self, self);
SAME(slept, slept);
SAME(task, task);
SAME(function, function);
SAME(depth, depth);
SAME(kind, kind);
SAME(flags, flags);
_Static_assert(sizeof(struct gtrace_event) == sizeof(struct gt_call), "the same");
_Static_assert((int)GTRACE_SPLIT == (int)GT_CALL_SPLIT && (int)GTRACE_VCPU == (int)GT_CALL_VCPU &&
                   (int)GTRACE_EXIT == (int)GT_CALL_EXIT && (int)GTRACE_LOST == (int)GT_CALL_LOST &&
                   (int)GTRACE_PART == (int)GT_CALL_PART &&
                   (int)GTRACE_OPEN == (int)GT_CALL_UNFINISHED &&
                   (int)GTRACE_CLIPPED == (int)GT_CALL_CLIPPED &&
                   (int)GTRACE_RECURSIVE == (int)GT_CALL_RECURSIVE,
               "the same");

static const struct gtrace_event *event_of(const struct gt_call *e)
{
    return (const struct gtrace_event *)(const void *)e;
}

/* ---- windows ------------------------------------------------------------------------------- */

int gt_gtrace_pass_init(struct gt_gtrace_pass *p, const struct gtrace *t,
                        const struct gtrace_window *w, struct gtrace_error *err)
{
    *p = (struct gt_gtrace_pass){0};
    gt_gtrace_get(&p->asked, sizeof p->asked, w);
    if (p->asked.to && p->asked.to < p->asked.from)
        return gt_gtrace_usage(err, "struct gtrace_window: `to` is before `from`");
    p->window = (struct gt_calls_window){
        .from = p->asked.from,
        .to = p->asked.to,
        .depth = p->asked.depth,
        .min_time = p->asked.min_time,
        .wall = p->asked.wall,
        .filter = gt_gtrace_filter_set(p->asked.filter),
    };
    if (p->asked.tasks) {
        const size_t n = gt_calls_n_tasks(t->calls);
        p->tasks = g_new0(bool, n + 1);
        for (const char *const *task = p->asked.tasks; *task; task++)
            gt_calls_choose_tasks(t->calls, *task, p->tasks);
        p->window.tasks = p->tasks;
    }
    return 0;
}

void gt_gtrace_pass_finish(struct gt_gtrace_pass *p)
{
    g_free(p->tasks);
}

int gt_gtrace_written(struct gt_output *out, int status, struct gt_error *e)
{
    struct gt_error write = {0};
    if (gt_output_finish(out, "the output", &write) < 0 && status >= 0)
        return gt_error_set(e, GT_E_IO, "%s", write.text);
    return status;
}

void gt_gtrace_choice_init(struct gt_gtrace_choice *c, const struct gtrace_window *w)
{
    *c = (struct gt_gtrace_choice){.patterns = w->functions};
    if (c->patterns)
        c->known = g_byte_array_new();
}

bool gt_gtrace_chosen(struct gt_gtrace_choice *c, struct gtrace *t, uint32_t function)
{
    if (!c->patterns)
        return true;
    if (function >= c->known->len) {
        const guint from = c->known->len;
        g_byte_array_set_size(c->known, MAX(function + 1, from * 2));
        memset(c->known->data + from, 0, c->known->len - from);
    }
    guint8 *known = &c->known->data[function];
    if (!*known) {
        const struct gt_calls_function *f = gt_calls_function(t->calls, function);
        const char *shown = gt_gtrace_demangle(t, f->name);
        *known = 1;
        for (const char *const *p = c->patterns; *p && *known == 1; p++)
            *known += gt_calls_function_pattern_matches(*p, f, shown);
    }
    return *known == 2;
}

void gt_gtrace_choice_finish(struct gt_gtrace_choice *c)
{
    if (c->known)
        g_byte_array_unref(c->known);
}

/* ---- passes -------------------------------------------------------------------------------- */

struct walk {
    int (*event)(void *user, const struct gtrace_event *e);
    void *user;
};

static int give(void *self, const struct gt_call *e)
{
    const struct walk *w = self;
    return w->event(w->user, event_of(e));
}

API int gtrace_walk(struct gtrace *t, const struct gtrace_window *w,
                    int (*event)(void *user, const struct gtrace_event *e), void *user,
                    struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct walk walk = {event, user};
    struct gt_error e = {0};
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    status = gt_calls_walk(t->calls, &pass.window, give, &walk, &e);
    gt_gtrace_pass_finish(&pass);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : status;
}

API size_t gtrace_stack(const struct gtrace *t, uint32_t task, struct gtrace_frame *out, size_t n)
{
    size_t all;
    const struct gt_call_frame *frame = gt_calls_open_at(t->calls, task, &all);
    for (size_t i = 0; i < all && i < n; i++)
        out[i] = (struct gtrace_frame){.begin = frame[i].begin,
                                       .function = frame[i].function,
                                       .recursive = frame[i].recursive};
    return all;
}

/* A share of a scan: the user's, with what to do with it. */
struct share {
    struct gtrace_consumer consumer;
    void *user;  /* of the scan */
    void *share; /* the user's */
};

static void *make_share(void *self)
{
    const struct share *all = self;
    struct share *s = g_new0(struct share, 1);
    s->consumer = all->consumer;
    s->share = all->consumer.share(all->user);
    if (s->share)
        return s;
    g_free(s);
    return NULL;
}

static int take_batch(void *self, const struct gt_calls_batch *b)
{
    const struct share *s = self;
    if (b->n == 0)
        return 0;
    const struct gtrace_batch batch = {.size = sizeof batch,
                                       .task = b->task,
                                       .event = event_of(b->call),
                                       .n = b->n,
                                       .stride = sizeof(struct gt_call)};
    return s->consumer.batch(s->share, &batch);
}

static int merge_share(void *self, void *share)
{
    const struct share *all = self;
    struct share *s = share;
    int status = s->consumer.merge(all ? all->user : NULL, s->share);
    g_free(s);
    return status;
}

API int gtrace_scan(struct gtrace *t, const struct gtrace_window *w,
                    const struct gtrace_consumer *c, void *user, unsigned threads,
                    struct gtrace_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    struct gt_gtrace_pass pass;
    struct share all = {.user = user};
    struct gt_error e = {0};
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    gt_gtrace_get(&all.consumer, sizeof all.consumer, c);
    status = gt_calls_scan(t->calls, &pass.window, &consumer, &all, threads, &e);
    gt_gtrace_pass_finish(&pass);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : status;
}
