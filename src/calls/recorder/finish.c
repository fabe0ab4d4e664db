/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a recording: ends every vCPU's calls, tries failed writes again, and prints faults and
 * counts, once.
 */
#include "calls/recorder/finish.h"
#include "base/socket.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/packed.h"
#include "calls/recorder/output/parts.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/output/source.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/output/users.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/causes.h"
#include "calls/recorder/run/control.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/marks.h"
#include "qemu/support/execs.h"
#include "qemu/support/tracing.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Streams that lost records. */
struct lossy {
    struct gt_recorder *rec;
    const struct gt_stream_loss *stream;
    size_t n;
    bool more;           /* a flight recorder: records have come since the last snapshot */
    struct gt_error err; /* what could not be written */
};

/* If the disk is still full their calls stay open; the loss is reported in any case. */
static void mend_lossy(const struct gt_recorder *r, const struct lossy *lossy)
{
    bool packed = gt_recorder_packed_is_on(&r->output.packed);
    if (packed)
        gt_recorder_packed_end_streams(r, lossy->stream, lossy->n);
    for (size_t i = 0; i < lossy->n && !packed; i++)
        gt_uftrace_dir_end_task(&r->output.dir, NULL, lossy->stream[i].id, NULL);
}

static void keep_first(struct gt_error *first, const struct gt_error *err, int status)
{
    if (status < 0 && !first->status)
        *first = *err;
}

static void write_end(void *arg)
{
    struct lossy *lossy = arg;
    struct gt_recorder *r = lossy->rec;
    struct gt_error err;
    mend_lossy(r, lossy);
    keep_first(&lossy->err, &err, gt_recorder_output_run_failed(r, &err));
    keep_first(&lossy->err, &err, gt_recorder_meta_put_map(r, &err));
    if (r->process.first || lossy->n)
        keep_first(&lossy->err, &err, gt_recorder_meta_put_info(r, &err));
    for (guint i = 0; i < r->code.modules.all->len; i++) {
        struct gt_support_module *m = g_ptr_array_index(r->code.modules.all, i);
        if (m->entered->len || (r->output.modules_failed && i > 0))
            keep_first(&lossy->err, &err, gt_recorder_meta_put_symbols(r, m, &err));
        if (r->output.modules_failed)
            keep_first(&lossy->err, &err, gt_recorder_source_put(r, m, &err));
    }
    keep_first(&lossy->err, &err, gt_recorder_arguments_write(r, &err));
    keep_first(&lossy->err, &err, gt_recorder_output_put_found(r, &err));
    keep_first(&lossy->err, &err, gt_recorder_guest_tasks_write(r, &err));
    keep_first(&lossy->err, &err, gt_recorder_handlers_write(r, &err));
    keep_first(&lossy->err, &err, gt_recorder_open_calls_write(r, &err));
    keep_first(&lossy->err, &err, gt_select_marks_finish(r, &err));
    keep_first(&lossy->err, &err,
               gt_recorder_meta_put_stats(r, gt_select_filters_recorded(r), &err));
    keep_first(&lossy->err, &err, gt_recorder_packed_finish(r, lossy->more, &err));
    gt_recorder_users_end(r);
}

/* Lets no callback begin, and waits for those under way. One process's only vCPU is the caller's.
 */
static enum gt_gate_end end_callbacks(struct gt_recorder *r)
{
    unsigned n = __atomic_load_n(&r->vcpus.n, __ATOMIC_ACQUIRE);
    const struct gt_gate_words words = {.first = &r->hot.vcpu->thread.busy,
                                        .stride = sizeof *r->hot.vcpu,
                                        .n = r->guest.user && n == 1 ? 0 : n};
    enum gt_gate_end end = gt_gate_end(&r->gate, &words);
    if (end == GT_GATE_QUIET && !gt_gate_wait_for_lock(&r->lock)) /* translations */
        return GT_GATE_NOT_QUIET;
    return end;
}

/* What a callback uses that does not end stays as it is, as after a kill. */
static void give_up(struct gt_recorder *r)
{
    gt_recorder_live_clock_remove(&r->hot.live);
    gt_host_message("a vCPU still records after %d s: its recording is left as a kill leaves it; "
                    "complete it with: guesttrace repair %s",
                    GT_GATE_SECONDS,
                    gt_recorder_packed_is_on(&r->output.packed) ? r->output.packed.work.file
                                                                : r->output.dir.path);
}

static void end_vcpus(struct gt_recorder *r)
{
    for (unsigned i = 0; i < r->vcpus.n; i++)
        if (r->hot.vcpu[i].rec)
            gt_run_vcpu_end(&r->hot.vcpu[i], gt_run_vcpu_score(r, &r->hot.vcpu[i], i));
    gt_track_close_suspended(&r->tracker, r->vcpus.last_time);
    gt_select_filtered_end_all(r);
    r->totals.counters[GT_COUNT_BEYOND_DEPTH] += r->totals.selected.beyond;
}

/* Adds this process's counts to the sums of the recording's processes. */
static void add_to_shared(struct gt_recorder *r)
{
    struct gt_recorder_shared *all = r->output.shared;
    const struct gt_streams_stats *st = &r->totals.written;
    __atomic_fetch_add(&all->records, st->records, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->lost, st->lost, __ATOMIC_RELAXED);
    for (int i = 0; i < GT_COUNTERS; i++)
        __atomic_fetch_add(&all->counters[i], r->totals.counters[i], __ATOMIC_RELAXED);
}

/* A forked child that has made calls, none of which is in a file. */
static bool is_unrecorded(const struct gt_recorder *r)
{
    const struct gt_streams_stats *st = &r->totals.written;
    return r->process.forked_from && st->records && !st->written &&
           (st->error || r->output.no_worker || r->totals.refused);
}

static void report_unrecorded(unsigned n)
{
    gt_host_message(n == 1 ? "%u more forked process is not recorded"
                           : "%u more forked processes are not recorded",
                    n);
}

/* One line for a recording: the process that sees the first fault prints it. Others of which
 * nothing is recorded are counted: their first process, or where that has ended they themselves
 * tell. */
static bool report_faults(struct gt_recorder *r, const struct lossy *lossy)
{
    const struct gt_streams_stats *st = &r->totals.written;
    unsigned refused = r->totals.refused;
    if (r->output.packed.removed && !lossy->err.status) {
        if (r->options.summary && r->process.first) /* else the command says it */
            gt_host_message("nothing is left: %s was removed while it was recorded",
                            r->output.packed.work.file);
        return true;
    }
    if (!st->error && !lossy->err.status && !refused && !r->output.no_worker)
        return false;
    if (__atomic_exchange_n(&r->output.shared->reported, true, __ATOMIC_ACQ_REL)) {
        if (is_unrecorded(r) && r->output.shared->first_ended)
            report_unrecorded(1);
        else if (is_unrecorded(r))
            __atomic_fetch_add(&r->output.shared->unrecorded, 1, __ATOMIC_RELAXED);
        return true;
    }
    unsigned long long lost = r->output.shared->lost, records = r->output.shared->records;
    const char *view = r->output.view;
    if (st->error && !st->written && !r->process.first)
        gt_host_message("%s: %s: all %llu records of process %d are lost; view the others with: "
                        "%s",
                        st->error_path, strerror(st->error), (unsigned long long)st->lost,
                        (int)getpid(), view);
    else if (st->error == EFBIG && r->options.size_limit)
        gt_host_message("%s: the size limit of %s was reached: the last %llu of %llu records are "
                        "left out; view the others with: %s",
                        st->error_path, r->options.size_limit, lost, records, view);
    else if (st->error && !st->written)
        gt_host_message("%s: %s: all %llu records are lost", st->error_path, strerror(st->error),
                        lost);
    else if (st->error)
        gt_host_message("%s: %s: %llu of %llu records are lost; view the rest with: %s",
                        st->error_path, strerror(st->error), lost, records, view);
    else if (lossy->err.status)
        gt_host_message("%s; view the rest with: %s", lossy->err.text, view);
    else if (refused)
        gt_host_message(
            "%u tasks are not recorded: out of memory or beyond a limit; view the others "
            "with: %s",
            refused, view);
    else
        gt_host_message("the worker thread cannot be started; view the rest with: %s", view);
    return true;
}

static void report(const uint64_t *counters, enum gt_track_counter counter)
{
    if (counters[counter])
        gt_host_message("%llu %s", (unsigned long long)counters[counter],
                        gt_track_counter_text(gt_track_counter_name(counter)));
}

/* The first process prints the counts of its children, too; one that outlives it prints its own. */
static void report_counters(const struct gt_recorder *r)
{
    const uint64_t *counters = !r->process.first ? r->totals.counters : r->output.shared->counters;
    if (!r->options.summary || (!r->process.first && !r->output.shared->first_ended))
        return;
    for (int i = GT_ANOMALIES; i < GT_COUNTERS; i++)
        report(counters, i);
    report(counters, GT_COUNT_BEYOND_TASKS);
    report(counters, GT_COUNT_BEYOND_DEPTH);
}

static void report_losses(struct gt_recorder *r, const struct lossy *lossy)
{
    add_to_shared(r);
    bool fault = report_faults(r, lossy);
    report_counters(r);
    gt_recorder_guest_tasks_report(r);
    gt_select_marks_report(r);
    unsigned long long calls = r->totals.calls + r->tracker.again,
                       recorded = gt_select_filters_recorded(r);
    if (r->options.summary && r->process.first && !fault && calls == 0)
        gt_host_message("nothing was recorded: the guest made no calls");
    else if (r->options.summary && r->process.first && !fault && r->snapshots.on)
        gt_host_message("%llu calls; the last ones: %s", recorded, r->output.view);
    else if (r->options.summary && r->process.first && !fault && recorded >= calls)
        gt_host_message("%llu calls recorded: %s", recorded, r->output.view);
    else if (r->options.summary && r->process.first && !fault)
        gt_host_message("%llu of %llu calls recorded: %s", recorded, calls, r->output.view);
    if (r->process.first) {
        gt_select_filters_report(r);
        gt_execs_report();
    }
    if (!r->process.first)
        return;
    __atomic_store_n(&r->output.shared->first_ended, true, __ATOMIC_RELEASE);
    unsigned unrecorded = __atomic_exchange_n(&r->output.shared->unrecorded, 0, __ATOMIC_ACQ_REL);
    if (unrecorded)
        report_unrecorded(unrecorded);
}

/* With all callbacks held back. Nothing that they use is freed. */
static void finish(struct gt_recorder *r)
{
    gt_recorder_output_start(r); /* it has begun, but where it was off all the time */
    gt_recorder_live_clock_remove(&r->hot.live);
    gt_run_listen_end(r);
    gt_run_cause_ended(r);
    struct lossy lossy = {.rec = r, .more = gt_recorder_snapshots_end(r)};
    gt_select_dormant_lock(r);
    end_vcpus(r);
    gt_select_dormant_unlock(r);
    gt_streams_flush(r->output.streams);
    const struct gt_stream_loss *stream;
    lossy.n = gt_streams_get_losses(r->output.streams, &stream);
    lossy.stream = g_memdup2(stream, lossy.n * sizeof *stream);
    gt_streams_finish(r->output.streams, &r->totals.written);
    gt_recorder_parts_end(r);
    gt_run_blocks_collect_entered(r);
    if (gt_thread_worker_call(r->output.worker, write_end, &lossy) < 0)
        r->output.no_worker = true;
    gt_thread_worker_stop(r->output.worker);
    for (size_t i = 0; i < lossy.n; i++)
        trace_uftrace_lost(lossy.stream[i].id, lossy.stream[i].records);
    trace_uftrace_end(r->totals.calls, r->totals.written.records, r->totals.written.lost);
    report_losses(r, &lossy);
    gt_recorder_snapshots_report(r);
    gt_recorder_parts_report(r);
    gt_support_tracing_finish();
}

void gt_recorder_finish(struct gt_recorder *r)
{
    enum gt_gate_end end = gt_gate_ends(&r->gate) ? GT_GATE_ENDED : end_callbacks(r);
    if (end == GT_GATE_ENDED)
        return;
    gt_run_control_stop(r);
    if (end == GT_GATE_QUIET)
        finish(r);
    else
        give_up(r);
    gt_gate_close(&r->gate);
}

void gt_recorder_killed(int sig)
{
    struct gt_recorder *r = gt_recorder_installed();
    gt_socket_listeners_remove();
    if (sig && !gt_gate_ends(&r->gate) && r->guest.user && gt_run_cause_waits(r)) {
        gt_run_cause_killed(r, sig);
        gt_recorder_snapshots_wait(r);
    }
    if (r->process.dying)
        gt_recorder_finish(r);
    else if (sig && !gt_gate_ends(&r->gate) && r->process.first)
        gt_select_filters_report(r); /* other vCPUs may run: the command completes the recording */
}
