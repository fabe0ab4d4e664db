/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of calls/read that the tests of its consumers call: see fake_calls.h. */
#include "fake_calls.h"

size_t gt_calls_n_tasks(const struct gt_calls *c)
{
    return fake_n_tasks(c);
}

const struct gt_calls_task *gt_calls_task(const struct gt_calls *c, uint32_t index)
{
    (void)c;
    return fake_task(index);
}

size_t gt_calls_n_functions(const struct gt_calls *c)
{
    (void)c;
    return FAKE_FUNCTIONS;
}

const struct gt_calls_function *gt_calls_function(const struct gt_calls *c, uint32_t index)
{
    (void)c;
    return fake_function(index);
}

int gt_calls_scan(struct gt_calls *c, const struct gt_calls_window *w,
                  const struct gt_calls_consumer *consumer, void *self, unsigned threads,
                  struct gt_error *err)
{
    (void)threads;
    int status = fake_scan(c, w, consumer, self);
    if (c->fail)
        gt_error_set(err, c->fail, "the scan failed");
    return status;
}

bool gt_calls_is_open(const struct gt_calls *c, const struct gt_call *e)
{
    (void)c;
    return e->flags & GT_CALL_UNFINISHED;
}

uint64_t gt_calls_first_end(const struct gt_calls *c, uint32_t task)
{
    (void)c, (void)task;
    return UINT64_MAX;
}
