/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See handler_form.h. */
#include "calls/recorder/translate/handler_form.h"
#include "calls/recorder/recorder.h"
#include "guest/arch/insn_size.h"

bool gt_translate_handler_may_be_smi(const struct gt_translate_block *t)
{
    const struct gt_recorder *r = t->rec;
    if (r->guest.user || !r->guest.arch->smi_entry || gt_host_can(GT_HOST_REGISTERS) ||
        t->insn[0].pc % GT_PAGE != 0)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (gt_arch_is_16_bit(r->guest.arch, t->insn[i].bytes, t->insn[i].size))
            return true;
    return false;
}

static bool leads_there(struct gt_recorder *r, uint64_t pc)
{
    const struct gt_arch *arch = r->guest.arch;
    uint64_t value;
    for (size_t i = 0; i < GT_VECTOR_REGISTERS && arch->vector_registers[i]; i++)
        if (gt_host_register_read(&r->vectors.base[i], arch->vector_registers[i], &value) &&
            arch->is_vector(value, pc))
            return true;
    return false;
}

bool gt_translate_handler_is_likely(const struct gt_translate_block *t)
{
    struct gt_recorder *r = t->rec;
    const struct gt_arch *arch = r->guest.arch;
    const uint8_t *bytes = gt_host_insn_host_addr(t->insn[0].ref);
    if (arch->vector_registers && gt_host_can(GT_HOST_REGISTERS))
        return leads_there(r, gt_host_insn_pc(t->insn[0].ref));
    if (arch->begins_handler)
        return bytes && arch->begins_handler(bytes, (uintptr_t)bytes % GT_PAGE);
    return gt_translate_handler_may_be_smi(t);
}
