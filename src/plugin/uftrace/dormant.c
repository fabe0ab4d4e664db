/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings that are off from the beginning: see dormant.h. */
#include "plugin/uftrace/dormant.h"
#include "plugin/uftrace/recorder.h"

/* No vCPU runs. */
static void wake(void *self)
{
    struct gt_uftrace_recorder *r = self;
    __atomic_store_n(&r->dormant.asleep, false, __ATOMIC_RELEASE);
    gt_host_subscribe(&r->events, r);
}

/* On a vCPU's thread. */
static void look(struct gt_uftrace_recorder *r)
{
    if (__atomic_load_n(&r->dormant.wake, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&r->dormant.wake, false, __ATOMIC_ACQ_REL))
        gt_host_start_again(wake);
}

static void on_translate(void *self, struct gt_block *block)
{
    (void)block;
    look(self);
}

static void on_idle(void *self, unsigned vcpu)
{
    (void)vcpu;
    look(self);
}

static void on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to)
{
    (void)vcpu, (void)kind, (void)from, (void)to;
    look(self);
}

/* A program that waits in a system call goes on with callbacks. */
static void on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    struct gt_uftrace_recorder *r = self;
    r->events.syscall_return(r, vcpu, number, result);
    look(r);
}

bool gt_dormant_init(struct gt_uftrace_recorder *r)
{
    const struct gt_filter_current *current = gt_filters_current(&r->filters);
    if (!r->options.control || !current || gt_filter_live_is_on(current->live) ||
        gt_filter_set_switches_on(current->set) || !gt_host_can(GT_HOST_START_AGAIN))
        return false;
    r->dormant.asleep = true;
    r->dormant.events = r->events;
    r->dormant.events.translate = on_translate;
    r->dormant.events.vcpu_idle = on_idle;
    r->dormant.events.syscall_return = on_syscall_return;
    if (gt_host_can(GT_HOST_DISCONTINUITY))
        r->dormant.events.discontinuity = on_discontinuity;
    return true;
}

void gt_dormant_wake(struct gt_uftrace_recorder *r)
{
    if (__atomic_load_n(&r->dormant.asleep, __ATOMIC_ACQUIRE))
        __atomic_store_n(&r->dormant.wake, true, __ATOMIC_RELEASE);
}
