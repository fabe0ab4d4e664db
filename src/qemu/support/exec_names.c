/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of executed programs: see exec_names.h. */
#include "qemu/support/exec_names.h"

#include "qemu/support/execs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    const struct gt_syscalls *sys; /* NULL: nothing is named */
    pid_t only;                    /* the process; 0: each one's */
    uint64_t base;                 /* a host address minus the guest's */
    bool has_base;                 /* atomic */
} state;

static __thread char executing[256]; /* "": nothing */

void gt_exec_names_begin(const struct gt_syscalls *sys, bool children)
{
    state.sys = sys;
    state.only = children ? 0 : getpid();
}

void gt_exec_names_translated(const struct gt_block *block)
{
    if (!state.sys || __atomic_load_n(&state.has_base, __ATOMIC_ACQUIRE))
        return;
    const void *host = gt_insn_host_addr(gt_block_insn(block, 0));
    if (!host)
        return;
    __atomic_store_n(&state.base, (uint64_t)(uintptr_t)host - gt_block_pc(block), __ATOMIC_RELAXED);
    __atomic_store_n(&state.has_base, true, __ATOMIC_RELEASE);
}

static bool read_guest(const void *self, uint64_t addr, void *out, size_t n)
{
    (void)self;
    struct iovec to = {out, n}, from = {(void *)(uintptr_t)(addr + state.base), n};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
}

void gt_exec_names_on_syscall(int64_t number, const uint64_t args[8])
{
    struct gt_exec_call call = {.dir = AT_FDCWD, .path = args[0]};
    executing[0] = '\0';
    if (!state.sys || (number != state.sys->execve && number != state.sys->execveat) ||
        !__atomic_load_n(&state.has_base, __ATOMIC_ACQUIRE) ||
        (state.only && state.only != getpid()))
        return;
    if (number == state.sys->execveat)
        call = (struct gt_exec_call){.dir = (int)args[0], .path = args[1], .flags = (int)args[4]};
    struct gt_exec e = gt_execs_look(&call, &(struct gt_exec_memory){.read = read_guest});
    if (e.kind != GT_EXEC_NONE) {
        snprintf(executing, sizeof executing, "%s", e.name);
        gt_host_message("the program went on as %s outside QEMU: that is not recorded", executing);
    }
    gt_execs_clear(&e);
}

void gt_exec_names_on_return(void)
{
    if (!executing[0])
        return;
    gt_host_message("%s was not executed: the recording goes on", executing);
    executing[0] = '\0';
}
