/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that execute programs: see exec_calls.h. */
#include "qemu/support/exec_calls.h"

#include "qemu/host.h"
#include "qemu/support/execs.h"
#include "qemu/support/guest_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    struct gt_exec_calls given;
    pid_t pid;     /* of the process at load */
    uint64_t base; /* a host address minus the guest's */
    bool has_base; /* atomic */
} state;

static __thread struct {
    char name[256]; /* "": nothing */
    bool counted;   /* by gt_execs_outside */
} executing;

int gt_exec_calls_begin(const struct gt_exec_calls *given, struct gt_error *err)
{
    state.given = *given;
    state.pid = getpid();
    return given->sys ? gt_execs_init(given->follow && given->arch, given->output, err) : 0;
}

void gt_exec_calls_translated(const struct gt_host_block *block)
{
    if (!state.given.sys || __atomic_load_n(&state.has_base, __ATOMIC_ACQUIRE))
        return;
    const void *host = gt_host_insn_host_addr(gt_host_block_insn(block, 0));
    if (!host)
        return;
    __atomic_store_n(&state.base, (uint64_t)(uintptr_t)host - gt_host_block_pc(block),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&state.has_base, true, __ATOMIC_RELEASE);
}

static bool read_guest(const void *self, uint64_t addr, void *out, size_t n)
{
    (void)self;
    return gt_support_own_memory_read(addr + state.base, out, n) == 0;
}

static bool is_forked(void)
{
    return getpid() != state.pid;
}

/* The counts so far: if the process is replaced, no other one reports them. */
static void report_so_far(void)
{
    if (is_forked())
        return;
    gt_support_forks_report();
    gt_execs_report();
}

/* A forked process that is not recorded goes on as nothing. */
static void note_outside(const struct gt_exec *e)
{
    bool counts = is_forked() && !state.given.children;
    if (counts && !state.given.follow)
        return;
    snprintf(executing.name, sizeof executing.name, "%s", e->name);
    executing.counted = counts;
    report_so_far();
    if (counts)
        gt_execs_outside(e);
    else
        gt_host_message("the program went on as %s outside QEMU: that is not recorded", e->name);
}

/* Returns where it was not possible. */
static void follow(struct gt_exec *e)
{
    report_so_far();
    if (is_forked())
        gt_support_forks_executed(1);
    gt_execs_run(e);
    if (is_forked())
        gt_support_forks_executed(-1);
}

static struct gt_exec look(int64_t number, const uint64_t args[8])
{
    const struct gt_exec_memory memory = {.read = read_guest,
                                          .e_machine =
                                              state.given.arch ? state.given.arch->e_machine : 0,
                                          .word = state.given.arch ? state.given.arch->bits / 8 : 8,
                                          .child = is_forked() || gt_execs_is_child()};
    struct gt_exec_call call = {.dir = AT_FDCWD, .path = args[0], .argv = args[1], .envp = args[2]};
    if (number == state.given.sys->execveat)
        call = (struct gt_exec_call){.dir = (int)args[0],
                                     .path = args[1],
                                     .argv = args[2],
                                     .envp = args[3],
                                     .flags = (int)args[4]};
    return gt_execs_look(&call, &memory);
}

void gt_exec_calls_on_syscall(int64_t number, const uint64_t args[8])
{
    const struct gt_arch_syscalls *sys = state.given.sys;
    executing.name[0] = '\0';
    if (!sys || (number != sys->execve && number != sys->execveat) ||
        !__atomic_load_n(&state.has_base, __ATOMIC_ACQUIRE))
        return;
    struct gt_exec e = look(number, args);
    if (e.kind == GT_EXEC_FOLLOW)
        follow(&e);
    if (e.kind == GT_EXEC_OUTSIDE)
        note_outside(&e);
    gt_execs_clear(&e);
}

void gt_exec_calls_on_return(void)
{
    if (!executing.name[0])
        return;
    if (executing.counted)
        gt_execs_failed();
    else
        gt_host_message("%s was not executed: the recording goes on", executing.name);
    executing.name[0] = '\0';
}

void gt_exec_calls_report(void)
{
    if (!is_forked())
        gt_execs_report();
}

/* Forked processes. They share a page with their count. */

static struct counts {
    unsigned forks;
    int executed;
} * counts; /* atomic; NULL: a machine, or not begun */

int gt_support_forks_watch(void (*before)(void), void (*parent)(void), void (*child)(void),
                           struct gt_error *err)
{
    void *page =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    counts = page;
    int e = pthread_atfork(before, parent, child);
    return e ? gt_error_errno(err, e, "pthread_atfork") : 0;
}

void gt_support_forks_add(void)
{
    __atomic_fetch_add(&counts->forks, 1, __ATOMIC_RELAXED);
}

void gt_support_forks_executed(int more)
{
    if (counts)
        __atomic_fetch_add(&counts->executed, more, __ATOMIC_RELAXED);
}

void gt_support_forks_report(void)
{
    unsigned n = counts ? __atomic_exchange_n(&counts->forks, 0, __ATOMIC_RELAXED) : 0;
    int executed = counts ? __atomic_exchange_n(&counts->executed, 0, __ATOMIC_RELAXED) : 0;
    if (n && executed > 0)
        gt_host_message("%u forked process%s of the guest %s not recorded; the programs that %d of "
                        "them executed are",
                        n, n == 1 ? "" : "es", n == 1 ? "is" : "are", executed);
    else if (n)
        gt_host_message("%u forked process%s of the guest %s not recorded", n, n == 1 ? "" : "es",
                        n == 1 ? "is" : "are");
}
