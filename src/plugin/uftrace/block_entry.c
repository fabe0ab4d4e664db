/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks need a look when they begin. Most are reached by nothing but a branch of their own
 * function, or by running on from the block before: control stays where it was, and nothing has to
 * be asked there. A look is needed where a call, a return or a jump out of another function may
 * arrive:
 *   - at functions' entries and at targets of direct calls;
 *   - behind calls and system calls;
 *   - where functions are not known, at targets of unconditional jumps, which may be tail calls;
 *   - at all that no code seen so far leads to: it was reached by an indirect jump or call, it is
 * an exception's landing pad or the label of a non-local goto, or, in machines, it begins a
 * handler, where those may begin.
 *
 * What code leads to is kept as bits, one for each address, in its page. Programs of a machine have
 * different code at the same addresses: a block is taken to be reached by nothing but a branch only
 * where code in the same page of memory leads to it.
 */
#include "plugin/uftrace/block_entry.h"
#include "plugin/uftrace/code.h"
#include "plugin/uftrace/level.h"
#include "plugin/uftrace/memory.h"
#include "plugin/uftrace/page.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/vectors.h"

/* The block leads there. */
static void note_flow(const struct gt_translation *t, uint64_t pc)
{
    struct gt_uftrace_recorder *r = t->rec;
    gt_place_at(r, pc)->flow |= gt_place_bit(pc);
    if (pc / GT_PAGE == t->insn[0].pc / GT_PAGE)
        gt_memory_note_flow(r, pc);
}

static void note_call(struct gt_uftrace_recorder *r, uint64_t pc)
{
    gt_place_at(r, pc)->call |= gt_place_bit(pc);
}

static void note_arrival(struct gt_uftrace_recorder *r, uint64_t pc)
{
    gt_place_at(r, pc)->arrival |= gt_place_bit(pc);
}

void gt_arrivals_note(const struct gt_translation *t, bool known)
{
    struct gt_uftrace_recorder *r = t->rec;
    for (size_t i = 1; i < t->n; i++)
        note_flow(t, t->insn[i].pc);
    const struct gt_insn *last = &t->insn[t->n - 1].insn;
    uint64_t end = gt_decoded_end(&t->insn[t->n - 1]);
    switch (last->kind) {
    case GT_INSN_CALL:
        note_call(r, last->target);
        break;
    case GT_INSN_JUMP:
        known ? note_flow(t, last->target) : note_arrival(r, last->target);
        break;
    case GT_INSN_BRANCH:
        note_flow(t, last->target);
        note_flow(t, end);
        break;
    case GT_INSN_SYSCALL:
    case GT_INSN_CALL_INDIRECT: /* which may be none by its bytes */
        note_arrival(r, end);
        break;
    case GT_INSN_RETURN:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_EXCEPTION_RETURN:
        break;
    default:
        note_flow(t, end);
    }
}

/* True where a call may end just before the block. */
static bool may_follow_call(const struct gt_translation *t)
{
    struct gt_uftrace_recorder *r = t->rec;
    const uint8_t *bytes = gt_insn_host_addr(t->insn[0].ref);
    size_t left = (uintptr_t)bytes % GT_PAGE; /* on the same page: readable */
    return !bytes || left < r->guest.arch->insn_max || r->guest.arch->may_follow_call(bytes, left);
}

enum gt_arrival gt_arrival_of(const struct gt_translation *t, struct gt_code *code)
{
    struct gt_uftrace_recorder *r = t->rec;
    const struct gt_place *place = gt_place_at(r, code->pc);
    uint64_t bit = gt_place_bit(code->pc);
    bool flow = place->flow & bit, call = place->call & bit;
    bool arrival = place->arrival & bit || (flow && !gt_memory_has_flow(r, code->pc));
    bool is_machine = !r->guest.user;
    if (code->vector == GT_VECTOR_YES)
        return GT_ARRIVAL_UNKNOWN;
    /* In machines a function may be a handler, as long as nothing leads there. */
    bool entry = code->entry && (!is_machine || flow);
    uint32_t special = code->fn->flags & ~(uint32_t)(GT_FUNC_ANON | GT_FUNC_VECTORS);
    bool follows = may_follow_call(t);
    if (entry || special || call || arrival || follows) {
        bool seldom_stays = !flow && (follows || (call && !arrival));
        return code->entry || seldom_stays ? GT_ARRIVAL_LOOK : GT_ARRIVAL_MIXED;
    }
    if (flow)
        return GT_ARRIVAL_NONE;
    /* Without cells a look is a callback, and blocks that end in a call or return have one: there a
     * landing pad is seen a little later, and the code of an interpreter is not slowed down. */
    if (!is_machine)
        return r->hot.score || code->fn->flags & GT_FUNC_ANON ? GT_ARRIVAL_MIXED : GT_ARRIVAL_NONE;
    if (gt_machine_may_be_vector(r, code)) {
        if (!gt_level_is_user(r))
            return GT_ARRIVAL_UNKNOWN;
        code->vector = GT_VECTOR_NO;
    }
    return r->options.discontinuities ? GT_ARRIVAL_MIXED : GT_ARRIVAL_JUMP;
}
