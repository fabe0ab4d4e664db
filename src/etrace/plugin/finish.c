/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers handed over early, fork, the end: see finish.h. */
#include "etrace/plugin/finish.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/packets.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/exec_calls.h"
#include "qemu/support/messages.h"
#include "qemu/support/tracing.h"

#include <inttypes.h>

enum { LIVE_NS = 1000000 /* a waiting guest hands over at most this often */ };

size_t gt_etrace_put_head(void *self, uint8_t *out)
{
    struct gt_etrace *e = self;
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, out, GT_PACKET_SINK_TEXT);
    gt_etrace_put_info(&w, &(struct gt_etrace_info){0});
    gt_etrace_put_arch(&w, &e->arch);
    unsigned number = (unsigned)__atomic_add_fetch(&e->streams, 1, __ATOMIC_RELAXED);
    trace_etrace_stream(number);
    return (size_t)(w.at - out);
}

size_t gt_etrace_put_dropped(void *self, uint64_t bytes, uint8_t *out)
{
    (void)self;
    struct gt_bytes_writer w;
    trace_etrace_dropped(bytes);
    gt_bytes_writer_init(&w, out, GT_PACKET_SINK_TEXT);
    gt_etrace_put_event(
        &w, &(struct gt_etrace_event){.value = bytes, .device = "etrace", .name = "dropped"});
    return (size_t)(w.at - out);
}

/* Completes all packets. With the buffer's lock. */
static void end_packets(struct gt_etrace_buffer *buf)
{
    gt_etrace_buffer_settle(buf);
    gt_etrace_buffer_end_run(buf);
    if (buf->current)
        gt_etrace_close(buf->current);
}

/* Hands over to a reader that waits. A file has the same packets in every run. */
static void hand_over_live(struct gt_etrace *e, struct gt_etrace_buffer *buf)
{
    if (!e->live)
        return;
    bool early = gt_base_clock_monotonic() - buf->handed < LIVE_NS;
    pthread_mutex_lock(&buf->lock);
    if (!gt_etrace_is_finished(e))
        end_packets(buf);
    buf->waits = early && buf->packets && buf->packets->used;
    if (!gt_etrace_is_finished(e) && !early && buf->packets)
        gt_etrace_buffer_hand_over(buf);
    pthread_mutex_unlock(&buf->lock);
}

/* The calling thread's buffer, where the vCPU ran on it last; else NULL. */
static struct gt_etrace_buffer *buffer_of(struct gt_etrace *e, const struct gt_etrace_vcpu *v)
{
    struct gt_etrace_buffer *buf = v->buffer;
    return buf && buf == gt_etrace_own_buffer(e) && !gt_etrace_is_finished(e) ? buf : NULL;
}

void gt_etrace_on_vcpu_idle(void *self, unsigned vcpu)
{
    struct gt_etrace *e = self;
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (!v)
        return;
    struct gt_etrace_buffer *buf = buffer_of(e, v);
    if (buf)
        hand_over_live(e, buf);
    gt_etrace_leave(v);
}

/* Another process takes the place of this one: the buffers in its memory are lost. */
static void hand_over_all(struct gt_etrace *e, struct gt_etrace_buffer *buf)
{
    gt_packet_sink_exec_begin(e->sink);
    if (buf) {
        pthread_mutex_lock(&buf->lock);
        end_packets(buf);
        if (buf->packets)
            gt_etrace_buffer_hand_over(buf);
        pthread_mutex_unlock(&buf->lock);
    }
    if (e->flags & GT_ETRACE_F_COVERAGE && gt_etrace_put_counts(e))
        gt_etrace_hand_over_own(e);
    gt_packet_sink_flush(e->sink);
    gt_packet_sink_exec_end(e->sink);
    gt_support_sink_message_report(e->sink);
    gt_support_tracing_flush();
}

/* The guest may wait long. */
void gt_etrace_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    struct gt_etrace *e = self;
    const struct gt_arch_syscalls *sys = e->syscalls;
    bool executes = sys && (number == sys->execve || number == sys->execveat);
    if (sys && number == sys->exit_group)
        gt_host_program_ends();
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (!v) { /* a forked process may execute a program */
        gt_exec_calls_on_syscall(number, args);
        return;
    }
    struct gt_etrace_buffer *buf = buffer_of(e, v);
    if (sys && number == sys->mmap)
        gt_etrace_maps_on_mmap(e, vcpu, args[1]);
    if (executes)
        hand_over_all(e, buf);
    else if (buf)
        hand_over_live(e, buf);
    gt_etrace_leave(v);
    gt_exec_calls_on_syscall(number, args);
}

static void report_end(struct gt_etrace *e, const struct gt_packet_sink_stats *stats)
{
    gt_support_sink_message_report(e->sink);
    if (stats->dropped)
        gt_host_message("%" PRIu64 " bytes were written, %" PRIu64 " bytes dropped", stats->sent,
                        stats->dropped);
    gt_support_forks_report();
    gt_exec_calls_report();
}

/* Returns how many buffers are left out, since a callback that uses them does not end. */
static unsigned submit_all(struct gt_etrace *e)
{
    unsigned left_out = 0;
    pthread_mutex_lock(&e->lock);
    for (struct gt_etrace_buffer *buf = e->buffers; buf; buf = buf->next) {
        if (buf->current && gt_gate_is_under_way(&buf->current->busy)) {
            left_out++;
            continue;
        }
        pthread_mutex_lock(&buf->lock);
        gt_etrace_buffer_settle(buf);
        gt_etrace_buffer_end_run(buf);
        if (buf->packets)
            gt_packet_sink_submit(e->sink, buf->packets);
        buf->packets = NULL;
        pthread_mutex_unlock(&buf->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return left_out;
}

void gt_etrace_on_shutdown(void *self)
{
    struct gt_etrace *e = self;
    gt_packet_sink_expect_end(e->sink);
}

void gt_etrace_on_exit(void *self)
{
    struct gt_etrace *e = self;
    const struct gt_gate_words words = {.first = &e->vcpus->busy,
                                        .stride = sizeof *e->vcpus,
                                        .n = __atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE)};
    gt_etrace_on_shutdown(e);
    if (gt_gate_end(&e->gate, &words) == GT_GATE_ENDED)
        return;
    gt_etrace_control_stop(e);
    gt_etrace_maps_stop(e);
    if (e->flags & GT_ETRACE_F_COVERAGE)
        gt_etrace_put_counts(e);
    gt_etrace_unreported_put(e);
    __atomic_store_n(&e->finished, true, __ATOMIC_RELEASE);
    unsigned left_out = submit_all(e);
    gt_gate_close(&e->gate);
    if (left_out)
        gt_host_message("%u vCPUs did not end their last packet: theirs are missing", left_out);
    struct gt_packet_sink_stats stats;
    gt_packet_sink_finish(e->sink, &stats);
    report_end(e, &stats);
    gt_support_tracing_finish();
}

/* ---- fork: the handlers get no pointer ------------------------------------------------------ */

static void before_fork(void)
{
    struct gt_etrace *e = gt_etrace_loaded();
    pthread_mutex_lock(&e->lock);
    gt_etrace_maps_fork_prepare(e);
    gt_packet_sink_fork_prepare(e->sink);
}

static void after_fork(void)
{
    struct gt_etrace *e = gt_etrace_loaded();
    gt_support_forks_add();
    gt_packet_sink_fork_parent(e->sink);
    gt_etrace_maps_fork_parent(e);
    pthread_mutex_unlock(&e->lock);
}

static void in_child(void)
{
    struct gt_etrace *e = gt_etrace_loaded();
    __atomic_store_n(&e->finished, true, __ATOMIC_RELEASE);
    e->gate.ends = true;
    e->gate.state = GT_GATE_CLOSED;
    gt_etrace_control_fork_child(e);
    gt_packet_sink_fork_child(e->sink);
    gt_etrace_maps_fork_child(e);
    pthread_mutex_unlock(&e->lock);
}

int gt_etrace_watch_forks(struct gt_etrace *e, const char *follow, struct gt_error *err)
{
    e->syscalls = e->host.system ? NULL : gt_arch_syscalls_by_target(e->host.target);
    const struct gt_exec_calls execs = {
        .sys = e->syscalls, .arch = e->insns, .output = follow, .follow = follow != NULL};
    int status = gt_exec_calls_begin(&execs, err);
    if (status < 0 || e->host.system)
        return status;
    return gt_support_forks_watch(before_fork, after_fork, in_child, err);
}
