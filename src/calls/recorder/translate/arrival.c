/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See arrival.h.
 *
 * Only bytes on the page of an instruction are readable. So a trap that lies on two pages is seen
 * in two halves: the first by the call before it, the second by the block after it.
 */
#include "calls/recorder/translate/arrival.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/translate/block_entry.h"
#include "guest/arch/insn_size.h"

enum { MOST = 128 }; /* bytes of a trap */

/* True where the n bytes are traps and padding, and *stops where control cannot pass them. The last
 * instruction may reach further, if `cut`. */
static bool is_trap(const struct gt_arch *arch, const uint8_t *bytes, size_t n, bool cut,
                    bool *stops)
{
    size_t at = 0, size;
    *stops = false;
    for (; at < n; at += size) {
        bool stop = false;
        size = arch->trap_size(bytes + at, n - at, &stop);
        if (size == 0 || (at + size > n && !cut))
            return false;
        *stops |= stop;
    }
    return true;
}

bool gt_translate_call_is_over_trap(const struct gt_arch *arch,
                                    const struct gt_translate_decoded *call)
{
    uint64_t end = gt_translate_decoded_end(call), over = call->insn.target - end;
    if (!arch->trap_size || over == 0 || over > MOST)
        return false;
    if (call->pc / GT_PAGE != end / GT_PAGE)
        return true; /* the block after it decides */
    const uint8_t *bytes = gt_host_insn_host_addr(call->ref);
    bool stops, cut = end / GT_PAGE != call->insn.target / GT_PAGE;
    size_t n = cut ? (size_t)(GT_PAGE - end % GT_PAGE) : (size_t)over;
    return bytes && is_trap(arch, bytes + call->size, n, cut, &stops) && (stops || cut);
}

bool gt_translate_call_is_nothing(const struct gt_arch *arch,
                                  const struct gt_translate_decoded *call,
                                  const struct gt_track_func *fn)
{
    uint64_t to = call->insn.target, over = to - gt_translate_decoded_end(call);
    size_t left = GT_PAGE - (size_t)(to % GT_PAGE); /* on the same page: readable */
    if (fn->flags & GT_FUNC_ANON || to >= fn->hi || call->pc / GT_PAGE != to / GT_PAGE ||
        !gt_arch_insn_size_known(arch))
        return false;
    const uint8_t *bytes = (const uint8_t *)gt_host_insn_host_addr(call->ref) + call->size + over;
    size_t size = gt_arch_insn_size(arch, bytes, left);
    struct gt_arch_insn insn;
    arch->classify(bytes, size, to, &insn);
    unsigned word = arch->return_word ? arch->return_word(bytes, size) : GT_RETURN_WORD_USED;
    return word == GT_RETURN_WORD_DROPPED || word == GT_RETURN_WORD_DROPPED_MORE ||
           insn.kind == GT_INSN_CALL;
}

/* True where a trap that began on the page before ends at the instruction. */
static bool is_after_trap(const struct gt_arch *arch, const struct gt_translate_decoded *first)
{
    size_t at = (size_t)(first->pc % GT_PAGE);
    if (!arch->trap_size || at >= (size_t)MOST + arch->insn_max)
        return false;
    const uint8_t *bytes = gt_host_insn_host_addr(first->ref);
    /* The page may begin in the middle of an instruction. */
    for (size_t skip = 0; bytes && skip <= at && skip < arch->insn_max; skip++)
        if (is_trap(arch, bytes - at + skip, at - skip, false, &(bool){false}))
            return true;
    return false;
}

/* True where code that no function has runs on into one, which calls of it are calls of: kernels
 * for x86 write instructions there, before functions, and call those. */
static bool runs_on(const struct gt_translate_block *t, size_t end, const struct gt_code *code)
{
    enum { PADDING = 16 };
    const struct gt_translate_decoded *last = &t->insn[end - 1];
    uint64_t next = gt_translate_decoded_end(last);
    if (!(code->fn->flags & GT_FUNC_ANON) || next - code->pc > PADDING ||
        (last->insn.kind != GT_INSN_OTHER && last->insn.kind != GT_INSN_STACK_SWITCH))
        return false;
    const struct gt_track_func *fn = gt_support_module_func(t->module, next);
    return !(fn->flags & GT_FUNC_ANON) && fn->lo == next;
}

/* True where unknown code goes back to a call just before it: what fills a processor's return stack
 * calls over traps in a loop. */
static bool repeats(const struct gt_translate_block *t, size_t first, size_t end,
                    const struct gt_code *code)
{
    enum { INSNS = 3 };
    const struct gt_arch *arch = t->rec->guest.arch;
    const struct gt_translate_decoded *last = &t->insn[end - 1];
    uint64_t to = last->insn.target;
    if (!(code->fn->flags & GT_FUNC_ANON) || !arch->trap_size || end - first > INSNS ||
        last->insn.kind != GT_INSN_BRANCH || code->pc - to > MOST ||
        to / GT_PAGE != last->pc / GT_PAGE || !gt_arch_insn_size_known(arch))
        return false;
    const uint8_t *bytes = gt_host_insn_host_addr(last->ref);
    if (!bytes)
        return false;
    struct gt_arch_insn insn;
    bytes -= last->pc - to;
    arch->classify(bytes, gt_arch_insn_size(arch, bytes, GT_PAGE - (size_t)(to % GT_PAGE)), to,
                   &insn);
    return insn.kind == GT_INSN_CALL;
}

unsigned gt_translate_arrival_at(const struct gt_translate_block *t, size_t first, size_t end,
                                 const struct gt_code *code)
{
    const struct gt_arch *arch = t->rec->guest.arch;
    unsigned word = GT_RETURN_WORD_KEPT;
    for (size_t i = first; i < end && arch->return_word && word == GT_RETURN_WORD_KEPT; i++)
        word = arch->return_word(t->insn[i].bytes, t->insn[i].size);
    if (word == GT_RETURN_WORD_DROPPED)
        return GT_ARRIVAL_DROPS;
    if (word == GT_RETURN_WORD_DROPPED_MORE)
        return GT_ARRIVAL_DROPS_MORE;
    if (word == GT_RETURN_WORD_REPLACED)
        return GT_ARRIVAL_REPLACES;
    if (!code->entry && is_after_trap(arch, &t->insn[first]))
        return GT_ARRIVAL_AFTER_TRAP;
    if (runs_on(t, end, code))
        return GT_ARRIVAL_RUNS_ON;
    if (repeats(t, first, end, code))
        return GT_ARRIVAL_REPEATS;
    bool inside = !code->entry && !(code->fn->flags & GT_FUNC_ANON);
    return inside && gt_translate_block_is_called(t->rec, code->pc) ? GT_ARRIVAL_INSIDE
                                                                    : GT_ARRIVAL_CALL;
}

size_t gt_translate_runs_on_until(const struct gt_translate_block *t, size_t first, size_t n)
{
    for (size_t i = first + 1; i < n; i++)
        if (!(gt_support_module_func(t->module, t->insn[i].pc)->flags & GT_FUNC_ANON))
            return i;
    return n;
}
