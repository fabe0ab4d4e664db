/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user-mode guest's changes to its process: threads, signal handlers, fork, exec, unmapping.
 *
 * A guest's fork() is one of the host: the handlers of pthread_atfork keep our threads and locks
 * consistent, and the child begins its own recording when the system call returns, after QEMU's own
 * work for the fork.
 */
#include "calls/recorder/run/process.h"
#include "base/root.h"
#include "base/thread.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/options.h"
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/output/users.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/control.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/values/arguments.h"
#include "qemu/support/execs.h"
#include "qemu/support/gate.h"
#include "qemu/support/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* clock=auto: with the second thread the host's clock is used, and times continue from the present
 * one. */
static void before_thread(struct gt_vcpu *v, struct gt_recorder_score *score, uint64_t flags)
{
    struct gt_recorder *r = v->rec;
    if (!(flags & CLONE_VM) || flags & CLONE_VFORK)
        return;
    uint64_t now = gt_run_vcpu_time_after_block(v, score);
    pthread_mutex_lock(&r->lock);
    gt_run_vcpu_note_time(r, now);
    if (r->options.clock == GT_CLOCK_AUTO && !r->hot.host_clock) {
        gt_run_use_host_clock(r, 0);
        gt_run_use_host_clock(r, now - gt_run_vcpu_time(v, score));
    }
    if (!r->hot.host_clock)
        gt_run_clones_before(v, now);
    pthread_mutex_unlock(&r->lock);
}

/* struct sigaction begins with the handler in all of the kernel's layouts. */
static void on_sigaction(struct gt_recorder *r, uint64_t act)
{
    uint64_t handler = 0;
    if (act == 0 || !gt_recorder_guest_read(r, act, &handler, r->guest.arch->bits / 8) ||
        handler <= 1)
        return;
    pthread_mutex_lock(&r->lock);
    gt_support_modules_at(&r->code.modules, handler,
                          (void *)(uintptr_t)(handler + r->code.modules.guest_base));
    struct gt_track_func *fn = gt_support_modules_handler(&r->code.modules, handler);
    if (fn)
        gt_run_code_is_handler(r, fn);
    gt_recorder_handlers_note(&r->handlers, handler);
    pthread_mutex_unlock(&r->lock);
}

/* False where execve cannot succeed: a shell that searches PATH tries many files that do not exist.
 */
static bool may_exec(const struct gt_recorder *r, uint64_t dir, uint64_t path, uint64_t flags)
{
    char name[4096];
    for (size_t n = 0; n < sizeof name; n++) {
        if (!gt_recorder_guest_read(r, path + n, &name[n], 1))
            return false;
        if (name[n] == '\0')
            return (flags & AT_EMPTY_PATH && n == 0) ||
                   faccessat((int)dir, name, X_OK, AT_EACCESS) == 0;
    }
    return true;
}

/* The new program begins where the files end. */
static void flush_before_exec(const struct gt_recorder *r)
{
    gt_streams_flush(r->output.streams);
    gt_support_tracing_flush();
}

/* Of a program that is about to execute another one. */
struct ending {
    struct gt_recorder *rec;
    const char
        *outside; /* the other one, if it is not recorded; "": it records itself; else NULL */
    struct gt_recorder_meta_running running;
};

/* Errors are not the guest's: lines that are not written are missing, as after a kill. */
static void put_texts(void *arg)
{
    const struct ending *ending = arg;
    struct gt_recorder *r = ending->rec;
    gt_recorder_output_run_failed(r, NULL);
    gt_recorder_meta_put_map(r, NULL);
    for (guint i = 0; i < r->code.modules.all->len; i++) {
        struct gt_support_module *m = g_ptr_array_index(r->code.modules.all, i);
        if (m->entered->len)
            gt_recorder_meta_put_symbols(r, m, NULL);
    }
    gt_recorder_arguments_write(r, NULL);
    gt_recorder_handlers_write(r, NULL);
    gt_recorder_open_calls_write(r, NULL);
    gt_recorder_meta_put_stats_of_exec(r, &ending->running, ending->outside, NULL);
}

static void take_stats_back(void *arg)
{
    gt_recorder_meta_take_back_stats(arg, NULL);
}

/* What vCPUs have counted so far. */
static struct gt_recorder_meta_running count_running(struct gt_recorder *r)
{
    const bool filtered = gt_select_filters_current(&r->filters) != NULL;
    struct gt_recorder_meta_running c = {.counters[GT_COUNT_BEYOND_DEPTH] =
                                             r->totals.selected.beyond};
    pthread_mutex_lock(&r->lock);
    c.recorded = gt_select_filters_recorded(r);
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        const struct gt_vcpu *v = &r->hot.vcpu[i];
        if (!v->rec || !v->begun)
            continue;
        c.tracked += v->thread.calls;
        c.recorded += filtered ? 0 : v->thread.calls - v->thread.unrecorded;
        c.matched += v->thread.matched;
        for (int k = 0; k < GT_COUNTERS; k++)
            c.counters[k] += v->thread.counters[k];
    }
    if (filtered)
        gt_select_filtered_running(r, &c.recorded, &c.counters[GT_COUNT_BEYOND_DEPTH]);
    pthread_mutex_unlock(&r->lock);
    return c;
}

/* The last chance to write the records of the program that ends here. */
static void write_before_exec(struct gt_recorder *r, const char *outside)
{
    struct ending ending = {r, outside, {0}};
    flush_before_exec(r);
    if (!r->output.started)
        return;
    ending.running = count_running(r);
    gt_run_blocks_collect_entered(r);
    gt_thread_worker_call(r->output.worker, put_texts, &ending);
}

/* Programs that its children have executed: only the first process can report them at the end. */
static void report_outside(const struct gt_recorder *r)
{
    if (r->process.first)
        gt_execs_report();
}

static bool read_memory(const void *self, uint64_t addr, void *out, size_t n)
{
    return gt_recorder_guest_read(self, addr, out, n);
}

static struct gt_exec look_at_exec(const struct gt_recorder *r, const struct gt_exec_call *call)
{
    const struct gt_exec_memory memory = {.read = read_memory,
                                          .self = r,
                                          .e_machine = r->guest.arch->e_machine,
                                          .word = r->guest.arch->bits / 8,
                                          .child = !r->process.first};
    return may_exec(r, (uint64_t)(int64_t)call->dir, call->path, (uint64_t)call->flags)
               ? gt_execs_look(call, &memory)
               : (struct gt_exec){.kind = GT_EXEC_NONE};
}

static void before_exec(struct gt_vcpu *v, struct gt_recorder_score *score,
                        const struct gt_exec_call *call)
{
    struct gt_recorder *r = v->rec;
    struct gt_exec e = look_at_exec(r, call);
    v->exec_outside = false;
    if (e.kind == GT_EXEC_NONE) {
        flush_before_exec(r);
        return;
    }
    gt_track_exec(&v->thread, gt_run_vcpu_time_after_block(v, score));
    v->in_exec = true;
    if (e.kind == GT_EXEC_OUTSIDE) {
        v->thread.counters[GT_COUNT_OUTSIDE]++;
        v->exec_outside = true;
    }
    report_outside(r);
    if (v->exec_outside && !r->process.first) /* what that executes stands in the statistics */
        gt_execs_outside(&e);
    write_before_exec(r, e.kind == GT_EXEC_OUTSIDE   ? e.name
                         : e.kind == GT_EXEC_RECORDS ? ""
                                                     : NULL);
    if (e.kind == GT_EXEC_FOLLOW)
        gt_execs_run(&e);
    gt_execs_clear(&e);
}

static void after_failed_exec(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    struct gt_recorder *r = v->rec;
    v->in_exec = false;
    gt_track_exec_failed(&v->thread, gt_run_vcpu_time_after_block(v, score));
    if (r->output.started)
        gt_thread_worker_call(r->output.worker, take_stats_back, r);
    if (!v->exec_outside)
        return;
    v->exec_outside = false;
    v->thread.counters[GT_COUNT_OUTSIDE]--;
    if (!r->process.first)
        gt_execs_failed();
}

static bool replaces_code(uint64_t prot, uint64_t flags)
{
    return prot & PROT_EXEC && flags & MAP_FIXED;
}

/* What an mmap is about to do; its result is the address. */
static void before_mmap(struct gt_vcpu *v, uint64_t size, uint64_t flags)
{
    v->mapping = size;
    v->maps_anon = flags & MAP_ANONYMOUS;
}

static void after_mmap(struct gt_vcpu *v, int64_t result)
{
    struct gt_recorder *r = v->rec;
    uint64_t size = v->mapping;
    v->mapping = 0;
    if (size == 0 || (result < 0 && result > -4096))
        return;
    pthread_mutex_lock(&r->lock);
    gt_support_modules_mapped(&r->code.modules, (uint64_t)result, size, v->maps_anon);
    pthread_mutex_unlock(&r->lock);
}

static void on_unmap(struct gt_recorder *r, uint64_t lo, uint64_t size)
{
    pthread_mutex_lock(&r->lock);
    gt_support_modules_unmapped(&r->code.modules, lo, size);
    pthread_mutex_unlock(&r->lock);
}

static void on_name(struct gt_vcpu *v, uint64_t addr, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    char name[16] = "";
    for (size_t i = 0; i < sizeof name - 1; i++)
        if (!gt_recorder_guest_read(r, addr + i, &name[i], 1) || !name[i])
            break;
    if (gt_recorder_output_name(v, name, true, time))
        gt_select_filtered_name(&gt_recorder_task_of(v->thread.stack)->filtered, v->name,
                                r->process.pid);
}

static void on_thread_exit(struct gt_vcpu *v, uint64_t status)
{
    v->exits = true;
    v->exit_status = (int)(status & 0xff);
}

static void on_exit_group(struct gt_recorder *r, uint64_t status)
{
    r->process.exit_status = (int)(status & 0xff);
    r->process.has_exit_status = true;
    gt_recorder_output_keep_names(r);
}

/* What changes a vCPU that has begun and is followed. */
static void on_followed(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t number,
                        const uint64_t args[8])
{
    struct gt_recorder *r = v->rec;
    const struct gt_arch_syscalls *sys = r->guest.syscalls;
    if (number == sys->rt_sigreturn || number == sys->sigreturn)
        score->last_exit = gt_track_sigreturn(&v->thread, score->last_exit,
                                              gt_run_vcpu_time_after_block(v, score));
    else if (number == sys->execve)
        before_exec(v, score,
                    &(struct gt_exec_call){
                        .dir = AT_FDCWD, .path = args[0], .argv = args[1], .envp = args[2]});
    else if (number == sys->execveat)
        before_exec(v, score,
                    &(struct gt_exec_call){.dir = (int)args[0],
                                           .path = args[1],
                                           .argv = args[2],
                                           .envp = args[3],
                                           .flags = (int)args[4]});
}

static void before_syscall(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t number,
                           const uint64_t args[8])
{
    struct gt_recorder *r = v->rec;
    const struct gt_arch_syscalls *sys = r->guest.syscalls;
    if (number == sys->mmap)
        before_mmap(v, args[1], args[3]);
    if (number == sys->rt_sigaction)
        on_sigaction(r, args[1]);
    else if (number == sys->clone)
        before_thread(v, score, args[0]);
    else if (number == sys->munmap || (number == sys->mmap && replaces_code(args[2], args[3])))
        on_unmap(r, args[0], args[1]);
    else if (number == sys->prctl && args[0] == PR_SET_NAME && v->begun)
        on_name(v, args[1], gt_run_vcpu_time_after_block(v, score));
    else if (number == sys->exit)
        on_thread_exit(v, args[0]);
    else if (number == sys->exit_group)
        on_exit_group(r, args[0]);
    else if (v->begun && !gt_select_dormant_is_asleep(r))
        on_followed(v, score, number, args);
    else if (number == sys->execve || number == sys->execveat)
        flush_before_exec(r);
}

/* A recorder that sleeps has to know the process: its code, its threads and its children. */
void gt_run_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    struct gt_recorder *r = self;
    if (!r->guest.syscalls || vcpu >= r->hot.max_vcpus)
        return;
    if (number == r->guest.syscalls->exit_group) {
        gt_select_dormant_end(r); /* a change waits for other threads */
        gt_host_program_ends();
    }
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    if (number == r->guest.syscalls->clone)
        gt_select_dormant_settle(r);
    gt_select_dormant_lock(r);
    bool asleep = gt_select_dormant_is_asleep(r);
    if (asleep && !v->begun && !v->refused && number == r->guest.syscalls->clone)
        gt_run_vcpu_begin(v, score, NULL); /* a child is one of a process that has begun */
    v->in_syscall = true;
    if (r->options.system_calls && v->begun && !asleep)
        gt_run_system_call(v, score, number, args);
    if (v->begun || asleep)
        before_syscall(v, score, number, args);
    gt_select_dormant_unlock(r);
    gt_vcpu_leave(v);
}

static void take_root_back(struct gt_vcpu *v)
{
    if (!v || !v->lends_root)
        return;
    close(v->lent_root);
    v->lends_root = false;
    gt_thread_root = -1;
}

static void take_up_child(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    struct gt_recorder *r = v->rec;
    uint32_t parent = r->process.pid;
    uint64_t time = gt_run_vcpu_time_after_block(v, score);
    r->process.forked = false;
    gt_run_vcpus_forked(v);
    v->tid = (uint32_t)gettid();
    v->name[0] = '\0';
    gt_recorder_output_forked(r, parent);
    gt_select_filtered_forked(r);
    gt_recorder_users_forked(v);
    if (v->lends_root)
        gt_streams_begin(r->output.streams);
    take_root_back(v);
    gt_track_forked(&v->thread, time);
}

static void after_thread(struct gt_vcpu *v, int64_t result)
{
    pthread_mutex_lock(&v->rec->lock);
    gt_run_clones_after(v, result);
    pthread_mutex_unlock(&v->rec->lock);
}

static void after_syscall(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t result)
{
    struct gt_recorder *r = v->rec;
    if (r->process.forked)
        take_up_child(v, score);
    else if (v->in_fork)
        gt_recorder_users_after_fork(v, result);
    if (v->mapping)
        after_mmap(v, result);
    if (v->in_exec)
        after_failed_exec(v, score);
}

static void on_syscall_return(struct gt_recorder *r, unsigned vcpu, int64_t result)
{
    if (vcpu >= r->hot.max_vcpus)
        return;
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    gt_select_dormant_lock(r);
    v->in_syscall = false;
    if (v->clones)
        after_thread(v, result);
    if (v->begun)
        after_syscall(v, score, result);
    else if (v->mapping)
        after_mmap(v, result);
    if (r->options.system_calls)
        gt_run_system_call_return(v, score, result);
    if (v->halted)
        gt_run_vcpu_stop_following(v, score);
    v->halted = false;
    gt_select_dormant_unlock(r);
    gt_vcpu_leave(v);
    gt_select_dormant_look(r);
}

void gt_run_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    (void)number;
    on_syscall_return(self, vcpu, result);
    take_root_back(gt_run_vcpu_current(self)); /* of a child that is not recorded, too */
}

static void fork_prepare(void)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_run_vcpu_current(r);
    if (v) {
        v->lent_root = gt_base_root_lend(r->output.worker);
        v->lends_root = v->lent_root >= 0;
    }
    gt_gate_lock(&r->gate);
    gt_select_dormant_lock(r);
    pthread_mutex_lock(&r->lock);
    gt_recorder_users_before_fork(r, v);
    pthread_mutex_lock(&r->tracker.lock);
    pthread_mutex_lock(&r->filters.lock);
    gt_thread_worker_fork_prepare(r->output.worker);
    gt_streams_fork_prepare(r->output.streams);
    gt_recorder_snapshots_fork_prepare(r);
    gt_recorder_parts_fork_prepare(r);
}

static void fork_parent(void)
{
    struct gt_recorder *r = gt_recorder_installed();
    gt_recorder_parts_fork_parent(r);
    gt_recorder_snapshots_fork_parent(r);
    gt_streams_fork_parent(r->output.streams);
    gt_thread_worker_fork_parent(r->output.worker);
    pthread_mutex_unlock(&r->filters.lock);
    pthread_mutex_unlock(&r->tracker.lock);
    pthread_mutex_unlock(&r->lock);
    gt_select_dormant_unlock(r);
    gt_gate_unlock(&r->gate);
    take_root_back(gt_run_vcpu_current(r));
}

static void fork_child(void)
{
    struct gt_recorder *r = gt_recorder_installed();
    const struct gt_vcpu *v = gt_run_vcpu_current(r);
    gt_thread_root = v && v->lends_root ? v->lent_root : -1;
    r->process.forked = v != NULL;
    gt_run_control_fork_child(r);
    gt_support_messages_fork_child(&r->messages);
    gt_recorder_parts_fork_child(r);
    gt_recorder_snapshots_fork_child(r);
    gt_streams_fork_child(r->output.streams);
    gt_recorder_users_fork_child(r);
    gt_thread_worker_fork_child(r->output.worker);
    pthread_mutex_unlock(&r->filters.lock);
    pthread_mutex_unlock(&r->tracker.lock);
    pthread_mutex_unlock(&r->lock);
    gt_select_dormant_forked(r);
    gt_select_dormant_unlock(r);
    gt_gate_unlock(&r->gate);
}

int gt_run_process_watch_forks(struct gt_error *err)
{
    gt_base_root_note();
    int e = pthread_atfork(fork_prepare, fork_parent, fork_child);
    return e ? gt_error_errno(err, e, "pthread_atfork") : 0;
}
