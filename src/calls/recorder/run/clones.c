/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When threads begin that a program creates: see clones.h. */
#include "calls/recorder/run/clones.h"
#include "base/thread.h"
#include "calls/recorder/recorder.h"

#include <time.h>
#include <unistd.h>

enum { WAIT_SECONDS = 2 };

struct made {
    uint32_t tid;
    uint64_t time;
};

void gt_run_clones_init(struct gt_run_clones *c)
{
    gt_thread_cond_init(&c->changed);
}

void gt_run_clones_before(struct gt_vcpu *v, uint64_t time)
{
    v->clones = true;
    v->clone_time = time;
    v->rec->process.clones.open++;
}

static void close_call(struct gt_vcpu *creator)
{
    struct gt_run_clones *c = &creator->rec->process.clones;
    creator->clones = false;
    c->open--;
    pthread_cond_broadcast(&c->changed);
}

void gt_run_clones_after(struct gt_vcpu *v, int64_t result)
{
    struct gt_run_clones *c = &v->rec->process.clones;
    const struct made one = {(uint32_t)result, v->clone_time};
    if (!v->clones)
        return; /* its thread has begun */
    if (result > 0 && !c->made)
        c->made = g_array_new(FALSE, FALSE, sizeof one);
    if (result > 0)
        g_array_append_val(c->made, one);
    close_call(v);
}

static bool take(struct gt_run_clones *c, uint32_t tid, uint64_t *time)
{
    for (guint i = 0; c->made && i < c->made->len; i++) {
        const struct made *one = &g_array_index(c->made, struct made, i);
        if (one->tid != tid)
            continue;
        *time = one->time;
        g_array_remove_index(c->made, i);
        return true;
    }
    return false;
}

/* On the new thread. */
static uint64_t wait_for_creator(struct gt_recorder *r)
{
    struct gt_run_clones *c = &r->process.clones;
    const uint32_t tid = (uint32_t)gettid();
    struct timespec until;
    uint64_t time = r->vcpus.last_time;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_SECONDS;
    while (!take(c, tid, &time) && c->open && !gt_gate_ends(&r->gate) &&
           pthread_cond_timedwait(&c->changed, &r->lock, &until) == 0)
        ;
    return time;
}

uint64_t gt_run_clones_begin(struct gt_recorder *r, struct gt_vcpu *caller)
{
    if (!caller || !caller->clones)
        return wait_for_creator(r);
    close_call(caller);
    return caller->clone_time;
}

void gt_run_clones_forked(struct gt_recorder *r)
{
    struct gt_run_clones *c = &r->process.clones;
    c->open = 0;
    if (c->made)
        g_array_set_size(c->made, 0);
    gt_run_clones_init(c);
}
