/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's memory: see guest_memory.h. */
#include "qemu/support/guest_memory.h"
#include "base/bytes.h"
#include "base/page.h"
#include "guest/arch/riscv64_pages.h"
#include "qemu/host.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- this process's ------------------------------------------------------------------------- */

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

/* ---- a machine's ---------------------------------------------------------------------------- */

enum { SUPERVISOR = 1 }; /* QEMU's register `priv`; in a virtual machine it has bit 2 */

static bool read_u64(void *self, uint64_t physical, uint64_t *out)
{
    uint8_t bytes[8];
    struct gt_bytes_reader r;
    (void)self;
    if (!gt_host_memory_read_physical(physical, bytes, sizeof bytes))
        return false;
    gt_bytes_reader_init(&r, bytes, sizeof bytes);
    *out = gt_bytes_read_u64(&r);
    return true;
}

/* The program's pages, from its kernel. */
static bool read_user(uint64_t addr, uint8_t *out, size_t n)
{
    static struct gt_host_register priv, satp; /* the first vCPU's: all are of one type */
    uint64_t level, root, physical;
    if (!gt_host_can(GT_HOST_PHYSICAL_MEMORY) || !gt_host_register_read(&priv, "priv", &level) ||
        level != SUPERVISOR || !gt_host_register_read(&satp, "satp", &root))
        return false;
    while (n) {
        size_t part = GT_PAGE - (size_t)(addr % GT_PAGE);
        part = part < n ? part : n;
        if (!gt_arch_riscv64_user_page(root, addr, read_u64, NULL, &physical) ||
            !gt_host_memory_read_physical(physical, out, part))
            return false;
        addr += part;
        out += part;
        n -= part;
    }
    return true;
}

bool gt_support_guest_memory_read(const struct gt_arch *arch, const uint64_t *base, uint64_t addr,
                                  void *out, size_t n)
{
    if (!gt_host_can(GT_HOST_MEMORY))
        return base && gt_support_own_memory_read(addr + *base, out, n) == 0;
    if (gt_host_memory_read(addr, out, n))
        return true;
    return strcmp(arch->name, "riscv64") == 0 && read_user(addr, out, n);
}
