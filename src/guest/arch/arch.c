/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of architectures, and the one of system calls: a new one is a file of its own and a row
 * in each. */
#include "guest/arch/arch.h"

#include <stddef.h>
#include <string.h>

static const struct gt_arch *const arches[] = {
    &gt_arch_aarch64,
    &gt_arch_i386,
    &gt_arch_riscv64,
    &gt_arch_x86_64,
};

const struct gt_arch *gt_arch_at(size_t index)
{
    return index < sizeof arches / sizeof arches[0] ? arches[index] : NULL;
}

const struct gt_arch *gt_arch_by_target(const char *qemu_target)
{
    for (size_t i = 0; gt_arch_at(i); i++)
        for (const char *const *n = gt_arch_at(i)->qemu_names; *n; n++)
            if (strcmp(*n, qemu_target) == 0)
                return gt_arch_at(i);
    return NULL;
}

const struct gt_arch *gt_arch_by_elf(uint16_t e_machine, unsigned bits)
{
    for (size_t i = 0; gt_arch_at(i); i++)
        if (gt_arch_at(i)->e_machine == e_machine && gt_arch_at(i)->bits == bits)
            return gt_arch_at(i);
    return NULL;
}

bool gt_arch_push_is(const struct gt_arch_push *push, uint64_t addr)
{
    enum { PARAGRAPH = 16, SEGMENTS = 0x100000 };
    uint64_t base = addr - push->value;
    if (push->width == 2)
        return base < SEGMENTS && base % PARAGRAPH == 0;
    return push->width != 0 && base == 0;
}

const char *gt_arch_insn_kind_name(enum gt_arch_insn_kind kind)
{
    static const char *const names[] = {
        [GT_INSN_OTHER] = "other",
        [GT_INSN_CALL] = "call",
        [GT_INSN_CALL_INDIRECT] = "indirect call",
        [GT_INSN_RETURN] = "return",
        [GT_INSN_JUMP] = "jump",
        [GT_INSN_BRANCH] = "branch",
        [GT_INSN_JUMP_INDIRECT] = "indirect jump",
        [GT_INSN_EXCEPTION_RETURN] = "exception return",
        [GT_INSN_SYSCALL] = "system call",
        [GT_INSN_TRAP] = "trap",
        [GT_INSN_STACK_SWITCH] = "stack switch",
        [GT_INSN_VECTOR_WRITE] = "vector write",
    };
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

static const struct gt_arch_syscalls tables[] = {
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

const struct gt_arch_syscalls *gt_arch_syscalls_by_target(const char *target)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i].target, target) == 0)
            return &tables[i];
    return NULL;
}
