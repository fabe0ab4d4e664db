/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory callbacks that the host keeps too long: see kept_callbacks.h. */
#include "qemu/support/kept_callbacks.h"

#include "base/page.h"

#include <elf.h>

enum { LONGEST = 16 /* bytes of an instruction */ };

static bool is_plain(const struct gt_arch *arch, const uint8_t *bytes, size_t size)
{
    return arch && arch->is_plain_access && arch->is_plain_access(bytes, size);
}

bool gt_support_callbacks_end(const struct gt_arch *arch, uint64_t pc, const uint8_t *bytes,
                              size_t size, bool last)
{
    if (!last || gt_host_can(GT_HOST_MEMORY_AT_EXIT))
        return true;
    return pc / GT_PAGE == (pc + size) / GT_PAGE && is_plain(arch, bytes, size);
}

bool gt_support_callbacks_reach_interrupts(const struct gt_arch *arch, bool system,
                                           const struct gt_host_insn *last)
{
    uint8_t bytes[LONGEST] = {0};
    bool x86 = arch && (arch->e_machine == EM_X86_64 || arch->e_machine == EM_386);
    if (!x86 || !system || gt_host_can(GT_HOST_MEMORY_AT_EXIT))
        return false;
    size_t n = gt_host_insn_bytes(last, bytes, sizeof bytes);
    return !gt_support_callbacks_end(arch, gt_host_insn_pc(last), bytes, n, true);
}

static void on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)vcpu, (void)meminfo, (void)vaddr, (void)data;
}

/* Plain accesses are not emulated in C. */
void gt_support_callbacks_keep_out(const struct gt_arch *arch, struct gt_host_insn *insn)
{
    uint8_t bytes[LONGEST] = {0};
    if (gt_host_can(GT_HOST_MEMORY_AT_EXIT) ||
        is_plain(arch, bytes, gt_host_insn_bytes(insn, bytes, sizeof bytes)))
        return;
    gt_host_insn_on_memory(insn, on_access, GT_MEM_LOADS | GT_MEM_STORES, NULL);
}
