/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scan that is a walk, whose events are collected by task: for windows that need to know all that
 * was before. */
#include "calls/read/pass.h"

#include <glib.h>

enum { BATCH = 1024 };

struct scan {
    const struct gt_calls_consumer *consumer;
    void *share;
    GPtrArray *tasks; /* GArray of struct gt_call, by task; NULL: not met */
};

static void free_calls(gpointer data)
{
    if (data)
        g_array_free(data, TRUE);
}

/* 0, or below. */
static int flush(struct scan *s, uint32_t task, GArray *calls)
{
    const struct gt_calls_batch b = {
        .task = task, .call = (const struct gt_call *)(void *)calls->data, .n = calls->len};
    int status = b.n ? s->consumer->batch(s->share, &b) : 0;
    g_array_set_size(calls, 0);
    return MIN(status, 0);
}

static int take(void *self, const struct gt_call *e)
{
    struct scan *s = self;
    int status = 0;
    if (e->task >= s->tasks->len)
        g_ptr_array_set_size(s->tasks, (gint)e->task + 1);
    if (!s->tasks->pdata[e->task]) {
        s->tasks->pdata[e->task] = g_array_sized_new(FALSE, FALSE, sizeof *e, BATCH);
        status = s->consumer->batch(s->share,
                                    &(const struct gt_calls_batch){.task = e->task, .first = true});
    }
    GArray *calls = s->tasks->pdata[e->task];
    g_array_append_val(calls, *e);
    return status < 0 || calls->len < BATCH ? MIN(status, 0) : flush(s, e->task, calls);
}

static int flush_all(struct scan *s)
{
    int status = 0;
    for (guint i = 0; i < s->tasks->len && status == 0; i++)
        if (s->tasks->pdata[i])
            status = flush(s, i, s->tasks->pdata[i]);
    return status;
}

int gt_calls_pass_scan_by_walk(gt_calls_pass_walk_fn *walk, struct gt_calls *c,
                               const struct gt_calls_window *w,
                               const struct gt_calls_consumer *consumer, void *self,
                               struct gt_error *err)
{
    struct scan s = {.consumer = consumer, .share = consumer->share(self)};
    if (!s.share)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", gt_calls_facts(c)->path);
    s.tasks = g_ptr_array_new_with_free_func(free_calls);
    int status = walk(c, w, take, &s, err);
    if (status == 0)
        status = flush_all(&s);
    g_ptr_array_free(s.tasks, TRUE);
    int merged = consumer->merge(status < 0 ? NULL : self, s.share);
    return status < 0 ? status : merged;
}
