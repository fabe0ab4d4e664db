/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a Linux guest: see guest_tasks.h. */
#include "calls/recorder/output/guest_tasks.h"
#include "calls/recorder/recorder.h"
#include "recording/texts/files.h"

#include <string.h>

enum { MOST = 65536 }; /* a thread may give itself a new name each time */

static guint hash(const void *task)
{
    const struct gt_recording_guest_task *t = task;
    return g_str_hash(t->comm) ^ t->task * 31 ^ t->pid * 17 ^ t->tgid;
}

static gboolean equal(const void *a, const void *b)
{
    const struct gt_recording_guest_task *x = a, *y = b;
    return x->task == y->task && x->pid == y->pid && x->tgid == y->tgid &&
           strcmp(x->comm, y->comm) == 0;
}

void gt_recorder_guest_tasks_init(struct gt_recorder_guest_tasks *g)
{
    pthread_mutex_init(&g->lock, NULL);
    g->all = g_ptr_array_new();
    g->known = g_hash_table_new(hash, equal);
}

/* With the lock. False: there is no room. */
static bool add(struct gt_recorder_guest_tasks *g, const struct gt_recording_guest_task *t)
{
    struct gt_recording_guest_task *own =
        g->all->len < MOST ? gt_support_arena_take(&g->arena, sizeof *own) : NULL;
    if (!own)
        return false;
    *own = *t;
    g_hash_table_add(g->known, own);
    g_ptr_array_add(g->all, own);
    return true;
}

void gt_recorder_guest_tasks_note(struct gt_recorder_guest_tasks *g,
                                  const struct gt_recording_guest_task *t)
{
    pthread_mutex_lock(&g->lock);
    if (!g_hash_table_contains(g->known, t) && !add(g, t))
        g->unlisted++;
    pthread_mutex_unlock(&g->lock);
}

int gt_recorder_guest_tasks_write(struct gt_recorder *r, struct gt_error *err)
{
    struct gt_recorder_guest_tasks *g = &r->guest_tasks;
    struct gt_text text = {0};
    if (!g->all || !g->all->len)
        return 0;
    pthread_mutex_lock(&g->lock);
    for (guint i = 0; i < g->all->len; i++)
        gt_recording_guest_task_put(&text, g->all->pdata[i]);
    pthread_mutex_unlock(&g->lock);
    int status = gt_uftrace_dir_put_text(&r->output.dir, GT_GUEST_TASKS_FILE, &text, err);
    gt_text_free(&text);
    return status;
}

void gt_recorder_guest_tasks_report(const struct gt_recorder *r)
{
    if (r->guest_tasks.unlisted)
        gt_host_message("%s/" GT_GUEST_TASKS_FILE ": %llu more names that threads had are left out",
                        r->output.dir.path, (unsigned long long)r->guest_tasks.unlisted);
}
