/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs, and what a user-mode guest does to itself: threads, signal handlers, fork, exec,
 * unmapping.
 *
 * fork() of a guest is one of the host: the handlers of pthread_atfork keep our threads and locks
 * whole, and the child takes up its own recording when the system call returns, where QEMU has put
 * itself in order.
 */
#include "plugin/common/round_robin.h"
#include "plugin/common/tracing.h"
#include "plugin/uftrace/uftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static __thread struct gt_vcpu *current;
static bool forked; /* in the child, until it is taken up */

uint64_t gt_process_time(void)
{
    if (!current)
        return gt_rec.last_time;
    return gt_vcpu_time(current, gt_vcpu_cells(current, (unsigned)(current - gt_rec.vcpus)));
}

static void note_time(uint64_t time)
{
    if (time > gt_rec.last_time)
        gt_rec.last_time = time;
}

/* The time in a system call: hosts without cells count a block when the next one begins. */
static uint64_t time_after_block(const struct gt_vcpu *v, const struct gt_cells *cells)
{
    return gt_vcpu_time(v, cells) + (gt_rec.host_clock ? 0 : v->block_insns);
}

/* The new thread's times begin where its maker's are. clock=auto: with the second thread, times
 * become the host's, and go on from where they are. */
static void before_thread(struct gt_vcpu *v, struct gt_cells *cells, uint64_t flags)
{
    if (!(flags & CLONE_VM) || flags & CLONE_VFORK)
        return;
    uint64_t now = time_after_block(v, cells);
    pthread_mutex_lock(&gt_rec.lock);
    note_time(now);
    if (gt_rec.clock == GT_CLOCK_AUTO && !gt_rec.host_clock) {
        gt_use_host_clock(0);
        gt_use_host_clock(now - gt_vcpu_time(v, cells));
    }
    pthread_mutex_unlock(&gt_rec.lock);
}

/* The stack of a vCPU that is not recorded: there is never room, so that no landing is plain. */
static struct gt_stream no_stream;
static struct gt_stack no_stack = {.out = &no_stream};

void gt_vcpu_refuse(struct gt_vcpu *v)
{
    v->refused = true;
    v->thread.stack = &no_stack;
}

/* Before anything is translated: what works without cells does. */
static void give_cells_up(void)
{
    gt_rec.score = NULL;
    for (unsigned i = 0; i < gt_rec.n_vcpus; i++)
        gt_rec.vcpus[i].cells = NULL;
}

void gt_on_vcpu_init(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= gt_rec.max_vcpus) {
        __atomic_fetch_add(&gt_rec.tasks_refused, 1, __ATOMIC_RELAXED);
        return;
    }
    bool no_cells = gt_one_thread_check(&gt_rec.host, "calls are told of the wrong one");
    pthread_mutex_lock(&gt_rec.lock);
    if (no_cells)
        give_cells_up();
    if (vcpu >= gt_rec.n_vcpus)
        __atomic_store_n(&gt_rec.n_vcpus, vcpu + 1, __ATOMIC_RELAXED);
    if (!gt_rec.user && gt_rec.n_vcpus >= gt_rec.host.max_vcpus)
        __atomic_store_n(&gt_rec.cells_stay, true, __ATOMIC_RELAXED);
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    cells->mark = 0;
    v->block_insns = 0;
    v->name[0] = v->last_name[0] = '\0';
    v->refused = false;
    v->thread.stack = &no_stack;
    v->thread.attention = gt_rec.host_clock ? GT_ATTENTION_CLOCK : 0;
    v->insn_base = gt_rec.last_time + 1 - cells->insns;
    pthread_mutex_unlock(&gt_rec.lock);
}

void gt_vcpu_begin(struct gt_vcpu *v, struct gt_cells *cells, const struct gt_code *code)
{
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    pthread_once(&started, gt_output_start);
    v->tid = gt_rec.user ? (uint32_t)gettid() : (uint32_t)(v - gt_rec.vcpus) + 1;
    if (gt_rec.privilege_levels)
        gt_levels_begin(v, code);
    uint64_t time = gt_vcpu_time(v, cells);
    v->begun = gt_thread_init(&v->thread, &gt_rec.tracker, time);
    if (!v->begun)
        gt_vcpu_refuse(v);
    current = v;
}

/* Threads that record their own end; `closed`: the recording's end comes first. */
static struct {
    unsigned n;
    bool closed;
    pthread_cond_t none;
} ending = {.none = PTHREAD_COND_INITIALIZER};

/* True for the one caller that is to end the vCPU's calls: its thread, or the end of all. */
static bool take_end(struct gt_vcpu *v)
{
    pthread_mutex_lock(&gt_rec.lock);
    bool mine = v->begun && !ending.closed;
    v->begun &= !mine;
    ending.n += mine;
    pthread_mutex_unlock(&gt_rec.lock);
    return mine;
}

void gt_vcpus_close(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&gt_rec.lock);
    ending.closed = true;
    while (ending.n > 0 && pthread_cond_timedwait(&ending.none, &gt_rec.lock, &until) == 0)
        ;
    pthread_mutex_unlock(&gt_rec.lock);
}

void gt_vcpu_end(struct gt_vcpu *v, struct gt_cells *cells)
{
    if (!take_end(v))
        return;
    uint64_t time = time_after_block(v, cells);
    if (v->levels)
        gt_levels_end(v, time);
    gt_thread_finish(&v->thread, time);
    v->thread.stack = &no_stack;
    if (gt_rec.user)
        gt_output_name(v, NULL, time);
    pthread_mutex_lock(&gt_rec.lock);
    note_time(time);
    gt_rec.calls += v->thread.calls;
    gt_rec.matched += v->thread.matched;
    for (int i = 0; i < GT_DOUBT_COUNT; i++)
        gt_rec.doubts[i] += v->thread.doubts[i];
    if (--ending.n == 0)
        pthread_cond_signal(&ending.none);
    pthread_mutex_unlock(&gt_rec.lock);
}

void gt_on_vcpu_exit(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= gt_rec.max_vcpus)
        return;
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    gt_vcpu_end(v, gt_vcpu_cells(v, vcpu));
    if (current == v)
        current = NULL;
}

bool gt_guest_read(uint64_t addr, void *out, size_t n)
{
    struct iovec to = {out, n};
    struct iovec from = {(void *)(uintptr_t)(addr + gt_rec.modules.guest_base), n};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
}

/* struct sigaction begins with the handler in all of the kernel's layouts. */
static void on_sigaction(uint64_t act)
{
    uint64_t handler = 0;
    if (act == 0 || !gt_guest_read(act, &handler, gt_rec.arch->bits / 8) || handler <= 1)
        return;
    pthread_mutex_lock(&gt_rec.lock);
    gt_modules_at(&gt_rec.modules, handler,
                  (void *)(uintptr_t)(handler + gt_rec.modules.guest_base));
    struct gt_func *fn = gt_modules_handler(&gt_rec.modules, handler);
    if (fn)
        gt_code_is_handler(fn);
    pthread_mutex_unlock(&gt_rec.lock);
}

/* False where it cannot succeed: a shell that looks through PATH tries many that do not exist. */
static bool may_exec(uint64_t dir, uint64_t path, uint64_t flags)
{
    char name[4096];
    for (size_t n = 0; n < sizeof name; n++) {
        if (!gt_guest_read(path + n, &name[n], 1))
            return false;
        if (name[n] == '\0')
            return (flags & AT_EMPTY_PATH && n == 0) ||
                   faccessat((int)dir, name, X_OK, AT_EACCESS) == 0;
    }
    return true;
}

static void before_exec(struct gt_vcpu *v, struct gt_cells *cells, bool may)
{
    if (may)
        gt_track_exec(&v->thread, time_after_block(v, cells));
    v->in_exec = may;
    gt_streams_flush(gt_rec.streams);
    gt_tracing_flush();
}

static bool replaces_code(uint64_t prot, uint64_t flags)
{
    return prot & PROT_EXEC && flags & MAP_FIXED;
}

/* What an mmap is about to do; where, its result says. */
static void before_mmap(struct gt_vcpu *v, uint64_t size, uint64_t flags)
{
    v->mapping = size;
    v->maps_anon = flags & MAP_ANONYMOUS;
}

static void after_mmap(struct gt_vcpu *v, int64_t result)
{
    uint64_t size = v->mapping;
    v->mapping = 0;
    if (size == 0 || (result < 0 && result > -4096))
        return;
    pthread_mutex_lock(&gt_rec.lock);
    gt_modules_mapped(&gt_rec.modules, (uint64_t)result, size, v->maps_anon);
    pthread_mutex_unlock(&gt_rec.lock);
}

static void on_unmap(uint64_t lo, uint64_t size)
{
    pthread_mutex_lock(&gt_rec.lock);
    gt_modules_unmapped(&gt_rec.modules, lo, size);
    pthread_mutex_unlock(&gt_rec.lock);
}

static void on_name(struct gt_vcpu *v, uint64_t addr, uint64_t time)
{
    char name[16] = "";
    for (size_t i = 0; i < sizeof name - 1; i++)
        if (!gt_guest_read(addr + i, &name[i], 1) || !name[i])
            break;
    gt_output_name(v, name, time);
}

void gt_on_syscall(void *self, unsigned vcpu, int64_t number, const uint64_t args[8])
{
    (void)self;
    const struct gt_syscalls *sys = gt_rec.syscalls;
    if (!sys || vcpu >= gt_rec.max_vcpus)
        return;
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    if (!v->begun)
        return;
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    if (number == sys->mmap)
        before_mmap(v, args[1], args[3]);
    if (number == sys->rt_sigaction)
        on_sigaction(args[1]);
    else if (number == sys->rt_sigreturn || number == sys->sigreturn)
        cells->mark = gt_track_sigreturn(&v->thread, cells->mark, time_after_block(v, cells));
    else if (number == sys->execve)
        before_exec(v, cells, may_exec((uint64_t)AT_FDCWD, args[0], 0));
    else if (number == sys->execveat)
        before_exec(v, cells, may_exec(args[0], args[1], args[4]));
    else if (number == sys->clone)
        before_thread(v, cells, args[0]);
    else if (number == sys->munmap || (number == sys->mmap && replaces_code(args[2], args[3])))
        on_unmap(args[0], args[1]);
    else if (number == sys->prctl && args[0] == PR_SET_NAME)
        on_name(v, args[1], time_after_block(v, cells));
    else if (number == sys->exit_group) {
        gt_rec.exit_status = (int)(args[0] & 0xff);
        gt_rec.has_exit_status = true;
        gt_output_keep_names();
    }
}

static void take_up_child(struct gt_vcpu *v, struct gt_cells *cells)
{
    uint32_t parent = gt_rec.pid;
    uint64_t time = time_after_block(v, cells);
    forked = false;
    ending.n = 0; /* those are the parent's */
    for (unsigned i = 0; i < gt_rec.n_vcpus; i++)
        if (&gt_rec.vcpus[i] != v)
            gt_rec.vcpus[i].begun = false;
    v->tid = (uint32_t)gettid();
    v->name[0] = '\0';
    gt_output_forked(parent, time);
    gt_track_forked(&v->thread, time);
}

void gt_on_syscall_return(void *self, unsigned vcpu, int64_t number, int64_t result)
{
    (void)self, (void)number;
    if (vcpu >= gt_rec.max_vcpus || !gt_rec.vcpus[vcpu].begun)
        return;
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    if (forked)
        take_up_child(v, cells);
    if (v->mapping)
        after_mmap(v, result);
    if (v->in_exec) {
        v->in_exec = false;
        gt_track_exec_failed(&v->thread, time_after_block(v, cells));
    }
}

static void fork_prepare(void)
{
    pthread_mutex_lock(&gt_rec.lock);
    pthread_mutex_lock(&gt_rec.tracker.lock);
    gt_worker_fork_prepare(gt_rec.worker);
    gt_streams_fork_prepare(gt_rec.streams);
}

static void fork_parent(void)
{
    gt_streams_fork_parent(gt_rec.streams);
    gt_worker_fork_parent(gt_rec.worker);
    pthread_mutex_unlock(&gt_rec.tracker.lock);
    pthread_mutex_unlock(&gt_rec.lock);
}

static void fork_child(void)
{
    forked = current != NULL;
    gt_streams_fork_child(gt_rec.streams);
    gt_worker_fork_child(gt_rec.worker);
    pthread_mutex_unlock(&gt_rec.tracker.lock);
    pthread_mutex_unlock(&gt_rec.lock);
}

uint64_t gt_vcpu_expects(void)
{
    if (!current || !current->begun)
        return GT_NO_ADDR;
    uint64_t mark = gt_vcpu_cells(current, (unsigned)(current - gt_rec.vcpus))->mark;
    if (!(mark & GT_MARK_CODE))
        return GT_NO_ADDR;
    const struct gt_code *from = gt_mark_code(mark);
    return from->exit == GT_EXIT_CALL ? from->target : GT_NO_ADDR;
}

bool gt_process_init(struct gt_error *err)
{
    int e = gt_rec.user ? pthread_atfork(fork_prepare, fork_parent, fork_child) : 0;
    if (e)
        gt_error_errno(err, e, "pthread_atfork");
    return e == 0;
}
