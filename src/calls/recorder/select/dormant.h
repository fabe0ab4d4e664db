/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * While recording is off and no trigger of a call may do anything, the recorder sleeps: the guest's
 * code has no callbacks, and runs as without the plugin. QEMU discards what it has translated, and
 * translates it again without callbacks, or with them where recording was switched on. That needs a
 * vCPU's thread. Off: at its next call or return, or when a system call returns. On: when a system
 * call of a program returns, at the next interrupt or exception of a machine (before QEMU 10.2: at
 * its end), when a vCPU waits, or when new code is translated. A machine's recorder does not fall
 * asleep before the first interrupt or exception: nothing might wake it up.
 *
 * Meanwhile calls are not followed, and the clock of instructions stands still. So the frames of
 * all stacks are forgotten, except where a thread of the program stays in one system call all the
 * time. Stacks of which frames may be missing are marked (gt_stack.cut): a return to where nothing
 * is known of is not an anomaly there.
 */
#ifndef GT_CALLS_RECORDER_SELECT_DORMANT_H
#define GT_CALLS_RECORDER_SELECT_DORMANT_H

#include "guest/arch/arch.h"
#include "qemu/host.h"

#include <pthread.h>
#include <stdbool.h>

struct gt_recorder;

struct gt_select_dormant {
    bool possible;                /* at load: the recorder may sleep */
    bool asleep;                  /* code has no callbacks; atomic */
    bool changes;                 /* QEMU was asked to discard the code; atomic */
    bool ends;                    /* the program ends: nothing changes any more; atomic */
    bool wakes;                   /* the guest does what wakes the recorder up; atomic */
    struct gt_host_events events; /* while it sleeps */
    void (*change)(void *self);   /* at load: for gt_host_start_again */
    pthread_mutex_t lock;         /* of what callbacks do on threads that run no code */
    pthread_cond_t changed;       /* `changes` has ended */
};

/* At load, when the filters are made: true: the recorder begins asleep. */
bool gt_select_dormant_init(struct gt_recorder *r);

/* On a vCPU's thread: lets the recorder fall asleep or wake up, if it is time. */
void gt_select_dormant_look(struct gt_recorder *r);

/* What QEMU was asked for has been done. */
void gt_select_dormant_changed(struct gt_recorder *r);

/* True: it should sleep, whether it does or not. */
bool gt_select_dormant_is_due(struct gt_recorder *r);
bool gt_select_dormant_is_asleep(const struct gt_recorder *r);

/* A machine has interrupts or exceptions. */
void gt_select_dormant_interrupted(struct gt_recorder *r);

/* Before a program forks: waits until a change that another thread has begun has ended. Without the
 * lock. */
void gt_select_dormant_settle(struct gt_recorder *r);
/* Before the program ends: the same, and no other begins. While QEMU discards the code it has no
 * events for us, that of the end included. */
void gt_select_dormant_end(struct gt_recorder *r);
/* In a forked child: changes that were asked for are dropped. With the lock. */
void gt_select_dormant_forked(struct gt_recorder *r);

/* In callbacks on threads that run no code: whether the recorder sleeps stays as it is. */
void gt_select_dormant_lock(struct gt_recorder *r);
void gt_select_dormant_unlock(struct gt_recorder *r);

#endif
