/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads' buffers: see etrace.h. All but what packets.c says is done with the lane's lock, so that
 * the end, which may come on another thread, finds it whole.
 */
#include "plugin/etrace/buffer.h"
#include "base/clock.h"

#include "plugin/common/round_robin.h"

#include "plugin/trace-plugin.h"

#include <stdlib.h>
#include <unistd.h>

static __thread struct gt_etrace_lane *own;
static __thread struct gt_etrace_lane *entered; /* between put_begin and put_end */
static __thread uint16_t begun;                 /* the vCPU that began last on this thread */

const struct gt_etrace_vcpu *gt_etrace_current(void)
{
    return own && own->current ? own->current : &gt_etrace.vcpus[begun];
}

void gt_etrace_lane_settle(struct gt_etrace_lane *lane)
{
    if (lane->n_ran)
        gt_etrace_put_listed(lane);
    gt_etrace_lane_settle_clock(lane);
}

static struct gt_etrace_lane *new_lane(void)
{
    struct gt_etrace_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_mutex_lock(&gt_etrace.lock);
    lane->next = gt_etrace.lanes;
    gt_etrace.lanes = lane;
    pthread_mutex_unlock(&gt_etrace.lock);
    return lane;
}

struct gt_etrace_lane *gt_etrace_own_lane(void)
{
    if (!own)
        own = new_lane();
    return own;
}

/* The vCPU's lane, or (NULL) the thread's, locked; NULL: nothing is recorded any more. */
static struct gt_etrace_lane *lock(struct gt_etrace_vcpu *v)
{
    if (gt_etrace_is_finished())
        return NULL;
    if (v && !v->lane)
        v->lane = gt_etrace_own_lane();
    struct gt_etrace_lane *lane = v ? v->lane : gt_etrace_own_lane();
    if (!lane)
        return NULL;
    pthread_mutex_lock(&lane->lock);
    if (!gt_etrace_is_finished())
        return lane;
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

struct gt_etrace_lane *gt_etrace_lane_lock(struct gt_etrace_vcpu *v)
{
    struct gt_etrace_lane *lane = lock(v);
    if (lane && lane->n_ran)
        gt_etrace_put_listed(lane);
    return lane;
}

void gt_etrace_lane_unlock(struct gt_etrace_lane *lane)
{
    if (lane)
        pthread_mutex_unlock(&lane->lock);
}

void gt_etrace_lane_drain(struct gt_etrace_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    if (!gt_etrace_is_finished())
        gt_etrace_put_listed(lane);
    lane->n_ran = 0;
    pthread_mutex_unlock(&lane->lock);
}

/* For packets of the vCPU. */
static struct gt_etrace_lane *enter(struct gt_etrace_vcpu *v)
{
    struct gt_etrace_lane *lane = lock(v);
    if (!lane)
        return NULL;
    entered = lane;
    if (lane->n_ran)
        gt_etrace_put_listed(lane);
    if (v && lane->current != v)
        gt_etrace_lane_switch(lane, v);
    return lane;
}

void gt_etrace_add_slowly(struct gt_etrace_vcpu *v, uint64_t start, uint64_t end, uint64_t time,
                          uint64_t until)
{
    struct gt_etrace_lane *lane = enter(v);
    if (!lane) {
        gt_etrace_close(v);
        return;
    }
    gt_etrace_lane_begin_run(lane, start, end, time, until);
    pthread_mutex_unlock(&lane->lock);
}

struct gt_writer *gt_etrace_put_begin(struct gt_etrace_vcpu *v, size_t n)
{
    struct gt_etrace_lane *lane = enter(v);
    if (!lane)
        return NULL;
    gt_etrace_lane_settle(lane);
    gt_etrace_lane_close_run(lane);
    if (!gt_etrace_lane_make_room(lane, n)) {
        pthread_mutex_unlock(&lane->lock);
        return NULL;
    }
    gt_writer_init(&lane->w, lane->buffer->data + lane->buffer->used, n);
    return &lane->w;
}

void gt_etrace_put_end(void)
{
    entered->buffer->used = (size_t)(entered->w.at - entered->buffer->data);
    pthread_mutex_unlock(&entered->lock);
}

void gt_etrace_put_end_mem(struct gt_etrace_vcpu *v)
{
    const struct gt_buffer *b = entered->buffer;
    __atomic_store_n(&v->mem.at, entered->w.at, __ATOMIC_RELAXED);
    __atomic_store_n(&v->mem.end, b->data + b->size, __ATOMIC_RELEASE);
    gt_etrace_put_end();
}

void gt_etrace_put_all_listed(void)
{
    pthread_mutex_lock(&gt_etrace.lock);
    for (struct gt_etrace_lane *lane = gt_etrace.lanes; lane; lane = lane->next)
        gt_etrace_lane_drain(lane);
    pthread_mutex_unlock(&gt_etrace.lock);
}

/* A machine's vCPU is a unit. In user mode a thread is one, and QEMU gives the number of a thread
 * that ended to the next: units are counted there, and its time begins anew. */
static void begin_unit(struct gt_etrace_vcpu *v)
{
    v->unit = (uint16_t)gt_etrace_number(v);
    if (gt_etrace.host.system)
        return;
    v->time = 0;
    if (gt_etrace.n_units < GT_ETRACE_MAX_VCPUS)
        v->unit = (uint16_t)gt_etrace.n_units;
    else if (gt_etrace.n_units == GT_ETRACE_MAX_VCPUS)
        gt_host_message("the program has more than %d threads: from here on some share a unit",
                        GT_ETRACE_MAX_VCPUS);
    gt_etrace.n_units++;
}

void gt_etrace_on_vcpu_init(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    gt_round_robin_check(&gt_etrace.host, "units may be wrong");
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    gt_etrace_close(v);
    v->block = NULL;
    v->pending = false;
    v->lane = NULL;
    begun = (uint16_t)vcpu;
    pthread_mutex_lock(&gt_etrace.lock);
    begin_unit(v);
    if (vcpu >= gt_etrace.n_vcpus)
        __atomic_store_n(&gt_etrace.n_vcpus, vcpu + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&gt_etrace.lock);
}

static void unlink_lane(struct gt_etrace_lane *lane)
{
    pthread_mutex_lock(&gt_etrace.lock);
    struct gt_etrace_lane **p = &gt_etrace.lanes;
    while (*p && *p != lane)
        p = &(*p)->next;
    if (*p)
        *p = lane->next;
    pthread_mutex_unlock(&gt_etrace.lock);
}

void gt_etrace_on_vcpu_exit(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    struct gt_etrace_lane *lane = enter(v);
    if (!lane)
        return;
    gt_etrace_lane_settle(lane);
    gt_etrace_lane_close_run(lane);
    lane->current = NULL;
    lane->newest = NULL;
    v->lane = NULL;
    if (lane->buffer)
        gt_packet_sink_submit(gt_etrace.outlet, lane->buffer);
    lane->buffer = NULL;
    pthread_mutex_unlock(&lane->lock);
    if (gt_etrace.host.system || lane != own)
        return;
    unlink_lane(lane);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
    own = NULL;
}

void gt_etrace_hand_over_own(void)
{
    struct gt_etrace_lane *lane = gt_etrace_own_lane();
    if (!lane)
        return;
    pthread_mutex_lock(&lane->lock);
    if (!gt_etrace_is_finished() && lane->buffer)
        gt_etrace_lane_hand_over(lane);
    pthread_mutex_unlock(&lane->lock);
}
