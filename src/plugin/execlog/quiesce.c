/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping all callbacks out: see quiesce.h. */
#include "plugin/execlog/quiesce.h"

#include "base/membarrier.h"
#include "plugin/execlog/recorder.h"

#include <sched.h>

void gt_exlog_quiesce_init(struct gt_exlog *e)
{
    e->quiescing.fences = !gt_membarrier_prepare();
}

bool gt_exlog_quiesce(struct gt_exlog *e, enum gt_exlog_state state)
{
    struct gt_exlog_quiescing *q = &e->quiescing;
    pthread_mutex_lock(&q->lock);
    if (q->state == GT_EXLOG_ENDED) {
        pthread_mutex_unlock(&q->lock);
        return false;
    }
    __atomic_store_n(&q->state, state, __ATOMIC_SEQ_CST);
    if (!q->fences)
        gt_membarrier();
    unsigned n = __atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n; i++)
        while (__atomic_load_n(&e->vcpus[i].busy, __ATOMIC_SEQ_CST))
            sched_yield();
    if (state == GT_EXLOG_ENDED)
        pthread_mutex_unlock(&q->lock);
    return true;
}

void gt_exlog_resume(struct gt_exlog *e)
{
    __atomic_store_n(&e->quiescing.state, GT_EXLOG_RUNNING, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&e->quiescing.lock);
}

bool gt_exlog_wait_for_resume(struct gt_exlog *e, struct gt_exlog_vcpu *v)
{
    const uint32_t *state = &e->quiescing.state;
    for (;;) {
        gt_exlog_leave(v);
        uint32_t now;
        while ((now = __atomic_load_n(state, __ATOMIC_ACQUIRE)) == GT_EXLOG_QUIESCED)
            sched_yield();
        if (now == GT_EXLOG_ENDED)
            return false;
        __atomic_store_n(&v->busy, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(state, __ATOMIC_SEQ_CST) == GT_EXLOG_RUNNING)
            return true;
    }
}

void gt_exlog_quiesce_lock(struct gt_exlog *e)
{
    pthread_mutex_lock(&e->quiescing.lock);
}

void gt_exlog_quiesce_unlock(struct gt_exlog *e)
{
    pthread_mutex_unlock(&e->quiescing.lock);
}
