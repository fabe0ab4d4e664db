/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs that begin and end, whole lines that go out before they have to (a guest that waits, fork,
 * execve), and the end.
 */
#include "base/clock.h"
#include "base/membarrier.h"
#include "plugin/common/forks.h"
#include "plugin/common/round_robin.h"
#include "plugin/common/tracing.h"
#include "plugin/execlog/execlog.h"

#include <time.h>
#include <unistd.h>

enum { LIVE_NS = 1000000 }; /* a waiting guest's lines go to a reader so often at most */

static __thread struct gt_exlog_vcpu *ran; /* the vCPU whose system call came last */

/* Nothing of the guest has run: what cannot be watched ends QEMU, as a refused load does. */
static void find_registers(struct gt_exlog_vcpu *v)
{
    struct gt_error err = {0};
    if (!gt_exlog.register_globs || v->watched || gt_exlog_find_registers(v, &err))
        return;
    gt_host_message("%s", err.text);
    _exit(1);
}

/* The last vCPU that can come has come: cells stay where they are. With the lock. */
static void settle_cells(void)
{
    for (unsigned i = 0; i < gt_exlog.n_vcpus; i++)
        if (gt_exlog.vcpus[i].known)
            gt_exlog_set_started(&gt_exlog.vcpus[i], gt_cells_find(gt_exlog.cells, i));
    __atomic_store_n(&gt_exlog.cells_move, false, __ATOMIC_RELEASE);
}

void gt_exlog_on_vcpu_init(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= GT_EXLOG_MAX_VCPUS)
        return;
    struct gt_exlog_vcpu *v = &gt_exlog.vcpus[vcpu];
    if (gt_round_robin_check(&gt_exlog.host, "lines may be attributed to the wrong one"))
        __atomic_store_n(&gt_exlog.stores, false, __ATOMIC_RELEASE);
    if (!v->known) {
        v->index = vcpu;
        gt_exlog_set_started(v, &v->counted);
        v->known = gt_exlog.sink->begin(v);
    }
    if (gt_exlog.cells)
        gt_exlog_set_started(v, gt_cells_find(gt_exlog.cells, vcpu));
    if (v->known)
        find_registers(v);
    pthread_mutex_lock(&gt_exlog.lock);
    if (vcpu >= gt_exlog.n_vcpus)
        __atomic_store_n(&gt_exlog.n_vcpus, vcpu + 1, __ATOMIC_RELEASE);
    if (gt_exlog.cells && gt_exlog.host.system && gt_exlog.n_vcpus >= gt_exlog.host.max_vcpus)
        settle_cells();
    pthread_mutex_unlock(&gt_exlog.lock);
}

/* Nobody waits for a thread's lines; its newest one waits for the end. */
void gt_exlog_on_vcpu_exit(void *self, unsigned vcpu)
{
    (void)self;
    struct gt_exlog_vcpu *v = vcpu < GT_EXLOG_MAX_VCPUS ? &gt_exlog.vcpus[vcpu] : NULL;
    if (!v || !v->known || !gt_exlog_enter(v))
        return;
    gt_exlog_tell(v);
    gt_exlog.sink->hand_over(v);
    gt_exlog_leave(v);
}

/* A log is QEMU's to write, in its own order: it has all lines when the guest waits. A file has
 * them when they fill a buffer. */
static void hand_over(struct gt_exlog_vcpu *v)
{
    bool log = !gt_exlog.outlet;
    if (!v->known || !(log || gt_exlog.live) || !gt_exlog_enter(v))
        return;
    uint64_t time = log ? 0 : gt_clock_monotonic();
    if (log || time - v->handed >= LIVE_NS) {
        v->handed = time;
        gt_exlog_tell(v);
        gt_exlog.sink->hand_over(v);
    }
    gt_exlog_leave(v);
}

void gt_exlog_on_vcpu_idle(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu < GT_EXLOG_MAX_VCPUS)
        hand_over(&gt_exlog.vcpus[vcpu]);
}

/* Each vCPU's line under way, and what else is to be done with it. */
static void tell_all(void (*then)(struct gt_exlog_vcpu *))
{
    const unsigned n = __atomic_load_n(&gt_exlog.n_vcpus, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n; i++) {
        struct gt_exlog_vcpu *v = &gt_exlog.vcpus[i];
        if (!v->known)
            continue;
        gt_exlog_tell(v);
        then(v);
    }
}

static void hand_over_whole(struct gt_exlog_vcpu *v)
{
    if (gt_exlog.last)
        gt_exlog_last_tell(v);
    gt_exlog.sink->hand_over(v);
}

/* Another process may take the place of this one, and what is in its memory is lost. */
static void hand_over_all(void)
{
    if (!gt_exlog_shut(GT_EXLOG_HELD))
        return;
    tell_all(hand_over_whole);
    gt_exlog_reopen();
    if (gt_exlog.outlet)
        gt_packet_sink_flush(gt_exlog.outlet);
    gt_tracing_flush();
}

/* It may wait long. */
void gt_exlog_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    (void)self, (void)args;
    const struct gt_syscalls *sys = gt_exlog.syscalls;
    if (vcpu >= GT_EXLOG_MAX_VCPUS)
        return;
    ran = &gt_exlog.vcpus[vcpu];
    if (sys && (number == sys->execve || number == sys->execveat))
        hand_over_all();
    else
        hand_over(ran);
}

static void finish_outlet(void)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_finish(gt_exlog.outlet, &stats);
    gt_exlog_tell_news();
    if (stats.dropped)
        gt_host_message("%" PRIu64 " bytes were written, %" PRIu64 " bytes dropped", stats.sent,
                        stats.dropped);
}

void gt_exlog_on_exit(void *self)
{
    (void)self;
    if (!gt_exlog_shut(GT_EXLOG_CLOSED))
        return;
    tell_all(gt_exlog.sink->end);
    if (gt_exlog.outlet)
        finish_outlet();
    if (gt_exlog.cut_lines > 1)
        gt_host_message("%" PRIu64 " lines of more than %d KiB are cut", gt_exlog.cut_lines,
                        GT_EXLOG_BUFFER >> 10);
    gt_exlog_tell_missing();
    gt_forks_tell();
    gt_tracing_finish();
}

void gt_exlog_on_death(void)
{
    gt_exlog_on_exit(NULL);
}

static void before_fork(void)
{
    gt_exlog_gate_lock();
    pthread_mutex_lock(&gt_exlog.lock);
    if (gt_exlog.sink->fork_prepare)
        gt_exlog.sink->fork_prepare();
    if (gt_exlog.outlet)
        gt_packet_sink_fork_prepare(gt_exlog.outlet);
}

static void after_fork(void)
{
    if (gt_exlog.outlet) {
        gt_forks_add();
        gt_packet_sink_fork_parent(gt_exlog.outlet);
    }
    if (gt_exlog.sink->fork_done)
        gt_exlog.sink->fork_done();
    pthread_mutex_unlock(&gt_exlog.lock);
    gt_exlog_gate_unlock();
}

/* QEMU's log is the child's, too: its thread goes on; what the other threads had is the parent's.
 */
static void in_child(void)
{
    if (gt_exlog.outlet) {
        gt_exlog.gate = GT_EXLOG_CLOSED;
        gt_packet_sink_fork_child(gt_exlog.outlet);
    }
    if (gt_exlog.sink->fork_done)
        gt_exlog.sink->fork_done();
    for (unsigned i = 0; i < gt_exlog.n_vcpus; i++) {
        gt_exlog.vcpus[i].known &= &gt_exlog.vcpus[i] == ran;
        gt_exlog.vcpus[i].busy = 0;
    }
    pthread_mutex_unlock(&gt_exlog.lock);
    gt_exlog_gate_unlock();
}

int gt_exlog_init_gate(struct gt_error *err)
{
    gt_exlog.fences = !gt_membarrier_prepare();
    gt_exlog.syscalls = gt_exlog.host.system ? NULL : gt_syscalls_by_target(gt_exlog.host.target);
    return gt_exlog.host.system ? 0 : gt_forks_watch(before_fork, after_fork, in_child, err);
}
