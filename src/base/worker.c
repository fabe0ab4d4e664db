/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls on a thread with a file descriptor table of its own: see worker.h. */
#include "base/worker.h"

#include "base/thread.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKER_STACK = 1 << 20 }; /* libdw runs on it */

enum { POSTS = 256 /* that may wait */ };

enum state { IDLE, CALLED, DONE, STOP };

struct post {
    struct post *next;
    void (*fn)(void *data);
    max_align_t data[];
};

struct gt_thread_worker {
    pthread_mutex_t turn; /* held by the caller whose call it is, and over a fork */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    enum state state;
    void (*fn)(void *arg);
    void *arg;
    struct post *first, **last; /* posts that wait */
    unsigned posts;             /* those, and the one that runs */
    bool running;               /* the thread exists in this process */
    bool stopped;               /* for good; with the turn */
    bool private_files;
    pthread_t thread;
    pid_t pid;
};

/* With the lock. */
static void run_post(struct gt_thread_worker *w)
{
    struct post *p = w->first;
    w->first = p->next;
    if (!w->first)
        w->last = &w->first;
    pthread_mutex_unlock(&w->lock);
    gt_thread_make_room();
    p->fn(p->data);
    free(p);
    pthread_mutex_lock(&w->lock);
    w->posts--;
    pthread_cond_broadcast(&w->changed);
}

static void *serve(void *arg)
{
    struct gt_thread_worker *w = arg;
    bool own = gt_thread_own_files();
    pthread_mutex_lock(&w->lock);
    w->private_files = own;
    for (;;) {
        while (!w->first && w->state != CALLED && w->state != STOP)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->first) {
            run_post(w);
            continue;
        }
        if (w->state == STOP)
            break;
        pthread_mutex_unlock(&w->lock);
        gt_thread_make_room();
        w->fn(w->arg);
        pthread_mutex_lock(&w->lock);
        w->state = DONE;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void nothing(void *arg)
{
    (void)arg;
}

/* With the turn held. */
static int start(struct gt_thread_worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->state = IDLE;
    int e = gt_thread_start(&w->thread, WORKER_STACK, serve, w);
    w->running = e == 0;
    w->pid = getpid();
    pthread_mutex_unlock(&w->lock);
    return e;
}

int gt_thread_worker_create(struct gt_thread_worker **out, struct gt_error *err)
{
    struct gt_thread_worker *w = calloc(1, sizeof *w);
    if (!w)
        return gt_error_set(err, GT_E_NOMEM, "worker: out of memory");
    pthread_mutex_init(&w->turn, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->last = &w->first;
    int e = start(w);
    if (e) {
        gt_thread_worker_destroy(w);
        return gt_error_errno(err, e, "worker: cannot start a thread");
    }
    /* After the first call it is known which table the thread has. */
    gt_thread_worker_call(w, nothing, NULL);
    *out = w;
    return 0;
}

static bool on_worker(struct gt_thread_worker *w)
{
    pthread_mutex_lock(&w->lock);
    bool is = w->running && pthread_equal(pthread_self(), w->thread);
    pthread_mutex_unlock(&w->lock);
    return is;
}

int gt_thread_worker_call(struct gt_thread_worker *w, void (*fn)(void *arg), void *arg)
{
    if (on_worker(w)) {
        fn(arg);
        return 0;
    }
    pthread_mutex_lock(&w->turn);
    if (w->stopped || (!w->running && start(w) != 0)) {
        pthread_mutex_unlock(&w->turn);
        return GT_E_IO;
    }
    pthread_mutex_lock(&w->lock);
    w->fn = fn;
    w->arg = arg;
    w->state = CALLED;
    pthread_cond_broadcast(&w->changed);
    while (w->state != DONE)
        pthread_cond_wait(&w->changed, &w->lock);
    w->state = IDLE;
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_unlock(&w->turn);
    return 0;
}

/* With the lock. False: it is not put. */
static bool put_post(struct gt_thread_worker *w, struct post *p)
{
    while (w->running && !w->stopped && w->posts >= POSTS)
        pthread_cond_wait(&w->changed, &w->lock);
    if (!w->running || w->stopped)
        return false;
    *w->last = p;
    w->last = &p->next;
    w->posts++;
    pthread_cond_broadcast(&w->changed);
    return true;
}

int gt_thread_worker_post(struct gt_thread_worker *w, void (*fn)(void *data), const void *data,
                          size_t size)
{
    struct post *p = on_worker(w) ? NULL : malloc(sizeof *p + size);
    bool put = false;
    if (p) {
        p->next = NULL;
        p->fn = fn;
        memcpy(p->data, data, size);
        pthread_mutex_lock(&w->lock);
        put = put_post(w, p);
        pthread_mutex_unlock(&w->lock);
    }
    if (put)
        return 0;
    free(p);
    return gt_thread_worker_call(w, fn, (void *)(uintptr_t)data); /* it starts the thread */
}

bool gt_thread_worker_private_files(const struct gt_thread_worker *w)
{
    return w->private_files;
}

void gt_thread_worker_stop(struct gt_thread_worker *w)
{
    pthread_mutex_lock(&w->turn);
    w->stopped = true;
    if (w->running && w->pid == getpid()) {
        pthread_mutex_lock(&w->lock);
        w->state = STOP;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    w->running = false;
    pthread_mutex_unlock(&w->turn);
}

void gt_thread_worker_destroy(struct gt_thread_worker *w)
{
    if (!w)
        return;
    gt_thread_worker_stop(w);
    pthread_mutex_destroy(&w->turn);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void gt_thread_worker_fork_prepare(struct gt_thread_worker *w)
{
    pthread_mutex_lock(&w->turn);
    pthread_mutex_lock(&w->lock);
    while (w->posts && w->running)
        pthread_cond_wait(&w->changed, &w->lock);
}

void gt_thread_worker_fork_parent(struct gt_thread_worker *w)
{
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_unlock(&w->turn);
}

void gt_thread_worker_fork_child(struct gt_thread_worker *w)
{
    /* The condition may count the parent's thread among its waiters: a new one. */
    pthread_cond_init(&w->changed, NULL);
    w->state = IDLE;
    w->running = false;
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_unlock(&w->turn);
}
