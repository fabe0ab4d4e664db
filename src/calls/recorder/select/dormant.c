/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the recorder sleeps: see dormant.h. How it falls asleep and wakes up is in sleep.c. */
#include "calls/recorder/select/dormant.h"
#include "calls/recorder/recorder.h"

bool gt_select_dormant_is_asleep(const struct gt_recorder *r)
{
    return __atomic_load_n(&r->dormant.asleep, __ATOMIC_ACQUIRE);
}

void gt_select_dormant_lock(struct gt_recorder *r)
{
    if (r->dormant.possible)
        pthread_mutex_lock(&r->dormant.lock);
}

void gt_select_dormant_unlock(struct gt_recorder *r)
{
    if (r->dormant.possible)
        pthread_mutex_unlock(&r->dormant.lock);
}

bool gt_select_dormant_is_due(struct gt_recorder *r)
{
    struct gt_select_filter_current *current = gt_select_filters_take(&r->filters);
    bool due = !gt_filter_live_is_on(current->live) &&
               (current->quiet || __atomic_load_n(&r->filters.ended, __ATOMIC_ACQUIRE));
    gt_select_filters_release(current);
    return due;
}

void gt_select_dormant_look(struct gt_recorder *r)
{
    struct gt_select_dormant *d = &r->dormant;
    bool asleep = gt_select_dormant_is_asleep(r);
    if (!d->possible || __atomic_load_n(&d->ends, __ATOMIC_RELAXED) || gt_gate_ends(&r->gate) ||
        gt_select_dormant_is_due(r) == asleep ||
        !(asleep || __atomic_load_n(&d->wakes, __ATOMIC_RELAXED)) ||
        __atomic_exchange_n(&d->changes, true, __ATOMIC_SEQ_CST))
        return;
    if (__atomic_load_n(&d->ends, __ATOMIC_SEQ_CST))
        gt_select_dormant_changed(r);
    else
        gt_host_start_again(d->change);
}

void gt_select_dormant_changed(struct gt_recorder *r)
{
    pthread_mutex_lock(&r->dormant.lock);
    __atomic_store_n(&r->dormant.changes, false, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&r->dormant.changed);
    pthread_mutex_unlock(&r->dormant.lock);
}

void gt_select_dormant_settle(struct gt_recorder *r)
{
    if (!r->dormant.possible)
        return;
    pthread_mutex_lock(&r->dormant.lock);
    while (__atomic_load_n(&r->dormant.changes, __ATOMIC_SEQ_CST))
        pthread_cond_wait(&r->dormant.changed, &r->dormant.lock);
    pthread_mutex_unlock(&r->dormant.lock);
}

void gt_select_dormant_end(struct gt_recorder *r)
{
    __atomic_store_n(&r->dormant.ends, true, __ATOMIC_SEQ_CST);
    gt_select_dormant_settle(r);
}

/* QEMU has not forgotten that it is to discard the code, and takes no other request. */
void gt_select_dormant_forked(struct gt_recorder *r)
{
    pthread_cond_init(&r->dormant.changed, NULL);
    r->dormant.ends |= r->dormant.changes;
    r->dormant.changes = false;
}

void gt_select_dormant_interrupted(struct gt_recorder *r)
{
    if (!__atomic_load_n(&r->dormant.wakes, __ATOMIC_RELAXED))
        __atomic_store_n(&r->dormant.wakes, true, __ATOMIC_RELAXED);
}
