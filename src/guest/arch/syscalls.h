/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux system call numbers that say something about a guest's control flow, by target. Source: the
 * kernel's unistd tables (asm-generic for aarch64 and riscv64).
 */
#ifndef GT_GUEST_ARCH_SYSCALLS_H
#define GT_GUEST_ARCH_SYSCALLS_H

#include <stdint.h>

struct gt_syscalls {
    const char *target;                            /* QEMU's target name */
    int16_t rt_sigaction, rt_sigreturn, sigreturn; /* -1: there is none */
    int16_t execve, execveat, exit_group;
    int16_t mmap, munmap, clone, prctl;
};

/* NULL: a target that is not known. */
const struct gt_syscalls *gt_syscalls_by_target(const char *target);

#endif
