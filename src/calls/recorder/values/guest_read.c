/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a guest process: see guest_read.h. */
#include "calls/recorder/values/guest_read.h"
#include "calls/recorder/recorder.h"

#include <sys/uio.h>
#include <unistd.h>

bool gt_guest_read(const struct gt_uftrace_recorder *r, uint64_t addr, void *out, size_t n)
{
    struct iovec to = {out, n};
    struct iovec from = {(void *)(uintptr_t)(addr + r->code.modules.guest_base), n};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
}
