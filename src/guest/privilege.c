/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privilege levels, one row an architecture: see privilege.h. */
#include "guest/privilege.h"

#include <stddef.h>
#include <string.h>

/* CPSR: bit 4 says that the rest is a 32 bit mode, else bits 3:2 are the level. */
static unsigned level_aarch64(const uint64_t *r)
{
    enum { USER = 0x10, MONITOR = 0x16, HYPERVISOR = 0x1a };
    if (!(r[0] & 0x10))
        return r[0] >> 2 & 3;
    switch (r[0] & 0x1f) {
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

/* 2 is reserved. */
static unsigned level_riscv(const uint64_t *r)
{
    unsigned priv = r[0] & 3;
    return priv == 2 ? 1 : priv;
}

/* CS holds the ring, but in real mode (CR0.PE is clear) and in virtual 8086 mode (EFLAGS.VM). */
static unsigned level_x86(const uint64_t *r)
{
    enum { REAL_MODE = 4 };
    if (!(r[1] & 1))
        return REAL_MODE;
    return r[2] >> 17 & 1 ? 3 : r[0] & 3;
}

static const struct gt_privilege known[] = {
    {"aarch64", {"cpsr"}, {"EL0", "EL1", "EL2", "EL3"}, 0, level_aarch64},
    {"riscv64", {"priv"}, {"U", "S", NULL, "M"}, 0, level_riscv},
    {"i386",
     {"cs", "cr0", "eflags"},
     {"Ring0", "Ring1", "Ring2", "Ring3", "RealMode"},
     3,
     level_x86},
    {"x86_64",
     {"cs", "cr0", "eflags"},
     {"Ring0", "Ring1", "Ring2", "Ring3", "RealMode"},
     3,
     level_x86},
};

const struct gt_privilege *gt_privilege_by_arch(const char *arch)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].arch, arch) == 0)
            return &known[i];
    return NULL;
}
