/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a recording: every vCPU's calls are ended, what is missing on disk is tried again, and
 * what went wrong is told, once.
 */
#include "plugin/uftrace/finish.h"
#include "plugin/common/tracing.h"
#include "plugin/uftrace/linux.h"
#include "plugin/uftrace/live_clock.h"
#include "plugin/uftrace/meta.h"
#include "plugin/uftrace/output.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/vcpu.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Streams that lost records. */
struct lossy {
    const struct gt_stream_loss *stream;
    size_t n;
    struct gt_error err; /* what could not be written */
};

/* With a disk that is still full their calls stay open; the loss is told anyhow. */
static void mend_lossy(const struct lossy *lossy)
{
    for (size_t i = 0; i < lossy->n; i++)
        gt_uftrace_dir_end_task(&gt_rec.dir, lossy->stream[i].id, NULL);
}

static void keep_first(struct gt_error *first, const struct gt_error *err, int status)
{
    if (status < 0 && !first->status)
        *first = *err;
}

static void write_end(void *arg)
{
    struct lossy *lossy = arg;
    struct gt_error err;
    mend_lossy(lossy);
    keep_first(&lossy->err, &err, gt_output_run_failed(&err));
    keep_first(&lossy->err, &err, gt_meta_put_map(&err));
    if (!gt_rec.forked_from || lossy->n)
        keep_first(&lossy->err, &err, gt_meta_put_info(&err));
    for (guint i = 0; i < gt_rec.modules.all->len; i++) {
        struct gt_module *m = g_ptr_array_index(gt_rec.modules.all, i);
        if (m->entered->len || (gt_rec.modules_failed && i > 0))
            keep_first(&lossy->err, &err, gt_meta_put_symbols(m, &err));
    }
    keep_first(&lossy->err, &err, gt_output_put_found(&err));
    keep_first(&lossy->err, &err, gt_linux_write(&err));
    keep_first(&lossy->err, &err, gt_meta_put_stats(&err));
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
    gt_vcpus_close();
    gt_tracker_close_suspended(&gt_rec.tracker, gt_rec.last_time);
}

/* Adds this process's account to that of the recording's others. */
static void add_to_shared(void)
{
    struct gt_shared *all = gt_rec.shared;
    const struct gt_streams_stats *st = &gt_rec.written;
    __atomic_fetch_add(&all->records, st->records, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->lost, st->lost, __ATOMIC_RELAXED);
    for (int i = 0; i < GT_COUNTERS; i++)
        __atomic_fetch_add(&all->counters[i], gt_rec.counters[i], __ATOMIC_RELAXED);
}

/* One line for a recording: the process that sees the first fault tells it. */
static bool tell_faults(const struct lossy *lossy)
{
    const struct gt_streams_stats *st = &gt_rec.written;
    unsigned refused = gt_rec.tasks_refused;
    if (!st->error && !lossy->err.status && !refused && !gt_rec.no_worker)
        return false;
    if (__atomic_exchange_n(&gt_rec.shared->told, true, __ATOMIC_ACQ_REL))
        return true;
    unsigned long long lost = gt_rec.shared->lost, records = gt_rec.shared->records;
    const char *dir = gt_rec.dir.path;
    if (st->error && !st->written && gt_rec.forked_from)
        gt_host_message("%s: %s: all %llu records of process %d are lost; view the others with: "
                        "uftrace replay -d %s",
                        st->error_path, strerror(st->error), (unsigned long long)st->lost,
                        (int)getpid(), dir);
    else if (st->error && !st->written)
        gt_host_message("%s: %s: all %llu records are lost", st->error_path, strerror(st->error),
                        lost);
    else if (st->error)
        gt_host_message(
            "%s: %s: %llu of %llu records are lost; view the rest with: uftrace replay -d %s",
            st->error_path, strerror(st->error), lost, records, dir);
    else if (lossy->err.status)
        gt_host_message("%s; view the rest with: uftrace replay -d %s", lossy->err.text, dir);
    else if (refused)
        gt_host_message(
            "%u tasks are not recorded: out of memory or beyond a limit; view the others "
            "with: uftrace replay -d %s",
            refused, dir);
    else
        gt_host_message(
            "the worker thread cannot be started; view the rest with: uftrace replay -d %s", dir);
    return true;
}

static void report(const uint64_t *counters, enum gt_counter counter)
{
    if (counters[counter])
        gt_host_message("%llu %s", (unsigned long long)counters[counter],
                        gt_counter_text(gt_counter_name(counter)));
}

/* The first process tells for its children; one that outlives it for itself. */
static void report_counters(void)
{
    const uint64_t *counters = gt_rec.forked_from ? gt_rec.counters : gt_rec.shared->counters;
    if (!gt_rec.summary || (gt_rec.forked_from && !gt_rec.shared->first_ended))
        return;
    for (int i = GT_ANOMALIES; i < GT_COUNTERS; i++)
        report(counters, i);
    report(counters, GT_COUNT_BEYOND_TASKS);
    report(counters, GT_COUNT_BEYOND_DEPTH);
}

static void tell(const struct lossy *lossy)
{
    add_to_shared();
    bool fault = tell_faults(lossy);
    report_counters();
    gt_linux_tell();
    if (gt_rec.summary && !gt_rec.forked_from && !fault && gt_rec.calls == 0)
        gt_host_message("nothing was recorded: the guest made no calls");
    else if (gt_rec.summary && !gt_rec.forked_from && !fault)
        gt_host_message("%llu calls recorded: uftrace replay -d %s",
                        (unsigned long long)gt_rec.calls, gt_rec.dir.path);
    if (!gt_rec.forked_from)
        __atomic_store_n(&gt_rec.shared->first_ended, true, __ATOMIC_RELEASE);
}

void gt_output_finish(void)
{
    if (gt_rec.finished)
        return;
    gt_live_clock_remove();
    end_vcpus();
    gt_streams_flush(gt_rec.streams);
    struct lossy lossy = {0};
    const struct gt_stream_loss *stream;
    lossy.n = gt_streams_get_losses(gt_rec.streams, &stream);
    lossy.stream = g_memdup2(stream, lossy.n * sizeof *stream);
    gt_streams_destroy(gt_rec.streams, &gt_rec.written);
    gt_meta_collect_entered();
    if (gt_worker_call(gt_rec.worker, write_end, &lossy) < 0)
        gt_rec.no_worker = true;
    gt_worker_destroy(gt_rec.worker);
    for (size_t i = 0; i < lossy.n; i++)
        trace_uftrace_lost(lossy.stream[i].id, lossy.stream[i].records);
    trace_uftrace_end(gt_rec.calls, gt_rec.written.records, gt_rec.written.lost);
    tell(&lossy);
    gt_tracing_finish();
}
