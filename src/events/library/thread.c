/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime's own threads: see thread.h. */
#include "events/library/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

enum { STACK_SIZE = 256 << 10 };

void (*gt_events_thread_begin)(void);

bool gt_events_thread_start(void *(*run)(void *unused))
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool good = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return good;
}
