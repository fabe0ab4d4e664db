/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of privilege levels, a row for each architecture: see privilege.h. */
#include "guest/arch/privilege.h"

#include <stddef.h>
#include <string.h>

/* CPSR: bit 4 says that the rest is a 32 bit mode, else bits 3:2 are the level. */
static unsigned exception_level(uint64_t cpsr)
{
    enum { USER = 0x10, MONITOR = 0x16, HYPERVISOR = 0x1a };
    if (!(cpsr & 0x10))
        return cpsr >> 2 & 3;
    switch (cpsr & 0x1f) {
    case USER:
        return 0;
    case MONITOR:
        return 3;
    case HYPERVISOR:
        return 2;
    default:
        return 1;
    }
}

/* SCR_EL3: NS is bit 0, NSE (with FEAT_RME) bit 62. NSE without NS is Root, where EL3 alone runs.
 */
static enum gt_arch_privilege_world world_aarch64(uint64_t scr)
{
    if (!(scr & 1))
        return GT_WORLD_SECURE;
    return scr >> 62 & 1 ? GT_WORLD_REALM : GT_WORLD_NONSECURE;
}

unsigned gt_arch_privilege_in_world(unsigned level, enum gt_arch_privilege_world world)
{
    unsigned el = level & 3;
    return el == 3 ? el : (unsigned)world << 2 | el;
}

static unsigned level_aarch64(const uint64_t *r)
{
    return gt_arch_privilege_in_world(exception_level(r[0]), world_aarch64(r[1]));
}

/* QEMU's register has the level in bits 1:0 (2 is reserved), as in the debug specification, and
 * from 9.2 on the virtual mode in bit 2. M is never virtual. */
static unsigned level_riscv(const uint64_t *r)
{
    enum { RESERVED = 2, SUPERVISOR = 1, MACHINE = 3, VIRTUAL = 4 };
    unsigned level = r[0] & 3;
    if (level == RESERVED)
        level = SUPERVISOR;
    return level == MACHINE ? level : level | (r[0] & VIRTUAL);
}

/* CS holds the ring, but in real mode (CR0.PE is clear) and in virtual 8086 mode (EFLAGS.VM). SS
 * holds it, too; just after real mode both may still hold anything, and the ring is 0. */
static unsigned level_x86(const uint64_t *r)
{
    enum { REAL_MODE = 4 };
    if (!(r[1] & 1))
        return REAL_MODE;
    return r[2] >> 17 & 1 ? 3 : r[0] & r[3] & 3;
}

#define X86_LEVELS                                                                                 \
    .registers = {{"cs"}, {"cr0"}, {"eflags"}, {"ss"}},                                            \
    .names = {"Ring0", "Ring1", "Ring2", "Ring3", "RealMode"}, .rank = {3, 2, 1, 0, 3},            \
    .level = level_x86

static const struct gt_arch_privilege known[] = {
    {.arch = "aarch64",
     .registers = {{"cpsr"}, {"SCR_EL3", .may_lack = true, .if_lacks = 1}},
     .names = {"NS-EL0", "NS-EL1", "NS-EL2", "EL3", "S-EL0", "S-EL1", "S-EL2", NULL, "R-EL0",
               "R-EL1", "R-EL2"},
     .rank = {0, 1, 2, 3, 0, 1, 2, 0, 0, 1, 2},
     .level = level_aarch64,
     .world_register = "SCR_EL3",
     .world = world_aarch64},
    {.arch = "riscv64",
     .registers = {{"priv"}},
     .names = {"U", "S", NULL, "M", "VU", "VS"},
     .rank = {0, 2, 0, 3, 0, 1},
     .level = level_riscv},
    {.arch = "i386", X86_LEVELS},
    {.arch = "x86_64", X86_LEVELS},
};

const struct gt_arch_privilege *gt_arch_privilege_by_arch(const char *arch)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].arch, arch) == 0)
            return &known[i];
    return NULL;
}
