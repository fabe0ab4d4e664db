/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fences on all processors: see membarrier.h. */
#include "base/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool gt_membarrier_exists(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

bool gt_membarrier_prepare(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool gt_membarrier(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
