/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of virtual machines, a row for each architecture: see virtual.h. */
#include "guest/arch/virtual.h"

#include <string.h>

static uint32_t word_at(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The exception level of CPSR or SPSR; 32 bit modes above the user's count as EL1. */
static unsigned level_of(uint64_t status)
{
    return status & 0x10 ? (status & 0xf) != 0 : status >> 2 & 3;
}

/* HCR_EL2: VM is bit 0. VTTBR_EL2 without the VMID is the address of the machine's second tables,
 * VMPIDR_EL2 the number of its vCPU. */
static enum gt_arch_virtual_target target_aarch64(const uint64_t *r, struct gt_arch_virtual_id *id)
{
    if (level_of(r[1]) != 2 || level_of(r[2]) >= 2)
        return GT_VIRTUAL_SAME;
    *id =
        (struct gt_arch_virtual_id){r[3] & UINT64_C(0xfffffffffffe), r[4] & UINT64_C(0xff00ffffff)};
    return r[0] & 1 ? GT_VIRTUAL_GUEST : GT_VIRTUAL_HOST;
}

/* msr vttbr_el2, but not of zero: kernels that begin at EL2 write that. */
static bool prepares_aarch64(const uint8_t *bytes, size_t size)
{
    uint32_t w = size < 4 ? 0 : word_at(bytes);
    return (w & 0xffffffe0) == 0xd51c2100 && (w & 31) != 31;
}

/* hstatus: SPV is bit 7. priv: 1 is S, in which sret enters a guest; with bit 2, the virtual mode,
 * it stays there. hgatp without the VMID is the machine's second tables. */
static enum gt_arch_virtual_target target_riscv(const uint64_t *r, struct gt_arch_virtual_id *id)
{
    enum { SUPERVISOR = 1, LEVEL = 7 };
    *id = (struct gt_arch_virtual_id){r[2] & UINT64_C(0xfffffffffff), 0};
    return r[0] >> 7 & 1 && (r[1] & LEVEL) == SUPERVISOR ? GT_VIRTUAL_GUEST : GT_VIRTUAL_SAME;
}

/* csrrw, csrrs and csrrc of hstatus, which no other code writes; the last two with a register. */
static bool prepares_riscv(const uint8_t *bytes, size_t size)
{
    uint32_t w = size < 4 ? 0 : word_at(bytes), op = w >> 12 & 3;
    return (w & 0x7f) == 0x73 && w >> 20 == 0x600 && op != 0 && (op == 1 || w >> 15 & 31);
}

/* 0F 01 D8 */
static bool runs_x86(const uint8_t *bytes, size_t size)
{
    static const uint8_t vmrun[] = {0x0f, 0x01, 0xd8};
    return size >= sizeof vmrun && memcmp(bytes + size - sizeof vmrun, vmrun, sizeof vmrun) == 0;
}

static const struct gt_arch_virtual known[] = {
    {.arch = "aarch64",
     .first_bit = 1,
     .registers = {"HCR_EL2", "cpsr", "SPSR_EL2", "VTTBR_EL2", "VMPIDR_EL2"},
     .target = target_aarch64,
     .prepares = prepares_aarch64},
    {.arch = "riscv64",
     .first_bit = 1 << 7,
     .registers = {"hstatus", "priv", "hgatp"},
     .target = target_riscv,
     .prepares = prepares_riscv},
    {.arch = "i386", .registers = {"eax"}, .runs = runs_x86},
    {.arch = "x86_64", .registers = {"rax"}, .runs = runs_x86},
};

const struct gt_arch_virtual *gt_arch_virtual_by_arch(const char *arch)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].arch, arch) == 0)
            return &known[i];
    return NULL;
}
