/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking for a snapshot: see snapshot.h. */
#include "base/thread.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/recorder.h"

#include <string.h>

enum { STACK = 1 << 20 };

/* With the lock. */
static void add(struct gt_uftrace_recorder *r, const char *name)
{
    struct gt_snapshots *s = &r->snapshots;
    for (unsigned i = 0; i < s->n_waiting; i++)
        if (strcmp(s->waiting[i], name) == 0)
            return;
    if (s->stop || s->n_waiting == GT_SNAPSHOTS_WAITING || strlen(name) >= GT_SNAPSHOT_NAME) {
        s->refused++;
        return;
    }
    strcpy(s->waiting[s->n_waiting++], name);
    if (!s->running)
        s->running = gt_thread_start(&s->thread, STACK, s->serve, r) == 0;
    pthread_cond_broadcast(&s->changed);
}

void gt_snapshot_ask(struct gt_uftrace_recorder *r, const char *name)
{
    if (!r->snapshots.on)
        return;
    pthread_mutex_lock(&r->snapshots.lock);
    add(r, name ? name : "");
    pthread_mutex_unlock(&r->snapshots.lock);
}
