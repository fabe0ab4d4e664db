/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data directory of a recording: tasks, modules and their symbols as they appear, metadata that
 * is true from the first moment, and the final account. All files but the record streams are
 * written on the worker.
 */
#include "plugin/uftrace.h"
#include "plugin/uftrace_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    struct gt_module *module;
    struct gt_error err;
    int status;
};

static void run_job(void *arg)
{
    struct job *job = arg;
    job->status = job->run(job, &job->err);
}

/* The first failure is told; a recording without its text files goes on. */
static int do_job(struct job *job)
{
    if (gt_worker_call(gt_rec.worker, run_job, job) < 0)
        job->status = gt_error_set(&job->err, GT_E_IO, "the file worker does not start");
    if (job->status < 0 && !gt_rec.error_told) {
        gt_rec.error_told = true;
        gt_host_message("%s", job->err.text);
    }
    return job->status;
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

static uint64_t start_time(void)
{
    struct timespec ts;
    if (!gt_rec.host_clock)
        return gt_rec.last_time + 1;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int write_start(struct job *job, struct gt_error *err)
{
    gt_rec.started = true;
    int status = gt_uftrace_dir_add_session(&gt_rec.dir, job->time, gt_rec.pid, gt_rec.sid,
                                            gt_rec.exename, err);
    if (status == 0)
        status = gt_meta_put_map(err);
    return status == 0 ? gt_meta_put_info(err) : status;
}

int gt_output_create(struct gt_error *err)
{
    int status = gt_worker_create(&gt_rec.worker, err);
    if (status < 0)
        return status;
    gt_rec.pid = gt_rec.user ? (uint32_t)getpid() : 1;
    struct job make = {.run = make_dir};
    gt_rec.error_told = true; /* these failures are returned */
    if (do_job(&make) < 0 ||
        (make.status = gt_streams_create(gt_rec.dir.path, 0, &gt_rec.streams, &make.err)) < 0) {
        *err = make.err;
        return make.status;
    }
    gt_rec.error_told = false;
    return 0;
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
    uint32_t n = ++gt_rec.n_tasks;
    /* Not for each of thousands: info lists them all. The last word is at the end. */
    if (status == 0 && (n < 16 || (n & (n - 1)) == 0))
        status = gt_meta_put_info(err);
    return status;
}

static uint32_t next_coroutine(void)
{
    uint32_t n = __atomic_fetch_add(&gt_rec.n_coroutines, 1, __ATOMIC_RELAXED);
    return FIRST_COROUTINE + (gt_rec.pid % 200000u) * COROUTINES_EACH + n % COROUTINES_EACH;
}

bool gt_output_open_stack(void *self, struct gt_thread *t, struct gt_stack *s, uint64_t time)
{
    (void)self;
    const struct gt_vcpu *v =
        (const struct gt_vcpu *)((const char *)t - offsetof(struct gt_vcpu, thread));
    uint32_t id = s->coroutine ? next_coroutine() : v->tid;
    struct gt_stream *stream;
    int status = gt_stream_open(gt_rec.streams, id, &stream);
    if (status == GT_E_EXISTS) {
        id = next_coroutine();
        status = gt_stream_open(gt_rec.streams, id, &stream);
    }
    if (status < 0) {
        gt_host_message("task %u is not recorded: %s", id, gt_status_text(status));
        return false;
    }
    s->out = stream;
    struct job job = {.run = add_task, .time = time, .tid = id};
    if (gt_rec.forked_from && id == gt_rec.pid)
        job.parent = gt_rec.forked_from;
    do_job(&job);
    return true;
}

void gt_output_close_stack(void *self, struct gt_stack *s)
{
    (void)self;
    gt_stream_close(s->out);
    s->out = NULL;
}

static int add_module(struct job *job, struct gt_error *err)
{
    int status = gt_meta_put_symbols(job->module, err);
    return status == 0 ? gt_meta_put_map(err) : status;
}

void gt_output_module_added(void *self, struct gt_module *m)
{
    (void)self;
    m->loaded = gt_process_time();
    struct job job = {.run = add_module, .module = m};
    do_job(&job);
}

static int add_name(struct job *job, struct gt_error *err)
{
    int status =
        gt_uftrace_dir_add_name(&gt_rec.dir, job->time, job->tid, gt_rec.pid, job->name, err);
    if (status < 0 || gt_rec.named)
        return status;
    gt_rec.named = true;
    return gt_meta_put_info(err);
}

static int find_name(struct job *job, struct gt_error *err)
{
    (void)err;
    gt_meta_thread_name(job->tid, job->name);
    return 0;
}

void gt_output_name(struct gt_vcpu *v, const char *name, uint64_t time)
{
    struct job job = {.run = find_name, .time = time, .tid = v->tid};
    if (name)
        strncpy(job.name, name, sizeof job.name - 1);
    else if (do_job(&job) < 0)
        return;
    const char *known = v->name[0] ? v->name : gt_rec.first_name;
    if (!job.name[0] || strcmp(job.name, known) == 0)
        return;
    memcpy(v->name, job.name, sizeof v->name);
    job.run = add_name;
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
    memset(gt_rec.doubts, 0, sizeof gt_rec.doubts);
    gt_rec.has_exit_status = false;
}

static int write_end(struct job *job, struct gt_error *err)
{
    (void)job;
    int status = 0, next;
    for (guint i = 0; i < gt_rec.modules.all->len; i++) {
        struct gt_module *m = g_ptr_array_index(gt_rec.modules.all, i);
        if (m->entered->len && (next = gt_meta_put_symbols(m, err)) < 0)
            status = next;
    }
    if ((next = gt_meta_put_map(err)) < 0)
        status = next;
    if (!gt_rec.forked_from && (next = gt_meta_put_info(err)) < 0)
        status = next;
    return (next = gt_meta_put_stats(err)) < 0 ? next : status;
}

/* A machine may exit on one vCPU while others run: from now on none of their landings is plain, and
 * land() does nothing; those under way have a moment to end. */
static void stop_vcpus(unsigned n)
{
    __atomic_store_n(&gt_rec.finished, true, __ATOMIC_SEQ_CST);
    if (gt_rec.user || n < 2)
        return;
    for (unsigned i = 0; i < n; i++)
        __atomic_or_fetch(&gt_rec.vcpus[i].thread.attention, GT_ATTENTION_OWNER, __ATOMIC_SEQ_CST);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void end_vcpus(void)
{
    pthread_mutex_lock(&gt_rec.lock);
    unsigned n = gt_rec.n_vcpus;
    pthread_mutex_unlock(&gt_rec.lock);
    stop_vcpus(n);
    for (unsigned i = 0; i < n; i++)
        gt_vcpu_end(&gt_rec.vcpus[i], gt_vcpu_cells(&gt_rec.vcpus[i], i));
    gt_tracker_close_suspended(&gt_rec.tracker, gt_rec.last_time);
}

static void tell_losses(void)
{
    const struct gt_streams_stats *st = &gt_rec.written;
    if (st->error)
        gt_host_message("%s: %s: %llu of %llu records are lost", st->error_path,
                        strerror(st->error), (unsigned long long)st->lost,
                        (unsigned long long)st->records);
    for (int i = 0; i < GT_DOUBT_COUNT && gt_rec.summary; i++)
        if (gt_rec.doubts[i] && !gt_doubt_is_harmless(gt_doubt_name(i)))
            gt_host_message("%llu %s", (unsigned long long)gt_rec.doubts[i],
                            gt_doubt_text(gt_doubt_name(i)));
}

void gt_output_finish(void)
{
    if (gt_rec.finished)
        return;
    end_vcpus();
    gt_streams_destroy(gt_rec.streams, &gt_rec.written);
    gt_meta_collect_entered();
    struct job job = {.run = write_end};
    do_job(&job);
    gt_worker_destroy(gt_rec.worker);
    tell_losses();
    if (gt_rec.summary && !gt_rec.forked_from)
        gt_host_message("%llu calls recorded: uftrace replay -d %s",
                        (unsigned long long)gt_rec.calls, gt_rec.dir.path);
}
