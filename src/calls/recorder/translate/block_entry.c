/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks need a callback when they begin. Most are reached only by a branch of their own
 * function, or by falling through from the block before: there the last exit is their own function,
 * and no callback is needed. One is needed where a call, a return or a jump out of another function
 * may arrive:
 *   - at functions' entries and at targets of direct calls;
 *   - after calls and system calls;
 *   - where functions are not known, at targets of unconditional jumps, which may be tail calls;
 *   - at blocks to which no code seen so far leads: an indirect jump or call reaches them, they are
 *     an exception's landing pad or the label of a non-local goto, or, in machines, a handler may
 *     begin there.
 *
 * A page has one bit for each address that code leads to. Programs of a machine have different code
 * at the same addresses: there only code in the same page of memory counts as leading to a block by
 * a branch.
 */
#include "calls/recorder/translate/block_entry.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/vectors.h"
#include "calls/recorder/select/level.h"
#include "calls/recorder/translate/code.h"
#include "calls/recorder/translate/handler_form.h"
#include "calls/recorder/translate/memory.h"

/* The block leads there by a branch or by falling through. */
static void note_predecessor(const struct gt_translate_block *t, uint64_t pc)
{
    struct gt_recorder *r = t->rec;
    gt_run_granule_at(r, pc)->by_predecessor |= gt_run_granule_bit(pc);
    if (pc / GT_PAGE == t->insn[0].pc / GT_PAGE)
        gt_translate_memory_note_predecessor(r, pc);
}

static void note_call(struct gt_recorder *r, uint64_t pc)
{
    gt_run_granule_at(r, pc)->call |= gt_run_granule_bit(pc);
}

bool gt_translate_block_is_called(struct gt_recorder *r, uint64_t pc)
{
    return gt_run_granule_at(r, pc)->call & gt_run_granule_bit(pc);
}

static void note_block_entry(struct gt_recorder *r, uint64_t pc)
{
    gt_run_granule_at(r, pc)->otherwise |= gt_run_granule_bit(pc);
}

void gt_translate_block_entries_note(const struct gt_translate_block *t, bool known)
{
    struct gt_recorder *r = t->rec;
    for (size_t i = 1; i < t->n; i++)
        note_predecessor(t, t->insn[i].pc);
    const struct gt_arch_insn *last = &t->insn[t->n - 1].insn;
    uint64_t end = gt_translate_decoded_end(&t->insn[t->n - 1]);
    switch (last->kind) {
    case GT_INSN_CALL:
        note_call(r, last->target);
        break;
    case GT_INSN_JUMP:
        known ? note_predecessor(t, last->target) : note_block_entry(r, last->target);
        break;
    case GT_INSN_BRANCH:
        note_predecessor(t, last->target);
        note_predecessor(t, end);
        break;
    case GT_INSN_SYSCALL:
    case GT_INSN_CALL_INDIRECT: /* which push.c may have found, in other instructions */
        note_block_entry(r, end);
        break;
    case GT_INSN_RETURN:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_EXCEPTION_RETURN:
        break;
    default:
        note_predecessor(t, end);
    }
}

/* True where a call may end just before the block. */
static bool may_follow_call(const struct gt_translate_block *t)
{
    struct gt_recorder *r = t->rec;
    const uint8_t *bytes = gt_host_insn_host_addr(t->insn[0].ref);
    size_t left = (uintptr_t)bytes % GT_PAGE; /* on the same page: readable */
    if (bytes && left == 0 && gt_translate_handler_may_be_smi(t))
        return false; /* one after a call is looked at as well */
    return !bytes || left < r->guest.arch->insn_max || r->guest.arch->may_follow_call(bytes, left);
}

enum gt_translate_block_entry gt_translate_block_entry_of(const struct gt_translate_block *t,
                                                          struct gt_code *code)
{
    struct gt_recorder *r = t->rec;
    const struct gt_run_granule *granule = gt_run_granule_at(r, code->pc);
    uint64_t bit = gt_run_granule_bit(code->pc);
    bool predecessor = granule->by_predecessor & bit, call = granule->call & bit;
    bool otherwise = granule->otherwise & bit ||
                     (predecessor && !gt_translate_memory_has_predecessor(r, code->pc));
    bool is_machine = !r->guest.user;
    if (is_machine && code->vector != GT_VECTOR_YES && gt_run_machine_is_smi(r, code))
        code->vector = GT_VECTOR_UNREPORTED;
    if (code->vector == GT_VECTOR_YES || code->vector == GT_VECTOR_UNREPORTED)
        return GT_BLOCK_ENTRY_UNKNOWN;
    /* In machines a function may be a handler, as long as no code leads there. */
    bool entry = code->entry && (!is_machine || predecessor);
    uint32_t slow = code->fn->flags & ~(uint32_t)(GT_FUNC_ANON | GT_FUNC_VECTORS | GT_FUNC_RESULT);
    bool follows = may_follow_call(t);
    if (entry || slow || call || otherwise || follows) {
        bool seldom_stays = !predecessor && (follows || (call && !otherwise));
        return code->entry || seldom_stays ? GT_BLOCK_ENTRY_LOOK : GT_BLOCK_ENTRY_MIXED;
    }
    if (predecessor)
        return GT_BLOCK_ENTRY_NONE;
    /* Without a scoreboard blocks that end in a call or return have a callback anyway: there a
     * landing pad is seen a little later, and an interpreter's code is not slowed down. */
    if (!is_machine)
        return r->hot.scoreboard || code->fn->flags & GT_FUNC_ANON ? GT_BLOCK_ENTRY_MIXED
                                                                   : GT_BLOCK_ENTRY_NONE;
    if (gt_run_machine_may_be_vector(r, code)) {
        if (!gt_select_level_is_user(r)) {
            if (code->vector == GT_VECTOR_UNKNOWN && gt_translate_handler_is_likely(t))
                code->vector = GT_VECTOR_LIKELY;
            return GT_BLOCK_ENTRY_UNKNOWN;
        }
        code->vector = GT_VECTOR_NO;
    }
    return GT_BLOCK_ENTRY_JUMP;
}
