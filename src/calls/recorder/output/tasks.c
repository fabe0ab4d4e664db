/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data directory of a recording: tasks, modules and their symbols as they appear, metadata that
 * is valid from the start, and the counts at the end. All files except the record streams are
 * written on the worker.
 */
#include "calls/recorder/output/tasks.h"
#include "base/clock.h"
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/source.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/task.h"
#include "calls/recorder/vcpu.h"
#include "qemu/support/code_modules.h"
#include "qemu/support/trace-plugin.h"
#include "recording/texts/files.h"
#include "recording/texts/tasks.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Tasks that are not threads of the host: coroutines. Their numbers are above any pid_max, and
 * differ among processes. */
enum { FIRST_COROUTINE = 5000000, COROUTINES_EACH = 10000 };

struct job {
    struct gt_recorder *rec;
    int (*run)(struct job *job, struct gt_error *err);
    uint64_t time;
    uint32_t tid, parent;
    char name[16];
    struct gt_error err;
    int status;
};

int gt_recorder_output_run_failed(struct gt_recorder *r, struct gt_error *err)
{
    while (r->output.failed && r->output.failed->len) {
        struct job *job = &g_array_index(r->output.failed, struct job, 0);
        int status = job->run(job, err);
        if (status < 0)
            return status;
        g_array_remove_index(r->output.failed, 0);
    }
    return 0;
}

/* Failed jobs are tried again, in order, before the next job and at the end: a full disk may have
 * space later. */
static void run_job(void *arg)
{
    struct job *job = arg;
    struct gt_recorder *r = job->rec;
    job->status = gt_recorder_output_run_failed(r, &job->err);
    if (job->status == 0)
        job->status = job->run(job, &job->err);
    if (job->status == 0)
        return;
    if (!r->output.failed)
        r->output.failed = g_array_new(FALSE, FALSE, sizeof(struct job));
    g_array_append_val(r->output.failed, *job);
}

/* A recording continues without its text files: missing ones are reported at the end. */
static void do_job(struct job *job)
{
    struct gt_recorder *r = job->rec;
    if (gt_thread_worker_call(r->output.worker, run_job, job) < 0)
        __atomic_store_n(&r->output.no_worker, true, __ATOMIC_RELAXED);
}

/* The same of a task of which there may be thousands: a program's thread does not wait. */
static void post_job(struct job *job)
{
    struct gt_recorder *r = job->rec;
    /* The number of a machine's tasks is limited; a recording is valid from its first record on. */
    if (!r->guest.user || __atomic_load_n(&r->totals.tasks, __ATOMIC_RELAXED) == 0)
        do_job(job);
    else if (gt_thread_worker_post(r->output.worker, run_job, job, sizeof *job) < 0)
        __atomic_store_n(&r->output.no_worker, true, __ATOMIC_RELAXED);
}

static void retry(void *arg)
{
    struct job *job = arg;
    job->status = gt_recorder_output_run_failed(job->rec, &job->err);
}

int gt_recorder_output_put_texts(struct gt_recorder *r, struct gt_error *err)
{
    struct job job = {.rec = r};
    if (gt_thread_worker_call(r->output.worker, retry, &job) < 0)
        return gt_error_set(err, GT_E_IO, "the worker thread cannot be started");
    if (job.status < 0)
        *err = job.err;
    return job.status;
}

static uint64_t start_time(const struct gt_recorder *r)
{
    return r->hot.host_clock ? gt_base_clock_monotonic() : r->vcpus.last_time + 1;
}

static int name_vcpus(const struct gt_recorder *r, struct gt_error *err)
{
    struct gt_text lines = {0};
    for (unsigned i = 0; i < r->host.max_vcpus; i++)
        gt_text_printf(&lines, "EVENT: %u " GT_UFTRACE_EV_VCPU_NAME "\n", GT_UFTRACE_EV_VCPU + i,
                       i);
    int status = gt_uftrace_dir_add_text(&r->output.dir, "events.txt", &lines, err);
    gt_text_free(&lines);
    return status;
}

static int write_start(struct job *job, struct gt_error *err)
{
    struct gt_recorder *r = job->rec;
    r->output.started = true;
    int status = gt_uftrace_dir_add_session(&r->output.dir, job->time, r->process.pid,
                                            r->output.sid, r->process.exename, err);
    if (status == 0 && gt_recorder_tells_vcpus(r))
        status = name_vcpus(r, err);
    if (status == 0 && gt_recorder_meta_put_map(r, NULL) == 0)
        gt_recorder_meta_put_info(r, NULL); /* both again at the end, where errors are reported */
    return status;
}

static void start(struct gt_recorder *r)
{
    gt_recorder_meta_init(r);
    r->output.began = start_time(r);
    struct job job = {.rec = r, .run = write_start, .time = r->output.began};
    do_job(&job);
}

void gt_recorder_output_start(struct gt_recorder *r)
{
    if (__atomic_load_n(&r->output.begun, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&r->lock);
    if (!r->output.begun)
        start(r);
    __atomic_store_n(&r->output.begun, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&r->lock);
}

static int add_task(struct job *job, struct gt_error *err)
{
    struct gt_recorder *r = job->rec;
    int status;
    if (job->parent)
        status = gt_uftrace_dir_add_fork(&r->output.dir, job->time, job->tid, job->parent, err);
    else
        status = gt_uftrace_dir_add_task(&r->output.dir, job->time, job->tid, r->process.pid, err);
    if (status < 0)
        return status;
    uint32_t n = ++r->totals.tasks;
    /* Not for each of thousands: info lists them all. The last word is at the end. */
    if (n < 16 || (n & (n - 1)) == 0)
        gt_recorder_meta_put_info(r, NULL);
    return 0;
}

static uint32_t next_coroutine(struct gt_recorder *r)
{
    if (!r->guest.user)
        return GT_TASK_STACK + __atomic_fetch_add(&r->totals.coroutines, 1, __ATOMIC_RELAXED);
    uint32_t n = __atomic_fetch_add(&r->totals.coroutines, 1, __ATOMIC_RELAXED);
    return FIRST_COROUTINE + (r->process.pid % 200000u) * COROUTINES_EACH + n % COROUTINES_EACH;
}

static int add_name(struct job *job, struct gt_error *err)
{
    struct gt_recorder *r = job->rec;
    int status = gt_uftrace_dir_add_name(&r->output.dir, job->time, job->tid, r->process.pid,
                                         job->name, err);
    if (status < 0 || r->output.named)
        return status;
    r->output.named = true;
    gt_recorder_meta_put_info(r, NULL);
    return 0;
}

void gt_recorder_output_name_stack(struct gt_recorder *r, struct gt_stack *s, const char *name,
                                   uint64_t time)
{
    struct gt_recorder_task *task = gt_recorder_task_of(s);
    struct job job = {.rec = r, .run = add_name, .time = time, .tid = task->id};
    snprintf(job.name, sizeof job.name, "%.15s", name);
    memcpy(task->name, job.name, sizeof task->name);
    do_job(&job);
}

/* A name until the guest has a better one. */
static void name_context(const struct gt_vcpu *v, struct gt_stack *s, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    char name[32];
    uint32_t id = gt_recorder_task_of(s)->id;
    if (id < GT_TASK_STACK)
        snprintf(name, sizeof name, "cpu%u", gt_vcpu_index(v));
    else
        snprintf(name, sizeof name, "thread %u", id - GT_TASK_STACK + 1);
    gt_recorder_output_name_stack(r, s, name, time);
}

/* With a task for each vCPU: the stack that runs has the vCPU's output. False: there is none yet.
 */
static bool take_output_of_vcpu(const struct gt_vcpu *v, struct gt_stack *s)
{
    if (!v->out)
        return false;
    s->out = v->out;
    gt_recorder_task_of(s)->id = v->tid;
    return true;
}

bool gt_recorder_output_open_stack(void *self, struct gt_track_thread *t, struct gt_stack *s,
                                   uint64_t time)
{
    struct gt_recorder *r = self;
    struct gt_vcpu *v = (struct gt_vcpu *)((char *)t - offsetof(struct gt_vcpu, thread));
    bool of_vcpu = gt_recorder_has_vcpu_tasks(r);
    if (take_output_of_vcpu(v, s))
        return true;
    if (!r->guest.user && s->coroutine && r->totals.tasks >= r->options.max_tasks) {
        t->counters[GT_COUNT_BEYOND_TASKS] += !gt_recorder_task_of(s)->beyond;
        gt_recorder_task_of(s)->beyond = true;
        return false;
    }
    uint32_t id = s->coroutine && !of_vcpu ? next_coroutine(r) : v->tid;
    struct gt_stream *stream;
    int status = gt_stream_open(r->output.streams, id, &stream);
    if (status == GT_E_EXISTS) {
        id = next_coroutine(r);
        status = gt_stream_open(r->output.streams, id, &stream);
    }
    if (status < 0) {
        if (!(t->slow_flags & GT_SLOW_SILENT)) /* once, however often the tracker tries */
            __atomic_fetch_add(&r->totals.refused, 1, __ATOMIC_RELAXED);
        return false;
    }
    s->out = stream;
    if (of_vcpu)
        v->out = stream;
    gt_recorder_task_of(s)->id = id;
    trace_uftrace_task(id, time);
    struct job job = {.rec = r, .run = add_task, .time = time, .tid = id};
    if (r->process.forked_from && id == r->process.pid)
        job.parent = r->process.forked_from;
    post_job(&job);
    if (!r->guest.user)
        name_context(v, s, time);
    return true;
}

void gt_recorder_output_put_vcpu(const struct gt_recorder *r, struct gt_stack *s,
                                 struct gt_stream *out, uint32_t depth, uint64_t time)
{
    const struct gt_vcpu *v = gt_vcpu_of_stack(s);
    if (v && gt_recorder_tells_vcpus(r))
        gt_stream_put(out, time, gt_uftrace_event(depth, GT_UFTRACE_EV_VCPU + gt_vcpu_index(v)));
}

struct gt_stream *gt_recorder_output_open_task(struct gt_recorder *r, uint32_t id, const char *name,
                                               uint64_t time)
{
    struct gt_stream *stream;
    if (gt_stream_open(r->output.streams, id, &stream) < 0) {
        __atomic_fetch_add(&r->totals.refused, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    trace_uftrace_task(id, time);
    struct job job = {.rec = r, .run = add_task, .time = time, .tid = id};
    do_job(&job);
    job = (struct job){.rec = r, .run = add_name, .time = time, .tid = id};
    snprintf(job.name, sizeof job.name, "%.15s", name);
    do_job(&job);
    return stream;
}

void gt_recorder_output_close_stack(void *self, struct gt_stack *s)
{
    (void)self;
    gt_stream_close(s->out);
    s->out = NULL;
}

void gt_recorder_output_module_added(void *self, struct gt_support_module *m)
{
    struct gt_recorder *r = self;
    m->listed = false; /* of an earlier time */
    trace_uftrace_module(m->path, m->hi - m->lo);
    if (gt_recorder_meta_add_module(r, m, NULL) < 0 ||
        gt_recorder_source_add_module(r, m, NULL) < 0)
        r->output.modules_failed = true;
}

static void put_found(void *arg)
{
    gt_recorder_output_put_found(arg, NULL);
}

void gt_recorder_output_code_found(void *self)
{
    struct gt_recorder *r = self;
    if (gt_thread_worker_call(r->output.worker, put_found, r) < 0)
        __atomic_store_n(&r->output.no_worker, true, __ATOMIC_RELAXED);
}

int gt_recorder_output_put_found(struct gt_recorder *r, struct gt_error *err)
{
    size_t n = r->code.modules.code ? gt_support_code_modules_count(r->code.modules.code) : 0;
    if (n == r->output.n_found)
        return 0;
    char path[4200];
    snprintf(path, sizeof path, "%s/" GT_CODE_FOUND_FILE, r->output.dir.path);
    int status = gt_support_code_modules_write(r->code.modules.code, path, err);
    if (status == 0)
        r->output.n_found = n;
    return status;
}

static void find_name(void *arg)
{
    struct job *job = arg;
    gt_recorder_meta_thread_name(job->tid, job->name);
}

/* Of the vCPUs that exist: one that begins meanwhile has no name yet. */
static void keep_names(void *arg)
{
    struct gt_recorder *r = arg;
    unsigned n = __atomic_load_n(&r->vcpus.n, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < n; i++)
        if (r->hot.vcpu[i].begun)
            gt_recorder_meta_thread_name(r->hot.vcpu[i].tid, r->hot.vcpu[i].last_name);
}

void gt_recorder_output_keep_names(struct gt_recorder *r)
{
    if (__atomic_load_n(&r->vcpus.n, __ATOMIC_RELAXED) > 1)
        gt_thread_worker_call(r->output.worker, keep_names, r);
}

bool gt_recorder_output_name(struct gt_vcpu *v, const char *name, bool own, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    struct job job = {.rec = r, .run = add_name, .time = time, .tid = v->tid};
    if (name)
        strncpy(job.name, name, sizeof job.name - 1);
    else {
        if (own)
            prctl(PR_GET_NAME, job.name);
        else
            gt_thread_worker_call(r->output.worker, find_name, &job);
        if (!job.name[0])
            memcpy(job.name, v->last_name, sizeof job.name);
    }
    const char *known = v->name[0] ? v->name : r->process.first_name;
    if (!job.name[0] || strcmp(job.name, known) == 0)
        return false;
    memcpy(v->name, job.name, sizeof v->name);
    if (name) /* what the program asked for is there though it is killed next */
        do_job(&job);
    else
        post_job(&job);
    return true;
}

void gt_recorder_output_forked(struct gt_recorder *r, uint32_t parent)
{
    r->process.forked_from = parent;
    r->process.first = r->process.went_on = false;
    r->process.pid = (uint32_t)getpid();
    r->totals.calls = r->totals.matched = r->totals.unrecorded = 0;
    r->totals.selected = (struct gt_recorder_selected){0};
    r->totals.tasks = r->totals.coroutines = 0;
    r->output.named = false;
    memset(r->totals.counters, 0, sizeof r->totals.counters);
    r->process.has_exit_status = false;
    gt_recorder_open_calls_init(&r->open_calls);
    if (r->output.failed)
        g_array_set_size(r->output.failed, 0); /* those are the parent's */
}
