/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System call numbers by target: see syscalls.h. */
#include "guest/arch/syscalls.h"

#include <stddef.h>
#include <string.h>

static const struct gt_syscalls tables[] = {
    {"x86_64", .rt_sigaction = 13, .rt_sigreturn = 15, .sigreturn = -1, .execve = 59,
     .execveat = 322, .exit = 60, .exit_group = 231, .mmap = 9, .munmap = 11, .prctl = 157,
     .clone = 56},
    {"aarch64", .rt_sigaction = 134, .rt_sigreturn = 139, .sigreturn = -1, .execve = 221,
     .execveat = 281, .exit = 93, .exit_group = 94, .mmap = 222, .munmap = 215, .prctl = 167,
     .clone = 220},
    {"riscv64", .rt_sigaction = 134, .rt_sigreturn = 139, .sigreturn = -1, .execve = 221,
     .execveat = 281, .exit = 93, .exit_group = 94, .mmap = 222, .munmap = 215, .prctl = 167,
     .clone = 220},
    {"i386", .rt_sigaction = 174, .rt_sigreturn = 173, .sigreturn = 119, .execve = 11,
     .execveat = 358, .exit = 1, .exit_group = 252, .mmap = 192, .munmap = 91, .prctl = 172,
     .clone = 120},
};

const struct gt_syscalls *gt_syscalls_by_target(const char *target)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i].target, target) == 0)
            return &tables[i];
    return NULL;
}
