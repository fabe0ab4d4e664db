/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer's thread: see writer.h. */
#include "events/library/record/writer.h"

#include "events/library/control/registry.h"
#include "events/library/record/buffer.h"
#include "events/library/record/futex.h"
#include "events/library/record/merge.h"
#include "events/library/record/simple.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum {
    QUIET_PERIODS = 50, /* then the next record has to wake it */
    EMERGENCY_FLUSH_MS = 5000,
    REQUEST_MS = 1000,
};

static struct gt_events_tracefile file = {.fd = -1};
static _Atomic bool runs;
static _Atomic uint32_t bell;   /* a futex: 1 when it has been rung */
static _Atomic uint32_t asleep; /* it waits for the bell */
static _Atomic uint32_t flush_wanted, flush_done;

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER; /* one request at a time */
static struct {
    enum gt_events_request what;
    const char *path;
    struct gt_trace_file_status *out;
    struct gt_trace_error *error;
    int status;
} request;
static _Atomic uint32_t request_state; /* a futex */
enum { NO_REQUEST, REQUESTED, SERVED };

bool gt_events_writer_runs(void)
{
    return atomic_load(&runs);
}

void gt_events_writer_wake(void)
{
    if (atomic_exchange(&bell, 1) == 0)
        gt_events_futex_wake(&bell);
}

void gt_events_writer_hint(void)
{
    if (atomic_load_explicit(&asleep, memory_order_relaxed)) /* seen late, it is late by a period */
        gt_events_writer_wake();
}

static bool overwrites(void)
{
    return gt_events_simple.policy == GT_TRACE_OVERWRITE;
}

static void merge_all(struct gt_events_tracefile *f)
{
    gt_events_merge(f, overwrites() ? GT_EVENTS_TAKE : GT_EVENTS_ALL);
}

static int told_error(struct gt_events_tracefile *f, struct gt_trace_error *error)
{
    char name[sizeof f->path + 16];
    int e = f->error;
    f->error = 0;
    gt_events_tracefile_name(f, name, sizeof name);
    return e ? gt_events_fail_errno(error, e, "%s: cannot be written, %llu events are lost", name,
                                    (unsigned long long)f->lost_ever)
             : GT_TRACE_OK;
}

static int set_file(const char *path, struct gt_trace_error *error)
{
    static struct gt_events_tracefile other;
    other.fd = -1;
    other.failed = false;
    other.lost = 0;
    other.forked = false;
    snprintf(other.path, sizeof other.path, "%s", path);
    if (!gt_events_tracefile_open(&other)) {
        gt_events_tracefile_close(&other);
        return gt_events_fail_errno(error, other.error, "%s: cannot be created", path);
    }
    if (!overwrites())
        merge_all(&file);
    gt_events_tracefile_close(&file);
    other.events = file.events;
    other.lost_ever = file.lost_ever;
    file = other; /* fork() waits until a request is served */
    return GT_TRACE_OK;
}

static int dump_to(const char *path, struct gt_trace_error *error)
{
    static struct gt_events_tracefile other;
    other.fd = -1;
    other.failed = other.forked = false;
    other.lost = other.lost_ever = other.events = 0;
    snprintf(other.path, sizeof other.path, "%s", path);
    if (!gt_events_tracefile_open(&other)) {
        gt_events_tracefile_close(&other);
        return gt_events_fail_errno(error, other.error, "%s: cannot be created", path);
    }
    merge_all(&other);
    int status = told_error(&other, error);
    gt_events_tracefile_close(&other);
    return status;
}

static void fill_status(struct gt_trace_file_status *out)
{
    *out = (struct gt_trace_file_status){
        .policy = (enum gt_trace_policy)gt_events_simple.policy,
        .on = !gt_events_simple.paused,
        .dropped = gt_events_merge_lost() + file.lost_ever,
        .open = file.fd >= 0,
        .events = file.events,
        .bytes = file.size,
    };
    gt_events_tracefile_name(&file, out->path, sizeof out->path);
}

static int serve(void)
{
    if (request.what == GT_EVENTS_STATUS) {
        fill_status(request.out);
        return GT_TRACE_OK;
    }
    if (request.what == GT_EVENTS_SET)
        return set_file(request.path, request.error);
    if (request.what == GT_EVENTS_DUMP && request.path)
        return dump_to(request.path, request.error);
    if (request.what == GT_EVENTS_DUMP || !overwrites())
        merge_all(&file);
    return told_error(&file, request.error);
}

static void serve_requests(void)
{
    if (atomic_load(&request_state) == REQUESTED) {
        request.status = serve();
        atomic_store(&request_state, SERVED);
        gt_events_futex_wake(&request_state);
    }
    if (atomic_load(&flush_wanted) && !atomic_load(&flush_done)) {
        merge_all(&file);
        atomic_store(&flush_done, 1);
        gt_events_futex_wake(&flush_done);
    }
}

static void sleep_until_rung(int ms)
{
    atomic_store(&asleep, 1);
    gt_events_futex_wait(&bell, 0, ms);
    atomic_store(&asleep, 0);
    atomic_store(&bell, 0);
}

static void *write_on(void *unused)
{
    (void)unused;
    int quiet = 0;
    pthread_setname_np(pthread_self(), "trace-writer");
    if (gt_events_thread_begin)
        gt_events_thread_begin();
    for (;;) {
        serve_requests();
        bool any = !overwrites() && gt_events_merge(&file, GT_EVENTS_SOME);
        quiet = any ? 0 : quiet + 1;
        bool sleeps = overwrites() || (quiet > QUIET_PERIODS && gt_events_merge_arm());
        sleep_until_rung(sleeps ? -1 : GT_TRACE_PERIOD_MS);
    }
    return NULL;
}

void gt_events_writer_start(void)
{
    if (atomic_load(&runs))
        return;
    atomic_store(&runs, gt_events_thread_start(write_on));
}

static int ask(enum gt_events_request what, const char *path, struct gt_trace_file_status *out,
               struct gt_trace_error *error)
{
    pthread_mutex_lock(&asking);
    request.what = what;
    request.path = path;
    request.out = out;
    request.error = error;
    atomic_store(&request_state, REQUESTED);
    gt_events_writer_wake();
    while (atomic_load(&request_state) != SERVED)
        gt_events_futex_wait(&request_state, REQUESTED, REQUEST_MS);
    int status = request.status;
    atomic_store(&request_state, NO_REQUEST);
    pthread_mutex_unlock(&asking);
    return status;
}

int gt_events_writer_ask(enum gt_events_request what, const char *path,
                         struct gt_trace_error *error)
{
    gt_events_lock();
    gt_events_writer_start();
    gt_events_unlock();
    if (!atomic_load(&runs))
        return gt_events_fail(error, GT_TRACE_E_UNSUPPORTED,
                              "trace file: the thread that writes it could not be started");
    return ask(what, path, NULL, error);
}

void gt_trace_file_status(struct gt_trace_file_status *out)
{
    if (atomic_load(&runs))
        ask(GT_EVENTS_STATUS, NULL, out, NULL);
    else
        fill_status(out);
}

void gt_events_writer_emergency_flush(void)
{
    if (!atomic_load(&runs))
        return;
    atomic_store(&flush_wanted, 1);
    gt_events_writer_wake();
    if (!atomic_load(&flush_done))
        gt_events_futex_wait(&flush_done, 0, EMERGENCY_FLUSH_MS);
}

/* In this order: who asks may hold the second, the writer never takes it. */
static void before_fork(void)
{
    pthread_mutex_lock(&asking);
    gt_events_lock();
}

static void after_fork(void)
{
    gt_events_unlock();
    pthread_mutex_unlock(&asking);
}

/* The writer stayed in the parent, with what it was doing. */
static void in_child(void)
{
    bool ran = atomic_exchange(&runs, false);
    gt_events_rings_forked();
    if (file.fd >= 0 && !gt_events_thread_begin)
        close(file.fd);
    file.fd = -1;
    file.failed = false;
    file.forked = true;
    file.used = 0;
    file.lost = file.lost_ever = file.events = 0;
    atomic_store(&bell, 0);
    atomic_store(&flush_wanted, 0);
    atomic_store(&flush_done, 0);
    gt_events_unlock_child();
    pthread_mutex_unlock(&asking);
    if (ran)
        gt_events_writer_start();
}

static void __attribute__((constructor(150))) prepare(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

static void __attribute__((destructor(101))) finish(void)
{
    if (atomic_load(&runs))
        gt_events_writer_ask(overwrites() ? GT_EVENTS_DUMP : GT_EVENTS_FLUSH, NULL, NULL);
}

/* The runtime's own threads: see thread.h. */

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
