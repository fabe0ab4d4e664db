/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that runs straight on from one block into the next: see straight.h. */
#include "calls/recorder/translate/straight.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/blocks.h"
#include "guest/arch/insn_size.h"

static bool falls_through(const struct gt_arch_insn *insn)
{
    return insn->kind == GT_INSN_OTHER || insn->kind == GT_INSN_STACK_SWITCH;
}

uint32_t gt_translate_straight_copies(const struct gt_translate_block *t)
{
    const struct gt_translate_straight *s = &t->rec->code.straight;
    uint64_t pc = t->insn[0].pc;
    return s->cached[pc % GT_STRAIGHT_CACHED].pc == pc ? s->cached[pc % GT_STRAIGHT_CACHED].copies
                                                       : 0;
}

void gt_translate_straight_keep(const struct gt_translate_block *t, uint32_t copies)
{
    struct gt_translate_straight *s = &t->rec->code.straight;
    const struct gt_translate_decoded *last = &t->insn[t->n - 1];
    uint64_t end = gt_translate_decoded_end(last);
    bool keeps = copies && falls_through(&last->insn);
    if (keeps || s->cached[end % GT_STRAIGHT_CACHED].pc == end) {
        s->cached[end % GT_STRAIGHT_CACHED].pc = end;
        s->cached[end % GT_STRAIGHT_CACHED].copies = keeps ? copies : 0;
    }
}

/* True: it loads it; *go_on: control may not go elsewhere. */
static bool loads_sp(const struct gt_arch *arch, const uint8_t *bytes, size_t size, uint64_t pc,
                     uint32_t *copies, bool *go_on)
{
    struct gt_arch_insn insn;
    arch->classify(bytes, size, pc, &insn);
    uint8_t use = arch->stack_use ? arch->stack_use(bytes, size, copies) : GT_STACK_OTHER;
    *go_on = falls_through(&insn);
    return insn.kind == GT_INSN_STACK_SWITCH && use != GT_STACK_OWN;
}

bool gt_translate_straight_switches(const struct gt_translate_block *t, uint32_t copies)
{
    enum { MOST = 64 };
    const struct gt_arch *arch = t->rec->guest.arch;
    const struct gt_translate_decoded *last = &t->insn[t->n - 1];
    uint64_t pc = gt_translate_decoded_end(last);
    size_t left = (GT_PAGE - pc % GT_PAGE) % GT_PAGE;
    bool go_on = falls_through(&last->insn) && left && gt_arch_insn_size_known(arch);
    const uint8_t *bytes = go_on ? gt_host_insn_host_addr(last->ref) : NULL;
    if (!bytes)
        return false;
    bytes += last->size;
    for (unsigned i = 0; i < MOST && go_on; i++) {
        size_t size = gt_arch_insn_size(arch, bytes, left);
        if (!size || size > left)
            return false;
        if (loads_sp(arch, bytes, size, pc, &copies, &go_on))
            return true;
        bytes += size;
        left -= size;
        pc += size;
        go_on &= left > 0;
    }
    return false;
}
