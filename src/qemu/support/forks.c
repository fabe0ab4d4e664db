/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forked processes: see forks.h. The processes share a page with their count. */
#include "qemu/support/forks.h"

#include "qemu/host.h"

#include <pthread.h>
#include <sys/mman.h>

static unsigned *count; /* atomic; NULL: a machine, or not begun */

int gt_forks_watch(void (*before)(void), void (*parent)(void), void (*child)(void),
                   struct gt_error *err)
{
    void *page =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    count = page;
    int e = pthread_atfork(before, parent, child);
    return e ? gt_error_errno(err, e, "pthread_atfork") : 0;
}

void gt_forks_add(void)
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

void gt_forks_report(void)
{
    unsigned n = count ? __atomic_load_n(count, __ATOMIC_RELAXED) : 0;
    if (n == 1)
        gt_host_message("1 forked process of the guest is not recorded");
    else if (n)
        gt_host_message("%u forked processes of the guest are not recorded", n);
}
