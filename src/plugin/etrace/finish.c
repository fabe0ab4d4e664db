/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers handed over before they are full: a guest that waits, execve, the end. And fork. */
#include "base/clock.h"
#include "plugin/etrace/buffer.h"

#include "plugin/common/forks.h"
#include "plugin/common/tracing.h"

#include <inttypes.h>

enum { LIVE_NS = 1000000 }; /* a waiting guest hands a buffer over so often at most */

size_t gt_etrace_put_head(void *self, uint8_t *out)
{
    (void)self;
    struct gt_writer w;
    gt_writer_init(&w, out, GT_PACKET_SINK_TEXT);
    gt_etrace_put_info(&w, &(struct gt_etrace_info){0});
    gt_etrace_put_arch(&w, &gt_etrace.arch);
    unsigned number = (unsigned)__atomic_add_fetch(&gt_etrace.streams, 1, __ATOMIC_RELAXED);
    trace_etrace_stream(number);
    return (size_t)(w.at - out);
}

size_t gt_etrace_put_mark(void *self, uint64_t bytes, uint8_t *out)
{
    (void)self;
    struct gt_writer w;
    trace_etrace_dropped(bytes);
    gt_writer_init(&w, out, GT_PACKET_SINK_TEXT);
    gt_etrace_put_event(
        &w, &(struct gt_etrace_event){.value = bytes, .device = "etrace", .name = "dropped"});
    return (size_t)(w.at - out);
}

/* With the lane's lock. */
static void end_all(struct gt_etrace_lane *lane)
{
    gt_etrace_lane_settle(lane);
    gt_etrace_lane_end_run(lane);
    if (lane->current)
        gt_etrace_close(lane->current);
}

/* With the lane's lock. */
static void hand_over_all(struct gt_etrace_lane *lane)
{
    end_all(lane);
    if (lane->buffer)
        gt_etrace_lane_hand_over(lane);
}

/* For a reader that waits. A file has the same packets in every run. */
static void hand_over_live(struct gt_etrace_lane *lane)
{
    if (!gt_etrace.live)
        return;
    bool early = gt_clock_monotonic() - lane->handed < LIVE_NS;
    pthread_mutex_lock(&lane->lock);
    if (!gt_etrace_is_finished())
        end_all(lane);
    lane->waits = early && lane->buffer && lane->buffer->used;
    if (!gt_etrace_is_finished() && !early && lane->buffer)
        gt_etrace_lane_hand_over(lane);
    pthread_mutex_unlock(&lane->lock);
}

/* The calling thread's, where the vCPU ran on it last; else NULL. */
static struct gt_etrace_lane *lane_of(unsigned vcpu)
{
    struct gt_etrace_lane *lane = vcpu < GT_ETRACE_MAX_VCPUS ? gt_etrace.vcpus[vcpu].lane : NULL;
    return lane && lane == gt_etrace_own_lane() && !gt_etrace_is_finished() ? lane : NULL;
}

void gt_etrace_on_vcpu_idle(void *self, unsigned vcpu)
{
    (void)self;
    struct gt_etrace_lane *lane = lane_of(vcpu);
    if (lane)
        hand_over_live(lane);
}

/* It may wait long; or another process takes the place of this one, and nothing may be left behind
 * in its memory. */
void gt_etrace_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    (void)self;
    const struct gt_syscalls *sys = gt_etrace.syscalls;
    struct gt_etrace_lane *lane = lane_of(vcpu);
    if (sys && number == sys->mmap && vcpu < GT_ETRACE_MAX_VCPUS)
        gt_etrace_maps_on_mmap(&gt_etrace.vcpus[vcpu], args[1]);
    if (!lane)
        return;
    if (!sys || (number != sys->execve && number != sys->execveat)) {
        hand_over_live(lane);
        return;
    }
    pthread_mutex_lock(&lane->lock);
    hand_over_all(lane);
    pthread_mutex_unlock(&lane->lock);
    gt_packet_sink_flush(gt_etrace.outlet);
    gt_tracing_flush();
}

static void tell_end(const struct gt_packet_sink_stats *stats)
{
    gt_etrace_tell_news();
    if (stats->dropped)
        gt_host_message("%" PRIu64 " bytes were written, %" PRIu64 " bytes dropped", stats->sent,
                        stats->dropped);
    gt_forks_tell();
}

void gt_etrace_on_exit(void *self)
{
    (void)self;
    if (gt_etrace_is_finished())
        return;
    gt_etrace_control_stop();
    gt_etrace_maps_stop();
    if (gt_etrace.flags & GT_ETRACE_F_COVERAGE)
        gt_etrace_put_counts();
    if (__atomic_exchange_n(&gt_etrace.finished, true, __ATOMIC_ACQ_REL))
        return;
    pthread_mutex_lock(&gt_etrace.lock);
    for (struct gt_etrace_lane *lane = gt_etrace.lanes; lane; lane = lane->next) {
        pthread_mutex_lock(&lane->lock);
        gt_etrace_lane_settle(lane);
        gt_etrace_lane_end_run(lane);
        if (lane->buffer)
            gt_packet_sink_submit(gt_etrace.outlet, lane->buffer);
        lane->buffer = NULL;
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_unlock(&gt_etrace.lock);
    struct gt_packet_sink_stats stats;
    gt_packet_sink_finish(gt_etrace.outlet, &stats);
    tell_end(&stats);
    gt_tracing_finish();
}

static void before_fork(void)
{
    pthread_mutex_lock(&gt_etrace.lock);
    gt_etrace_maps_fork_prepare();
    gt_packet_sink_fork_prepare(gt_etrace.outlet);
}

static void after_fork(void)
{
    gt_forks_add();
    gt_packet_sink_fork_parent(gt_etrace.outlet);
    gt_etrace_maps_fork_parent();
    pthread_mutex_unlock(&gt_etrace.lock);
}

static void in_child(void)
{
    __atomic_store_n(&gt_etrace.finished, true, __ATOMIC_RELEASE);
    gt_packet_sink_fork_child(gt_etrace.outlet);
    gt_etrace_maps_fork_child();
    pthread_mutex_unlock(&gt_etrace.lock);
}

int gt_etrace_watch_forks(struct gt_error *err)
{
    gt_etrace.syscalls =
        gt_etrace.host.system ? NULL : gt_syscalls_by_target(gt_etrace.host.target);
    return gt_etrace.host.system ? 0 : gt_forks_watch(before_fork, after_fork, in_child, err);
}
