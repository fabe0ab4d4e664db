/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that a machine's code pushes as constants, on x86: so BIOSes and boot loaders make
 * calls that no call instruction can make. `push next; push there; ret` (or an interrupt's return,
 * to pass flags) is a call of `there`, and so is `push next; jmp there`. An exception return with
 * that address on top of the stack only continues at the next instruction.
 *
 * If a block does not end in a call, return or jump, what it has pushed is noted by the address
 * after it: QEMU ends blocks at pages, too. And by the address of its last instruction: if that
 * crosses a page, QEMU 7.2 shows it in a block that ends before it.
 */
#include "calls/recorder/translate/push.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/translate/code.h"

static bool is_pushed(const struct gt_translate_pushed *p)
{
    return p->push.width && p->above >= 0;
}

/* A constant that may be an address in the same function, of 16 bit code, too. */
static bool is_near(const struct gt_arch_push *push, uint64_t pc)
{
    enum { NEAR = 4096 };
    uint64_t mask = push->width == 2 ? 0xffff : UINT64_MAX;
    return push->width && ((push->value - pc + NEAR) & mask) < 2 * NEAR;
}

struct gt_translate_pushed gt_translate_pushed_before(const struct gt_translate_block *t)
{
    const struct gt_translate_pushes *p = &t->rec->code.pushes;
    uint64_t pc = t->insn[0].pc;
    return p->cached[pc % GT_PUSHES_CACHED].pc == pc ? p->cached[pc % GT_PUSHES_CACHED].pushed
                                                     : (struct gt_translate_pushed){0};
}

void gt_translate_pushed_see(const struct gt_recorder *r, struct gt_translate_pushed *p,
                             const struct gt_translate_decoded *d)
{
    struct gt_arch_push push = {0};
    if (r->guest.arch->pushes)
        r->guest.arch->pushes(d->bytes, d->size, &push);
    if (is_near(&push, d->pc))
        *p = (struct gt_translate_pushed){push, 0};
    else if (p->above >= 0)
        p->above += push.by;
    if (d->insn.kind == GT_INSN_STACK_SWITCH)
        p->above = -1;
}

static struct gt_translate_pushed before_last(const struct gt_translate_block *t)
{
    struct gt_recorder *r = t->rec;
    struct gt_translate_pushed p = gt_translate_pushed_before(t);
    for (size_t i = 0; i + 1 < t->n; i++)
        gt_translate_pushed_see(r, &p, &t->insn[i]);
    return p;
}

static void keep_at(struct gt_recorder *r, uint64_t pc, const struct gt_translate_pushed *p)
{
    struct gt_translate_pushes *to = &r->code.pushes;
    if (is_pushed(p)) {
        to->cached[pc % GT_PUSHES_CACHED].pc = pc;
        to->cached[pc % GT_PUSHES_CACHED].pushed = *p;
    }
}

static void keep(struct gt_recorder *r, const struct gt_translate_decoded *last,
                 struct gt_translate_pushed p)
{
    gt_translate_pushed_see(r, &p, last);
    keep_at(r, gt_translate_decoded_end(last), &p);
}

void gt_translate_pushed_classify(struct gt_translate_block *t)
{
    struct gt_recorder *r = t->rec;
    struct gt_translate_decoded *last = &t->insn[t->n - 1];
    if (!r->guest.arch->pushes)
        return;
    struct gt_translate_pushed p = before_last(t);
    bool on_top = p.above == 0;
    keep_at(r, last->pc, &p);
    switch (last->insn.kind) {
    case GT_INSN_OTHER:
        keep(r, last, p);
        return;
    case GT_INSN_JUMP:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_RETURN:
    case GT_INSN_EXCEPTION_RETURN:
        break;
    default:
        return;
    }
    if (!is_pushed(&p) || !gt_arch_push_is(&p.push, gt_translate_decoded_end(last)))
        return;
    if (last->insn.kind == GT_INSN_JUMP)
        last->insn.kind = GT_INSN_CALL;
    else if (last->insn.kind == GT_INSN_JUMP_INDIRECT || !on_top)
        last->insn.kind = GT_INSN_CALL_INDIRECT;
    else if (last->insn.kind == GT_INSN_EXCEPTION_RETURN)
        last->insn.kind = GT_INSN_OTHER;
}
