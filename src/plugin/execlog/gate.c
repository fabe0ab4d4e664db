/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A callback marks its vCPU as busy. Who needs all of them to be left alone, because translated
 * code is gone or the guest is done while other threads run, shuts the gate and waits until none is
 * busy.
 */
#include "base/membarrier.h"
#include "plugin/execlog/execlog.h"

#include <sched.h>

static pthread_mutex_t shutting = PTHREAD_MUTEX_INITIALIZER;

static void fence_all(void)
{
    if (!gt_exlog.fences)
        gt_membarrier();
}

bool gt_exlog_shut(enum gt_exlog_gate gate)
{
    pthread_mutex_lock(&shutting);
    if (gt_exlog.gate == GT_EXLOG_CLOSED) {
        pthread_mutex_unlock(&shutting);
        return false;
    }
    __atomic_store_n(&gt_exlog.gate, gate, __ATOMIC_SEQ_CST);
    fence_all();
    unsigned n = __atomic_load_n(&gt_exlog.n_vcpus, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n; i++)
        while (__atomic_load_n(&gt_exlog.vcpus[i].busy, __ATOMIC_SEQ_CST))
            sched_yield();
    if (gate == GT_EXLOG_CLOSED)
        pthread_mutex_unlock(&shutting);
    return true;
}

void gt_exlog_reopen(void)
{
    __atomic_store_n(&gt_exlog.gate, GT_EXLOG_OPEN, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&shutting);
}

bool gt_exlog_wait_for_gate(struct gt_exlog_vcpu *v)
{
    for (;;) {
        gt_exlog_leave(v);
        uint32_t gate;
        while ((gate = __atomic_load_n(&gt_exlog.gate, __ATOMIC_ACQUIRE)) == GT_EXLOG_HELD)
            sched_yield();
        if (gate == GT_EXLOG_CLOSED)
            return false;
        __atomic_store_n(&v->busy, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&gt_exlog.gate, __ATOMIC_SEQ_CST) == GT_EXLOG_OPEN)
            return true;
    }
}

void gt_exlog_gate_lock(void)
{
    pthread_mutex_lock(&shutting);
}

void gt_exlog_gate_unlock(void)
{
    pthread_mutex_unlock(&shutting);
}
