/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of the Linux system calls that affect a guest's control flow, by target. Source: the
 * kernel's unistd tables (asm-generic for aarch64 and riscv64).
 */
#ifndef GT_GUEST_ARCH_SYSCALLS_H
#define GT_GUEST_ARCH_SYSCALLS_H

#include <stdint.h>

struct gt_syscalls {
    const char *target;                            /* QEMU's target name */
    int16_t rt_sigaction, rt_sigreturn, sigreturn; /* -1: the target has no such call */
    int16_t execve, execveat, exit, exit_group;
    int16_t mmap, munmap, clone, prctl;
};

/* NULL: the target is unknown. */
const struct gt_syscalls *gt_syscalls_by_target(const char *target);

#endif
