/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user-mode guest does to itself: threads, signal handlers, fork, exec,
 * unmapping.
 *
 * fork() of a guest is one of the host: the handlers of pthread_atfork keep our threads and locks
 * whole, and the child takes up its own recording when the system call returns, where QEMU has put
 * itself in order.
 */
#include "plugin/uftrace/process.h"
#include "plugin/common/round_robin.h"
#include "plugin/common/tracing.h"
#include "plugin/uftrace/block_cache.h"
#include "plugin/uftrace/guest_read.h"
#include "plugin/uftrace/options.h"
#include "plugin/uftrace/output.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/vcpu.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static bool forked; /* in the child, until it is taken up */

/* The new thread's times begin where its maker's are. clock=auto: with the second thread, times
 * become the host's, and go on from where they are. */
static void before_thread(struct gt_vcpu *v, struct gt_cells *cells, uint64_t flags)
{
    if (!(flags & CLONE_VM) || flags & CLONE_VFORK)
        return;
    uint64_t now = gt_vcpu_time_after_block(v, cells);
    pthread_mutex_lock(&gt_rec.lock);
    gt_vcpu_note_time(now);
    if (gt_rec.clock == GT_CLOCK_AUTO && !gt_rec.host_clock) {
        gt_use_host_clock(0);
        gt_use_host_clock(now - gt_vcpu_time(v, cells));
    }
    pthread_mutex_unlock(&gt_rec.lock);
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
        gt_track_exec(&v->thread, gt_vcpu_time_after_block(v, cells));
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
        cells->mark =
            gt_track_sigreturn(&v->thread, cells->mark, gt_vcpu_time_after_block(v, cells));
    else if (number == sys->execve)
        before_exec(v, cells, may_exec((uint64_t)AT_FDCWD, args[0], 0));
    else if (number == sys->execveat)
        before_exec(v, cells, may_exec(args[0], args[1], args[4]));
    else if (number == sys->clone)
        before_thread(v, cells, args[0]);
    else if (number == sys->munmap || (number == sys->mmap && replaces_code(args[2], args[3])))
        on_unmap(args[0], args[1]);
    else if (number == sys->prctl && args[0] == PR_SET_NAME)
        on_name(v, args[1], gt_vcpu_time_after_block(v, cells));
    else if (number == sys->exit_group) {
        gt_rec.exit_status = (int)(args[0] & 0xff);
        gt_rec.has_exit_status = true;
        gt_output_keep_names();
    }
}

static void take_up_child(struct gt_vcpu *v, struct gt_cells *cells)
{
    uint32_t parent = gt_rec.pid;
    uint64_t time = gt_vcpu_time_after_block(v, cells);
    forked = false;
    gt_vcpus_forked();
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
        gt_track_exec_failed(&v->thread, gt_vcpu_time_after_block(v, cells));
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
    forked = gt_vcpu_current() != NULL;
    gt_streams_fork_child(gt_rec.streams);
    gt_worker_fork_child(gt_rec.worker);
    pthread_mutex_unlock(&gt_rec.tracker.lock);
    pthread_mutex_unlock(&gt_rec.lock);
}

bool gt_process_init(struct gt_error *err)
{
    int e = gt_rec.user ? pthread_atfork(fork_prepare, fork_parent, fork_child) : 0;
    if (e)
        gt_error_errno(err, e, "pthread_atfork");
    return e == 0;
}
