/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks need a look when they begin. Most are reached by nothing but a branch of their own
 * function, or by running on from the block before: control stays where it was, and nothing has to
 * be asked there. A look is needed where a call, a return or a jump out of another function may
 * arrive:
 *   - at functions' entries and at targets of direct calls;
 *   - behind calls and system calls;
 *   - where functions are not known, at targets of unconditional jumps, which may be tail calls;
 *   - in machines and where functions are not known: at all that no code seen so far leads to: it
 *     was reached by an indirect jump or call, or it begins a handler.
 *
 * What code leads to is kept as bits, one for each address, in pages: it never shrinks, since the
 * same block may be translated again at any time.
 */
#include "plugin/uftrace.h"

#include <string.h>

enum { PAGE = 4096 };

struct page {
    uint8_t flow[PAGE / 8];    /* reached by running on or by a branch: no look needed */
    uint8_t arrival[PAGE / 8]; /* reached otherwise, too */
};

static struct page *page_at(uint64_t pc)
{
    static uint64_t last_number = UINT64_MAX;
    static struct page *last;
    uint64_t number = pc / PAGE;
    if (number != last_number) {
        if (!gt_rec.pages)
            gt_rec.pages = g_hash_table_new(g_direct_hash, g_direct_equal);
        last = g_hash_table_lookup(gt_rec.pages, (void *)(uintptr_t)number);
        if (!last) {
            last = g_new0(struct page, 1);
            g_hash_table_insert(gt_rec.pages, (void *)(uintptr_t)number, last);
        }
        last_number = number;
    }
    return last;
}

static void set(uint8_t *bits, uint64_t pc)
{
    bits[pc % PAGE / 8] |= (uint8_t)(1u << pc % 8);
}

static bool is_set(const uint8_t *bits, uint64_t pc)
{
    return bits[pc % PAGE / 8] >> pc % 8 & 1;
}

static void note_flow(uint64_t pc)
{
    set(page_at(pc)->flow, pc);
}

static void note_arrival(uint64_t pc)
{
    set(page_at(pc)->arrival, pc);
}

void gt_arrivals_note(struct gt_block *block, const struct gt_insn *last, bool known)
{
    size_t n = gt_block_insns(block);
    for (size_t i = 1; i < n; i++)
        note_flow(gt_code_pc(gt_block_insn(block, i)));
    struct gt_insn_ref *at = gt_block_insn(block, n - 1);
    uint64_t end = gt_code_pc(at) + gt_insn_size(at);
    switch (last->kind) {
    case GT_INSN_CALL:
        note_arrival(last->target);
        break;
    case GT_INSN_JUMP:
        known ? note_flow(last->target) : note_arrival(last->target);
        break;
    case GT_INSN_BRANCH:
        note_flow(last->target);
        note_flow(end);
        break;
    case GT_INSN_SYSCALL:
    case GT_INSN_CALL_INDIRECT: /* which may be none by its bytes */
        note_arrival(end);
        break;
    case GT_INSN_RETURN:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_EXCEPTION_RETURN:
        break;
    default:
        note_flow(end);
    }
}

bool gt_arrival_is_known(uint64_t pc)
{
    const struct page *page = page_at(pc);
    return is_set(page->flow, pc) || is_set(page->arrival, pc);
}

/* True where a call may end just before the block. */
static bool may_follow_call(struct gt_block *block)
{
    const uint8_t *bytes = gt_insn_host_addr(gt_block_insn(block, 0));
    size_t left = (uintptr_t)bytes % PAGE; /* on the same page: readable */
    return !bytes || left < gt_rec.arch->insn_max || gt_rec.arch->may_follow_call(bytes, left);
}

enum gt_arrival gt_arrival_of(struct gt_block *block, const struct gt_code *code)
{
    const struct page *page = page_at(code->pc);
    bool known = !(code->fn->flags & GT_FUNC_ANON);
    bool is_machine = !gt_rec.user;
    if (code->vector == GT_VECTOR_YES)
        return GT_ARRIVAL_UNKNOWN;
    /* In machines a function may be a handler, as long as nothing leads there. */
    bool entry = code->entry && (!is_machine || is_set(page->flow, code->pc));
    uint32_t special = code->fn->flags & ~(uint32_t)(GT_FUNC_ANON | GT_FUNC_VECTORS);
    if (entry || special || is_set(page->arrival, code->pc) || may_follow_call(block))
        return GT_ARRIVAL_LOOK;
    if (is_set(page->flow, code->pc))
        return GT_ARRIVAL_NONE;
    if (!is_machine)
        return known ? GT_ARRIVAL_NONE : GT_ARRIVAL_LOOK;
    return GT_ARRIVAL_UNKNOWN;
}
