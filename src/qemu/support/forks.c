/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forked processes: see forks.h. The processes share a page with their count. */
#include "qemu/support/forks.h"

#include "qemu/host.h"

#include <pthread.h>
#include <sys/mman.h>

static struct counts {
    unsigned forks;
    int executed;
} * counts; /* atomic; NULL: a machine, or not begun */

int gt_forks_watch(void (*before)(void), void (*parent)(void), void (*child)(void),
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

void gt_forks_add(void)
{
    __atomic_fetch_add(&counts->forks, 1, __ATOMIC_RELAXED);
}

void gt_forks_executed(int more)
{
    if (counts)
        __atomic_fetch_add(&counts->executed, more, __ATOMIC_RELAXED);
}

void gt_forks_report(void)
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
