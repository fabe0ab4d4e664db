/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lock of the control functions' state: see registry.h. */
#include "events/library/control/registry.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void gt_events_lock(void)
{
    pthread_mutex_lock(&lock);
}

void gt_events_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void gt_events_unlock_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* its owner has another id */
}
