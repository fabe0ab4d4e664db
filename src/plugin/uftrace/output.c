/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data directory of a recording: tasks, modules and their symbols as they appear, metadata that
 * is true from the first moment, and the final account. All files but the record streams are
 * written on the worker.
 */
#include "base/clock.h"
#include "format/recording/files.h"
#include "format/recording/tasks.h"
#include "plugin/common/code_modules.h"
#include "plugin/trace-plugin.h"
#include "plugin/uftrace/meta.h"
#include "plugin/uftrace/uftrace.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Tasks that are no thread of the host: coroutines. Above any pid_max, and apart for each process.
 */
enum { FIRST_COROUTINE = 5000000, COROUTINES_EACH = 10000 };

struct job {
    int (*run)(struct job *job, struct gt_error *err);
    uint64_t time;
    uint32_t tid, parent;
    char name[16];
    struct gt_error err;
    int status;
};

/* What failed is kept and tried again, in order, before the next job and at the end: a disk that is
 * full may have space later. */
static GArray *failed; /* struct job */

int gt_output_run_failed(struct gt_error *err)
{
    while (failed && failed->len) {
        struct job *job = &g_array_index(failed, struct job, 0);
        int status = job->run(job, err);
        if (status < 0)
            return status;
        g_array_remove_index(failed, 0);
    }
    return 0;
}

static void run_job(void *arg)
{
    struct job *job = arg;
    job->status = gt_output_run_failed(&job->err);
    if (job->status == 0)
        job->status = job->run(job, &job->err);
    if (job->status == 0)
        return;
    if (!failed)
        failed = g_array_new(FALSE, FALSE, sizeof(struct job));
    g_array_append_val(failed, *job);
}

/* A recording without its text files goes on: what is wanting then is told at the end. */
static void do_job(struct job *job)
{
    if (gt_worker_call(gt_rec.worker, run_job, job) < 0)
        __atomic_store_n(&gt_rec.no_worker, true, __ATOMIC_RELAXED);
}

static int make_dir(struct job *job, struct gt_error *err)
{
    (void)job;
    char ring[4200];
    const char *path = gt_rec.output ? gt_rec.output : "uftrace.data";
    snprintf(ring, sizeof ring, "%s/.guesttrace-%u.ring", path, gt_rec.pid);
    /* Our own pool file: this process recorded here before it replaced itself with execve(). */
    if (access(ring, F_OK) == 0) {
        int status = gt_uftrace_dir_open(&gt_rec.dir, path, err);
        gt_rec.last_time = gt_meta_last_time(&gt_rec.dir, gt_rec.pid);
        return status;
    }
    return gt_uftrace_dir_create(&gt_rec.dir, path, err);
}

static void run_make_dir(void *arg)
{
    struct job *job = arg;
    job->status = make_dir(job, &job->err);
}

static uint64_t start_time(void)
{
    return gt_rec.host_clock ? gt_clock_monotonic() : gt_rec.last_time + 1;
}

static int write_start(struct job *job, struct gt_error *err)
{
    gt_rec.started = true;
    int status = gt_uftrace_dir_add_session(&gt_rec.dir, job->time, gt_rec.pid, gt_rec.sid,
                                            gt_rec.exename, err);
    if (status == 0 && gt_meta_put_map(NULL) == 0)
        gt_meta_put_info(NULL); /* both again at the end, where failing is told */
    return status;
}

static int create(struct gt_error *err)
{
    gt_rec.pid = gt_rec.user ? (uint32_t)getpid() : 1;
    gt_rec.shared = mmap(NULL, sizeof *gt_rec.shared, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (gt_rec.shared == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    struct job make = {0};
    if (gt_worker_call(gt_rec.worker, run_make_dir, &make) < 0)
        return gt_error_set(err, GT_E_IO, "the worker thread cannot be started");
    if (make.status < 0) {
        *err = make.err;
        return make.status;
    }
    return gt_streams_create(gt_rec.dir.path, 0, &gt_rec.streams, err);
}

int gt_output_create(struct gt_error *err)
{
    int status = gt_worker_create(&gt_rec.worker, err);
    if (status == 0)
        status = create(err);
    if (status < 0) { /* QEMU unloads us: no thread may be left in our code */
        gt_worker_destroy(gt_rec.worker);
        gt_rec.worker = NULL;
    }
    return status;
}

void gt_output_start(void)
{
    gt_meta_init();
    struct job start = {.run = write_start, .time = start_time()};
    do_job(&start);
}

static int add_task(struct job *job, struct gt_error *err)
{
    int status;
    if (job->parent)
        status = gt_uftrace_dir_add_fork(&gt_rec.dir, job->time, job->tid, job->parent, err);
    else
        status = gt_uftrace_dir_add_task(&gt_rec.dir, job->time, job->tid, gt_rec.pid, err);
    if (status < 0)
        return status;
    uint32_t n = ++gt_rec.n_tasks;
    /* Not for each of thousands: info lists them all. The last word is at the end. */
    if (n < 16 || (n & (n - 1)) == 0)
        gt_meta_put_info(NULL);
    return 0;
}

static uint32_t next_coroutine(void)
{
    if (!gt_rec.user)
        return GT_TASK_STACK + __atomic_fetch_add(&gt_rec.n_coroutines, 1, __ATOMIC_RELAXED);
    uint32_t n = __atomic_fetch_add(&gt_rec.n_coroutines, 1, __ATOMIC_RELAXED);
    return FIRST_COROUTINE + (gt_rec.pid % 200000u) * COROUTINES_EACH + n % COROUTINES_EACH;
}

static int add_name(struct job *job, struct gt_error *err)
{
    int status =
        gt_uftrace_dir_add_name(&gt_rec.dir, job->time, job->tid, gt_rec.pid, job->name, err);
    if (status < 0 || gt_rec.named)
        return status;
    gt_rec.named = true;
    gt_meta_put_info(NULL);
    return 0;
}

void gt_output_name_stack(struct gt_stack *s, const char *name, uint64_t time)
{
    struct gt_task *task = gt_task_of(s);
    struct job job = {.run = add_name, .time = time, .tid = task->id};
    snprintf(job.name, sizeof job.name, "%.15s", name);
    memcpy(task->name, job.name, sizeof task->name);
    do_job(&job);
}

/* As long as the guest does not tell a better one. */
static void name_context(const struct gt_vcpu *v, struct gt_stack *s, uint64_t time)
{
    char name[32];
    uint32_t id = gt_task_of(s)->id;
    if (id < GT_TASK_STACK)
        snprintf(name, sizeof name, "cpu%u", (unsigned)(v - gt_rec.vcpus));
    else
        snprintf(name, sizeof name, "thread %u", id - GT_TASK_STACK + 1);
    gt_output_name_stack(s, name, time);
}

bool gt_output_open_stack(void *self, struct gt_thread *t, struct gt_stack *s, uint64_t time)
{
    (void)self;
    const struct gt_vcpu *v =
        (const struct gt_vcpu *)((const char *)t - offsetof(struct gt_vcpu, thread));
    if (!gt_rec.user && s->coroutine && gt_rec.n_tasks >= gt_rec.max_tasks) {
        t->counters[GT_COUNT_BEYOND_TASKS] += !gt_task_of(s)->beyond;
        gt_task_of(s)->beyond = true;
        return false;
    }
    uint32_t id = s->coroutine ? next_coroutine() : v->tid;
    struct gt_stream *stream;
    int status = gt_stream_open(gt_rec.streams, id, &stream);
    if (status == GT_E_EXISTS) {
        id = next_coroutine();
        status = gt_stream_open(gt_rec.streams, id, &stream);
    }
    if (status < 0) {
        if (!(t->attention & GT_ATTENTION_SILENT)) /* once, however often it is asked for */
            __atomic_fetch_add(&gt_rec.tasks_refused, 1, __ATOMIC_RELAXED);
        return false;
    }
    s->out = stream;
    gt_task_of(s)->id = id;
    trace_uftrace_task(id, time);
    struct job job = {.run = add_task, .time = time, .tid = id};
    if (gt_rec.forked_from && id == gt_rec.pid)
        job.parent = gt_rec.forked_from;
    do_job(&job);
    if (!gt_rec.user)
        name_context(v, s, time);
    return true;
}

struct gt_stream *gt_output_open_task(uint32_t id, const char *name, uint64_t time)
{
    struct gt_stream *stream;
    if (gt_stream_open(gt_rec.streams, id, &stream) < 0) {
        __atomic_fetch_add(&gt_rec.tasks_refused, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    trace_uftrace_task(id, time);
    struct job job = {.run = add_task, .time = time, .tid = id};
    do_job(&job);
    job = (struct job){.run = add_name, .time = time, .tid = id};
    snprintf(job.name, sizeof job.name, "%.15s", name);
    do_job(&job);
    return stream;
}

void gt_output_close_stack(void *self, struct gt_stack *s)
{
    (void)self;
    gt_stream_close(s->out);
    s->out = NULL;
}

void gt_output_module_added(void *self, struct gt_module *m)
{
    (void)self;
    m->listed = false; /* of an earlier time */
    trace_uftrace_module(m->path, m->hi - m->lo);
    if (gt_meta_add_module(m, NULL) < 0)
        gt_rec.modules_failed = true;
}

static void put_found(void *arg)
{
    (void)arg;
    gt_output_put_found(NULL);
}

void gt_output_code_found(void)
{
    if (gt_worker_call(gt_rec.worker, put_found, NULL) < 0)
        __atomic_store_n(&gt_rec.no_worker, true, __ATOMIC_RELAXED);
}

int gt_output_put_found(struct gt_error *err)
{
    static size_t written;
    size_t n = gt_rec.modules.code ? gt_code_modules_count(gt_rec.modules.code) : 0;
    if (n == written)
        return 0;
    char path[4200];
    snprintf(path, sizeof path, "%s/" GT_CODE_FOUND_FILE, gt_rec.dir.path);
    int status = gt_code_modules_write(gt_rec.modules.code, path, err);
    if (status == 0)
        written = n;
    return status;
}

static void find_name(void *arg)
{
    struct job *job = arg;
    gt_meta_thread_name(job->tid, job->name);
}

static void keep_names(void *arg)
{
    const unsigned *n = arg;
    for (unsigned i = 0; i < *n; i++)
        if (gt_rec.vcpus[i].begun)
            gt_meta_thread_name(gt_rec.vcpus[i].tid, gt_rec.vcpus[i].last_name);
}

void gt_output_keep_names(void)
{
    pthread_mutex_lock(&gt_rec.lock);
    unsigned n = gt_rec.n_vcpus;
    pthread_mutex_unlock(&gt_rec.lock);
    if (n > 1)
        gt_worker_call(gt_rec.worker, keep_names, &n);
}

void gt_output_name(struct gt_vcpu *v, const char *name, uint64_t time)
{
    struct job job = {.run = add_name, .time = time, .tid = v->tid};
    if (name)
        strncpy(job.name, name, sizeof job.name - 1);
    else {
        gt_worker_call(gt_rec.worker, find_name, &job);
        if (!job.name[0])
            memcpy(job.name, v->last_name, sizeof job.name);
    }
    const char *known = v->name[0] ? v->name : gt_rec.first_name;
    if (!job.name[0] || strcmp(job.name, known) == 0)
        return;
    memcpy(v->name, job.name, sizeof v->name);
    do_job(&job);
}

void gt_output_forked(uint32_t parent, uint64_t time)
{
    (void)time;
    gt_rec.forked_from = parent;
    gt_rec.pid = (uint32_t)getpid();
    gt_rec.calls = gt_rec.matched = 0;
    gt_rec.n_tasks = gt_rec.n_coroutines = 0;
    gt_rec.named = false;
    memset(gt_rec.counters, 0, sizeof gt_rec.counters);
    gt_rec.has_exit_status = false;
    if (failed)
        g_array_set_size(failed, 0); /* those are the parent's */
}
