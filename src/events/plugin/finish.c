/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of a program, fork, and the end: see recorder.h. */
#include "events/library/text/text.h"
#include "events/plugin/recorder.h"
#include "qemu/support/exec_calls.h"
#include "qemu/support/execs.h"
#include "qemu/support/tracing.h"

#include <guesttrace/control.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread uint64_t mapping; /* bytes of the mmap() that the thread is in; 0: in none */
static __thread bool cloning;

static void unmapped(struct gt_points *p, uint64_t lo, uint64_t size)
{
    pthread_mutex_lock(&p->lock);
    gt_support_modules_unmapped(&p->modules, lo, size);
    pthread_mutex_unlock(&p->lock);
}

void gt_points_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    struct gt_points *p = self;
    const struct gt_arch_syscalls *sys = p->syscalls;
    if (sys && number == sys->exit_group)
        gt_host_program_ends();
    gt_points_states_refresh(p, vcpu);
    if (!sys)
        return;
    mapping = number == sys->mmap ? args[1] : 0;
    cloning = number == sys->clone;
    if (cloning)
        gt_points_states_clone(p);
    if (number == sys->munmap || (number == sys->mmap && args[3] & MAP_FIXED))
        unmapped(p, args[0], args[1]);
    if (number == sys->execve || number == sys->execveat)
        gt_support_tracing_flush();
    gt_exec_calls_on_syscall(number, args);
}

void gt_points_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    struct gt_points *p = self;
    (void)number;
    gt_exec_calls_on_return();
    if (mapping && (uint64_t)result < (uint64_t)-4095) {
        pthread_mutex_lock(&p->lock);
        gt_support_modules_mapped(&p->modules, (uint64_t)result, mapping, false);
        pthread_mutex_unlock(&p->lock);
    }
    if (cloning && result < 0)
        gt_points_states_clone_failed(p);
    mapping = 0;
    cloning = false;
    gt_points_states_refresh(p, vcpu);
}

static void report_log(const struct gt_points *p)
{
    struct gt_trace_error err;
    (void)p;
    if (gt_trace_log_flush(&err) < 0)
        gt_host_message("%s", err.text);
    if (gt_trace_file_flush(&err) < 0)
        gt_host_message("%s", err.text);
}

/* False: it was done before. */
static bool end_callbacks(struct gt_points *p)
{
    const struct gt_gate_words words = {.first = &p->busy->word,
                                        .stride = sizeof *p->busy,
                                        .n = MIN(p->states.vcpus, GT_POINTS_MAX_VCPUS)};
    return gt_gate_end(&p->gate, &words) != GT_GATE_ENDED;
}

void gt_points_on_exit(void *self)
{
    struct gt_points *p = self;
    gt_points_console_end(p);
    if (!end_callbacks(p))
        return;
    report_log(p);
    gt_support_tracing_finish();
    gt_gate_close(&p->gate);
    if (getpid() != p->pid)
        return;
    pthread_mutex_lock(&p->lock);
    if (!gt_execs_is_child()) /* who began it knows what it asked for */
        gt_points_report(p);
    pthread_mutex_unlock(&p->lock);
}

void gt_points_on_abnormal_exit(int sig)
{
    (void)sig;
    struct gt_points *p = gt_points_loaded();
    if (!end_callbacks(p))
        return;
    gt_support_tracing_finish();
    gt_gate_close(&p->gate);
}

/* ---- fork: the child's events go to a file of its own, which the library makes -------------- */

static void before_fork(void)
{
    struct gt_points *p = gt_points_loaded();
    gt_gate_lock(&p->gate);
    pthread_mutex_lock(&p->lock);
    gt_thread_worker_fork_prepare(p->worker);
}

static void after_fork(void)
{
    struct gt_points *p = gt_points_loaded();
    gt_thread_worker_fork_parent(p->worker);
    pthread_mutex_unlock(&p->lock);
    gt_gate_unlock(&p->gate);
    if (cloning) /* no thread has begun */
        gt_points_states_clone_failed(p);
    cloning = false;
}

static void in_child(void)
{
    struct gt_points *p = gt_points_loaded();
    gt_thread_worker_fork_child(p->worker);
    p->log_is_open = false;
    gt_events_ftrace_forget();
    cloning = false;
    gt_points_states_fork_child(p);
    pthread_mutex_unlock(&p->lock);
    gt_gate_unlock(&p->gate);
}

int gt_points_watch_forks(struct gt_error *err)
{
    int e = pthread_atfork(before_fork, after_fork, in_child);
    return e ? gt_error_errno(err, e, "pthread_atfork") : 0;
}
