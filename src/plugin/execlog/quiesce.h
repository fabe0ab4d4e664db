/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quiescing: a callback notes that it uses its vCPU. A thread that needs all vCPUs unused, because
 * translated code is gone or the guest has ended while other threads run, quiesces them: it waits
 * until no callback is under way, and callbacks that begin meanwhile wait.
 */
#ifndef GT_PLUGIN_EXECLOG_QUIESCE_H
#define GT_PLUGIN_EXECLOG_QUIESCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_exlog;
struct gt_exlog_vcpu;

enum gt_exlog_state {
    GT_EXLOG_RUNNING,
    GT_EXLOG_QUIESCED, /* callbacks wait */
    GT_EXLOG_ENDED,    /* callbacks return */
};

struct gt_exlog_quiescing {
    uint32_t state;       /* enum gt_exlog_state; atomic */
    bool fences;          /* the kernel has no membarrier: callbacks fence by themselves */
    pthread_mutex_t lock; /* held while not running, until resumed or ended */
};

/* Finds out whether callbacks have to fence. */
void gt_exlog_quiesce_init(struct gt_exlog *e);
/* Waits until no callback uses any vCPU, and keeps callbacks out until gt_exlog_resume or, with
 * GT_EXLOG_ENDED, for ever. False: the recording has ended before. */
bool gt_exlog_quiesce(struct gt_exlog *e, enum gt_exlog_state state);
void gt_exlog_resume(struct gt_exlog *e);
/* Around a fork: the state does not change. */
void gt_exlog_quiesce_lock(struct gt_exlog *e);
void gt_exlog_quiesce_unlock(struct gt_exlog *e);
/* For gt_exlog_enter. False: the recording has ended. */
bool gt_exlog_wait_for_resume(struct gt_exlog *e, struct gt_exlog_vcpu *v);

#endif
