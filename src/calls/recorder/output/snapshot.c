/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of a flight recorder: see snapshot.h. */
#include "calls/recorder/output/snapshot.h"

#include "base/thread.h"
#include "calls/recorder/output/parts.h"
#include "calls/recorder/recorder.h"

#include <string.h>

enum { STACK = 1 << 20 };

/* ---- making -------------------------------------------------------------------------------- */

static uint64_t count(const struct gt_recorder *r)
{
    struct gt_streams_stats stats;
    gt_streams_get_stats(r->output.streams, &stats);
    return stats.records;
}

/* A copy of what the rings have, on a thread of its own. */
struct copy {
    const struct gt_compact_work *work;
    const char *name;
    char *path;
    size_t room;
    struct gt_error *err;
    int64_t n;
};

/* It takes no lock. vCPUs wait for the writer where that has no processor, so that this thread
 * takes none from either. */
static void *copy(void *arg)
{
    struct copy *c = arg;
    gt_thread_lower_priority();
    c->n = gt_compact_work_snapshot(c->work, c->name, c->path, c->room, c->err);
    return NULL;
}

static int64_t copy_rings(struct copy *c)
{
    enum { SMALL = 256 << 10 };
    pthread_t thread;
    if (gt_thread_start(&thread, SMALL, copy, c) == 0)
        pthread_join(thread, NULL);
    else
        c->n = gt_compact_work_snapshot(c->work, c->name, c->path, c->room, c->err);
    return c->n;
}

/* With the turn. */
static int make(struct gt_recorder *r, const char *name, char *path, size_t room,
                struct gt_error *err)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    const struct gt_compact_work *w = &r->output.packed.work;
    if (!s->on || s->ended)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s",
                            s->on ? "the recording has ended"
                                  : "the recording has no flight recorder (argument last=)");
    uint64_t records = count(r);
    gt_streams_flush(r->output.streams);
    gt_thread_worker_call(r->output.worker, gt_recorder_parts_put_texts, r);
    struct copy c = {w, name, path, room, err, 0};
    int64_t n = copy_rings(&c);
    if (n == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: nothing is recorded", w->file);
    if (n < 0)
        return (int)n;
    s->records = records;
    s->some = true;
    return 0;
}

int gt_recorder_snapshot_write(struct gt_recorder *r, const char *name, char *path, size_t room,
                               struct gt_error *err)
{
    pthread_mutex_lock(&r->snapshots.turn);
    int status = make(r, name, path, room, err);
    pthread_mutex_unlock(&r->snapshots.turn);
    return status;
}

/* ---- those that are asked for -------------------------------------------------------------- */

static void make_next(struct gt_recorder *r)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    char name[GT_SNAPSHOT_NAME];
    struct gt_error err;
    memcpy(name, s->waiting[0], sizeof name);
    memmove(s->waiting, s->waiting + 1, --s->n_waiting * sizeof *s->waiting);
    s->busy = true;
    pthread_mutex_unlock(&s->lock);
    int status = gt_recorder_snapshot_write(r, *name ? name : NULL, NULL, 0, &err);
    pthread_mutex_lock(&s->lock);
    if (status < 0 && !s->err.status)
        s->err = err;
    s->busy = false;
    pthread_cond_broadcast(&s->changed);
}

static void *serve(void *arg)
{
    struct gt_recorder *r = arg;
    struct gt_recorder_snapshots *s = &r->snapshots;
    gt_thread_own_files();
    pthread_mutex_lock(&s->lock);
    while (s->n_waiting || !s->stop)
        if (s->n_waiting)
            make_next(r);
        else
            pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* With the lock. */
static void add(struct gt_recorder *r, const char *name)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    for (unsigned i = 0; i < s->n_waiting; i++)
        if (strcmp(s->waiting[i], name) == 0)
            return;
    if (s->stop || s->n_waiting == GT_SNAPSHOTS_WAITING || strlen(name) >= GT_SNAPSHOT_NAME) {
        s->refused++;
        return;
    }
    strcpy(s->waiting[s->n_waiting++], name);
    if (!s->running)
        s->running = gt_thread_start(&s->thread, STACK, serve, r) == 0;
    pthread_cond_broadcast(&s->changed);
}

void gt_recorder_snapshot_ask(struct gt_recorder *r, const char *name)
{
    if (!r->snapshots.on)
        return;
    pthread_mutex_lock(&r->snapshots.lock);
    add(r, name ? name : "");
    pthread_mutex_unlock(&r->snapshots.lock);
}

void gt_recorder_snapshots_wait(struct gt_recorder *r)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    pthread_mutex_lock(&s->lock);
    while (s->running && (s->n_waiting || s->busy))
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void gt_recorder_snapshots_init(struct gt_recorder *r)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    pthread_mutex_init(&s->turn, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->on = r->options.last != NULL;
}

/* ---- forks --------------------------------------------------------------------------------- */

void gt_recorder_snapshots_fork_prepare(struct gt_recorder *r)
{
    pthread_mutex_lock(&r->snapshots.lock);
}

void gt_recorder_snapshots_fork_parent(struct gt_recorder *r)
{
    pthread_mutex_unlock(&r->snapshots.lock);
}

/* The threads, and what they do, are the parent's. */
void gt_recorder_snapshots_fork_child(struct gt_recorder *r)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    pthread_mutex_init(&s->turn, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->n_waiting = s->refused = 0;
    s->running = s->busy = s->some = false;
    s->err = (struct gt_error){0};
    pthread_mutex_unlock(&s->lock);
}

/* ---- the end ------------------------------------------------------------------------------- */

bool gt_recorder_snapshots_end(struct gt_recorder *r)
{
    struct gt_recorder_snapshots *s = &r->snapshots;
    if (!s->on)
        return false;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->running)
        pthread_join(s->thread, NULL);
    pthread_mutex_lock(&s->turn);
    bool more = !s->some || count(r) != s->records;
    s->ended = true;
    pthread_mutex_unlock(&s->turn);
    return more;
}

void gt_recorder_snapshots_report(const struct gt_recorder *r)
{
    const struct gt_recorder_snapshots *s = &r->snapshots;
    if (s->err.status)
        gt_host_message("a snapshot was not written: %s", s->err.text);
    if (s->refused)
        gt_host_message("%u snapshots were not written: too many were asked for at once",
                        s->refused);
}
