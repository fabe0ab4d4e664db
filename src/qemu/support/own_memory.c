/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads of the process's own memory: see own_memory.h. */
#include "qemu/support/own_memory.h"

#include <errno.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

/* Asked for once, as getpid() is a system call too. A guest's fork is QEMU's call of fork(), also
 * for vfork and clone, so that this handler runs before anything of the child's: hooks of system
 * calls come later, and not in every tool. QEMU refuses a fork into another PID namespace; a child
 * in one that unshare() has made has its own number by the handler. */
static pid_t own; /* 0: no handler */

static void in_child(void)
{
    own = getpid();
}

__attribute__((constructor)) static void begin(void)
{
    if (pthread_atfork(NULL, NULL, in_child) == 0)
        own = getpid();
}

int gt_support_own_memory_read(uint64_t at, void *out, size_t n)
{
    struct iovec to = {out, n}, from = {(void *)(uintptr_t)at, n};
    ssize_t got = process_vm_readv(own ? own : getpid(), &to, 1, &from, 1, 0);
    if (got < 0)
        return errno;
    return (size_t)got == n ? 0 : EFAULT;
}
