/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vCPUs begin and end, lines handed over early, fork, the end: see finish.h. */
#include "execlog/plugin/finish.h"

#include "base/clock.h"
#include "execlog/plugin/exec.h"
#include "execlog/plugin/recorder.h"
#include "qemu/support/exec_calls.h"
#include "qemu/support/execs.h"
#include "qemu/support/messages.h"
#include "qemu/support/tracing.h"

#include <inttypes.h>
#include <unistd.h>

enum { LIVE_NS = 1000000 /* a waiting guest hands over to a reader at most this often */ };

static __thread struct gt_exlog_vcpu *in_syscall; /* the vCPU whose system call came last */
static __thread struct gt_packet_sink *in_exec;   /* of the thread's execve; NULL: none */

/* Nothing of the guest has run: a register that cannot be watched ends QEMU, as a refused load
 * does. */
static void find_registers(struct gt_exlog *e, struct gt_exlog_vcpu *v)
{
    struct gt_error err = {0};
    if (!e->registers.globs || v->watched || gt_exlog_find_registers(v, &err) == 0)
        return;
    gt_host_message("%s", err.text);
    _exit(1);
}

/* The last vCPU that can come has come: the scoreboard does not move any more. With the lock. */
static void settle_scoreboard(struct gt_exlog *e)
{
    for (unsigned i = 0; i < e->n_vcpus; i++)
        if (e->vcpus[i].known)
            gt_exlog_set_started(&e->vcpus[i], gt_host_scoreboard_find(e->scoreboard, i));
    __atomic_store_n(&e->scoreboard_moves, false, __ATOMIC_RELEASE);
}

void gt_exlog_on_vcpu_init(void *self, unsigned vcpu)
{
    struct gt_exlog *e = self;
    if (vcpu >= GT_EXLOG_MAX_VCPUS)
        return;
    struct gt_exlog_vcpu *v = &e->vcpus[vcpu];
    v->recorder = e;
    if (gt_host_vcpus_correct(&e->host, vcpu, "lines may be attributed to the wrong one") !=
        GT_VCPUS_RIGHT)
        __atomic_store_n(&e->stores, false, __ATOMIC_RELEASE);
    if (!v->known) {
        v->index = vcpu;
        gt_exlog_set_started(v, &v->counted);
        v->known = e->sink->begin(v);
    }
    if (e->scoreboard)
        gt_exlog_set_started(v, gt_host_scoreboard_find(e->scoreboard, vcpu));
    if (v->known)
        find_registers(e, v);
    pthread_mutex_lock(&e->lock);
    if (vcpu >= e->n_vcpus)
        __atomic_store_n(&e->n_vcpus, vcpu + 1, __ATOMIC_RELEASE);
    if (e->scoreboard && e->host.system && e->n_vcpus >= e->host.max_vcpus)
        settle_scoreboard(e);
    pthread_mutex_unlock(&e->lock);
}

/* A thread's lines are not waited for; its newest one waits for the end. */
void gt_exlog_on_vcpu_exit(void *self, unsigned vcpu)
{
    struct gt_exlog *e = self;
    struct gt_exlog_vcpu *v = vcpu < GT_EXLOG_MAX_VCPUS ? &e->vcpus[vcpu] : NULL;
    if (!v || !v->known || !gt_exlog_enter(e, v))
        return;
    gt_exlog_deliver(e, v);
    e->sink->hand_over(v);
    gt_exlog_leave(v);
}

/* QEMU writes its log in its own order: it gets all lines when the guest waits. A file gets them
 * when they fill a buffer. */
static void hand_over(struct gt_exlog *e, struct gt_exlog_vcpu *v)
{
    bool log = !e->packet_sink;
    if (!v->known || !(log || e->live) || !gt_exlog_enter(e, v))
        return;
    uint64_t time = log ? 0 : gt_base_clock_monotonic();
    if (log || time - v->handed >= LIVE_NS) {
        v->handed = time;
        gt_exlog_deliver(e, v);
        e->sink->hand_over(v);
    }
    gt_exlog_leave(v);
}

void gt_exlog_on_vcpu_idle(void *self, unsigned vcpu)
{
    struct gt_exlog *e = self;
    if (vcpu < GT_EXLOG_MAX_VCPUS)
        hand_over(e, &e->vcpus[vcpu]);
}

/* Delivers what each vCPU has under way, then calls `then` with it. Returns how many vCPUs are left
 * out, since a callback of theirs does not end. */
static unsigned deliver_all(struct gt_exlog *e, void (*then)(struct gt_exlog_vcpu *))
{
    const unsigned n = __atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE);
    unsigned left_out = 0;
    for (unsigned i = 0; i < n; i++) {
        struct gt_exlog_vcpu *v = &e->vcpus[i];
        if (!v->known)
            continue;
        if (gt_gate_is_under_way(&v->busy)) {
            left_out++;
            continue;
        }
        gt_exlog_deliver(e, v);
        then(v);
    }
    return left_out;
}

static void hand_over_whole(struct gt_exlog_vcpu *v)
{
    struct gt_exlog *e = v->recorder;
    if (e->last.lines)
        gt_exlog_last_deliver(v);
    e->sink->hand_over(v);
}

/* Another process may take the place of this one: the lines in its memory are lost. */
static void hand_over_all(struct gt_exlog *e)
{
    struct gt_packet_sink *sink = e->packet_sink;
    if (!gt_exlog_hold(e))
        return;
    if (sink)
        gt_packet_sink_exec_begin(sink);
    in_exec = sink;
    deliver_all(e, hand_over_whole);
    gt_gate_open(&e->gate);
    if (sink) {
        gt_packet_sink_flush(sink);
        gt_support_sink_message_report(sink);
    }
    gt_support_tracing_flush();
}

/* The thread's execve has failed: it returned, or a signal had QEMU begin it again. */
static void go_on(void)
{
    if (in_exec)
        gt_packet_sink_exec_end(in_exec);
    in_exec = NULL;
}

/* The guest may wait long. */
void gt_exlog_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    struct gt_exlog *e = self;
    const struct gt_arch_syscalls *sys = e->syscalls;
    if (sys && number == sys->exit_group)
        gt_host_program_ends();
    if (vcpu >= GT_EXLOG_MAX_VCPUS)
        return;
    go_on();
    in_syscall = &e->vcpus[vcpu];
    if (sys && (number == sys->execve || number == sys->execveat))
        hand_over_all(e);
    else
        hand_over(e, in_syscall);
    gt_exec_calls_on_syscall(number, args);
}

void gt_exlog_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    (void)self, (void)vcpu, (void)number, (void)result;
    go_on();
    gt_exec_calls_on_return();
}

static void finish_packet_sink(struct gt_packet_sink *sink)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_finish(sink, &stats);
    gt_support_sink_message_report(sink);
    if (stats.dropped)
        gt_host_message("%" PRIu64 " bytes were written, %" PRIu64 " bytes dropped", stats.sent,
                        stats.dropped);
}

void gt_exlog_on_shutdown(void *self)
{
    struct gt_exlog *e = self;
    if (e->packet_sink)
        gt_packet_sink_expect_end(e->packet_sink);
}

void gt_exlog_on_exit(void *self)
{
    struct gt_exlog *e = self;
    const struct gt_gate_words words = gt_exlog_words(e);
    gt_exlog_on_shutdown(e);
    if (gt_gate_end(&e->gate, &words) == GT_GATE_ENDED)
        return;
    unsigned left_out = deliver_all(e, e->sink->end);
    gt_gate_close(&e->gate);
    if (e->packet_sink)
        finish_packet_sink(e->packet_sink);
    if (left_out)
        gt_host_message("%u vCPUs did not end their last line: theirs are missing", left_out);
    if (e->cut_lines > 1)
        gt_host_message("%" PRIu64 " lines of more than %d KiB are cut", e->cut_lines,
                        GT_EXLOG_BUFFER >> 10);
    if (!gt_execs_is_child()) /* who began it knows what it asked for */
        gt_exlog_report_missing(e);
    gt_support_forks_report();
    gt_exec_calls_report();
    gt_support_tracing_finish();
}

/* ---- callbacks that get no pointer ---------------------------------------------------------- */

void gt_exlog_on_abnormal_exit(int sig)
{
    (void)sig;
    gt_exlog_on_exit(gt_exlog_loaded());
}

static void before_fork(void)
{
    struct gt_exlog *e = gt_exlog_loaded();
    gt_gate_lock(&e->gate);
    pthread_mutex_lock(&e->lock);
    if (e->sink->fork_prepare)
        e->sink->fork_prepare(e);
    if (e->packet_sink)
        gt_packet_sink_fork_prepare(e->packet_sink);
}

static void unlock_after_fork(struct gt_exlog *e)
{
    if (e->sink->fork_done)
        e->sink->fork_done(e);
    pthread_mutex_unlock(&e->lock);
    gt_gate_unlock(&e->gate);
}

static void after_fork(void)
{
    struct gt_exlog *e = gt_exlog_loaded();
    if (e->packet_sink) {
        gt_support_forks_add();
        gt_packet_sink_fork_parent(e->packet_sink);
    }
    unlock_after_fork(e);
}

/* QEMU's log is the child's, too: its thread continues to write; what the other threads had is the
 * parent's. */
static void in_child(void)
{
    struct gt_exlog *e = gt_exlog_loaded();
    if (e->packet_sink) {
        e->gate.ends = true;
        e->gate.state = GT_GATE_CLOSED;
        in_exec = NULL;
        gt_packet_sink_fork_child(e->packet_sink);
    }
    for (unsigned i = 0; i < e->n_vcpus; i++) {
        e->vcpus[i].known &= &e->vcpus[i] == in_syscall;
        e->vcpus[i].busy = 0;
    }
    unlock_after_fork(e);
}

int gt_exlog_watch_forks(struct gt_exlog *e, const char *follow, struct gt_error *err)
{
    e->syscalls = e->host.system ? NULL : gt_arch_syscalls_by_target(e->host.target);
    const struct gt_exec_calls execs = {
        .sys = e->syscalls, .arch = e->insns, .output = follow, .follow = follow != NULL};
    int status = gt_exec_calls_begin(&execs, err);
    if (status < 0 || e->host.system)
        return status;
    return gt_support_forks_watch(before_fork, after_fork, in_child, err);
}
