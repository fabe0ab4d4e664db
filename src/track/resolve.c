/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landings that are not a plain call or return: what happened, from what is known.
 *
 * In this order, the first that holds: the program's first block; a PLT stub (the call goes on
 * through it); a signal handler's entry; a stack pointer that was loaded (longjmp, an exception's
 * landing pad, a coroutine switch); a call; a return; a jump to another function's entry, which is
 * a call in the jumper's place.
 *
 * A return that does not land on the top frame's return address:
 *   - from a signal handler: on its way to the kernel's trampoline; rt_sigreturn ends the frame;
 *   - from a thread's or coroutine's first function: that frame ends;
 *   - a frame further down has the address: those above are closed;
 *   - into the entry of a function: `push target; ret`, a jump written as a return;
 *   - a suspended stack's top frame has the address: that stack goes on;
 *   - into the middle of a function that is on the stack: closed down to it (exceptions; setjmp
 *     returning again, where the saved context is not known);
 *   - else nothing is closed, and it is counted.
 *
 * In a machine, retpolines are known by their form, and calls and returns that match but for whole
 * pages have arrived, where nothing matches exactly: QEMU shares blocks among the virtual addresses
 * of a page. And code without symbols is all code there, so that being in the same "function" says
 * nothing.
 */
#include "track/machine.h"
#include "track/stack.h"

#include <stdlib.h>

/* The depth of the innermost frame that returns to pc (1 is the outermost); 0: none does. */
static uint32_t frames_below_return(const struct gt_stack *s, uint64_t pc)
{
    for (const struct gt_frame *f = s->top; f > s->base; f--)
        if (f->ret == pc)
            return (uint32_t)(f - s->base);
    return 0;
}

/* True where the frame may be of the function that the block is in. Code without symbols is one
 * function of many: there the nearest entry at or below the block is taken, if it is near. */
static bool owns(const struct gt_frame *f, const struct gt_code *code)
{
    enum { NEAR = 64 << 10 };
    return f->fn == code->fn && (!(code->fn->flags & GT_FUNC_ANON) ||
                                 (f->addr <= code->pc && code->pc - f->addr < NEAR));
}

/* The innermost frame whose function contains the block, as a depth (1 is the outermost); 0: none.
 */
static uint32_t frame_of_function(const struct gt_stack *s, const struct gt_code *code,
                                  unsigned *candidates)
{
    const struct gt_frame *best = NULL;
    *candidates = 0;
    for (const struct gt_frame *f = s->top; f > s->base; f--) {
        if (!owns(f, code) || (best && f->addr < best->addr))
            continue;
        *candidates = best && f->addr == best->addr ? *candidates + 1 : 1;
        if (!best || f->addr > best->addr)
            best = f;
    }
    return best ? (uint32_t)(best - s->base) : 0;
}

/* A stack that no thread runs and whose top frame returns to pc; one suspended in the same function
 * as the present top frame is preferred. */
static struct gt_stack *suspended_at(const struct gt_thread *t, uint64_t pc)
{
    struct gt_stack *found = NULL;
    if (t->tracker->machine) /* threads wait at the same place there: see machine.h */
        return NULL;
    pthread_mutex_lock(&t->tracker->lock);
    for (struct gt_stack *s = t->tracker->stacks; s; s = s->next) {
        if (s->running || s->top == s->base || s->top->ret != pc)
            continue;
        if (!found || s->top->fn == t->stack->top->fn)
            found = s;
    }
    pthread_mutex_unlock(&t->tracker->lock);
    return found;
}

static void close_to(struct gt_thread *t, uint32_t depth, uint64_t time)
{
    gt_stack_close(t->tracker, t->stack, depth, time);
    gt_stack_forget_signals(t, gt_stack_depth(t->stack));
    gt_machine_forget(t, gt_stack_depth(t->stack));
}

static void resume(struct gt_thread *t, struct gt_stack *s, uint32_t depth, uint64_t time)
{
    if (s != t->stack)
        gt_stack_switch(t, s, time);
    else
        t->counters[GT_COUNT_UNWOUND]++;
    close_to(t, depth, time);
}

/* In a machine: unknown code has jumped to the known function, which is no frame of its own. */
static bool jumped_from_unknown(const struct gt_thread *t, const struct gt_func *fn)
{
    return t->tracker->machine && t->stack->top->fn->flags & GT_FUNC_ANON &&
           !(fn->flags & GT_FUNC_ANON);
}

/* Frames of the function that executed `push target; ret` give way to the target. */
static bool land_pushed_return(struct gt_thread *t, const struct gt_code *from,
                               const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (!code->entry || s->top == s->base ||
        (s->top->fn != from->fn && !jumped_from_unknown(t, from->fn)))
        return false;
    uint32_t depth = gt_stack_depth(s);
    while (depth > 1 && s->base[depth - 1].fn == from->fn &&
           s->base[depth].addr != s->base[depth].fn->lo)
        depth--;
    close_to(t, depth, time);
    gt_stack_replace(t, code, time);
    return true;
}

/* Control is back where something is known to go on, by another way than a matching return. */
static bool land_known(struct gt_thread *t, const struct gt_code *code, bool switched,
                       uint64_t time)
{
    uint32_t unwound = gt_unwind_find(t, code);
    if (unwound) {
        t->counters[GT_COUNT_UNWOUND]++;
        close_to(t, unwound, time);
        return true;
    }
    struct gt_stack *other = suspended_at(t, code->pc);
    uint32_t left = frames_below_return(t->stack, code->pc);
    if (other && (!left || other->top->fn == t->stack->top->fn)) {
        resume(t, other, gt_stack_depth(other) - 1, time);
        return true;
    }
    if (left) {
        t->counters[switched ? GT_COUNT_UNWOUND : GT_ANOMALY_MISSED_RETURN]++;
        close_to(t, left - 1, time);
        return true;
    }
    return false;
}

/* The same, or in a function that was left. */
static bool land_back(struct gt_thread *t, const struct gt_code *code, bool switched, uint64_t time)
{
    if (land_known(t, code, switched, time))
        return true;
    bool unknown = t->tracker->machine && code->fn->flags & GT_FUNC_ANON;
    if (unknown && !gt_machine_has_leapt(t))
        return false;
    unsigned candidates;
    uint32_t depth = frame_of_function(t->stack, code, &candidates);
    if (!depth || (unknown && depth < gt_machine_floor(t->stack)))
        return false;
    t->counters[candidates > 1 ? GT_ANOMALY_GUESSED_FRAME : GT_COUNT_UNWOUND]++;
    close_to(t, depth, time);
    return true;
}

static void land_return(struct gt_thread *t, const struct gt_code *from, const struct gt_code *code,
                        uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (s->top->ret == code->pc) {
        t->matched++;
        close_to(t, gt_stack_depth(s) - 1, time);
        return;
    }
    if (s->top > s->base && (s->top->kind == GT_FRAME_SIGNAL || gt_signal_may_be(t)))
        return;
    if (s->top > s->base && s->top->kind == GT_FRAME_ROOT && s->top->fn == from->fn &&
        !(t->tracker->machine && s->top->fn->flags & GT_FUNC_ANON)) {
        t->matched++;
        close_to(t, gt_stack_depth(s) - 1, time);
        return;
    }
    if (s->dropped) {
        s->dropped--;
        return;
    }
    if (gt_machine_retpoline(t, code, time) || gt_machine_begins(t, code, time))
        return;
    if (t->tracker->machine && code->pc == gt_code_end(from)) /* it pushed that address by itself */
        return;
    if (land_pushed_return(t, from, code, time) || land_back(t, code, false, time))
        return;
    if (s->top->kind == GT_FRAME_HANDLER) /* it has called nothing: a jump */
        return;
    if (s->top > s->base && s->top->ret != GT_NO_ADDR &&
        gt_machine_is_alias(t, s->top->ret, code->pc)) {
        t->matched++;
        t->counters[GT_COUNT_ALIASED]++;
        close_to(t, gt_stack_depth(s) - 1, time);
        return;
    }
    /* A machine's first steps may be jumps that are written as returns. */
    bool of_bios = from->pc < t->tracker->lowest || code->pc < t->tracker->lowest;
    if (t->calls > 0 || !t->tracker->machine)
        t->counters[of_bios ? GT_ANOMALY_BIOS_RETURN : GT_ANOMALY_UNKNOWN_RETURN]++;
}

static void land_call(struct gt_thread *t, const struct gt_code *from, const struct gt_code *code,
                      uint64_t time)
{
    gt_stack_push(t, (struct gt_frame){gt_code_end(from), code->pc, code->fn}, time);
}

/* In a machine code may have been translated before its function was known: a jump out of unknown
 * code may be one inside the function. */
static void land_jump(struct gt_thread *t, const struct gt_func *from, const struct gt_code *code,
                      uint64_t time)
{
    if (t->tracker->machine && from->flags & GT_FUNC_ANON)
        return;
    if (code->entry && t->tracker->tail_calls)
        gt_stack_replace(t, code, time);
}

/* A coroutine's first function is reached by a return that nothing pushed, or by a jump out of a
 * function that restores contexts: there it may have no symbol. Others load the stack pointer and
 * jump on, too (the dynamic linker, functions that aligned their stack): those are calls in the
 * jumper's place. */
static bool begins_context(const struct gt_thread *t, uint64_t mark, const struct gt_code *code)
{
    if (mark & GT_MARK_CODE)
        return gt_mark_code(mark)->exit == GT_EXIT_RETURN && code->entry;
    return gt_mark_func(mark)->flags & GT_FUNC_RESTORER &&
           (code->entry ||
            (code->fn->flags & GT_FUNC_ANON && !frames_below_return(t->stack, code->pc) &&
             !suspended_at(t, code->pc)));
}

/* A jump into another file's code without symbols. That some frame is of it says nothing there. */
static bool is_far_jump(uint64_t mark, const struct gt_code *code)
{
    return !(mark & GT_MARK_CODE) && code->fn->flags & GT_FUNC_ANON &&
           gt_mark_func(mark)->lo - code->fn->lo >= code->fn->hi - code->fn->lo;
}

/* Since the stack pointer was loaded control has come back to the function of `from`, in a block
 * that is not looked at (a label of a non-local goto that is reached by a branch as well), and has
 * called from there.
 */
static void land_unseen(struct gt_thread *t, const struct gt_code *from, uint64_t time)
{
    unsigned candidates;
    if (!t->tracker->machine && t->tracker->tail_calls && from->fn != t->stack->top->fn &&
        !(from->fn->flags & GT_FUNC_ANON) && frame_of_function(t->stack, from, &candidates))
        land_back(t, from, true, time);
}

/* The stack pointer was loaded on the way here. */
static void land_switched(struct gt_thread *t, uint64_t mark, const struct gt_code *code,
                          uint64_t time)
{
    const struct gt_code *from = mark & GT_MARK_CODE ? gt_mark_code(mark) : NULL;
    uint32_t depth;
    struct gt_stack *saved = gt_saves_find(t, code, &depth);
    t->leap.for_good = (from ? from->fn : gt_mark_func(mark))->flags & GT_FUNC_LEAVES;
    t->leap.n_restored = 0;
    t->attention &= ~(uint32_t)GT_ATTENTION_SWITCHED;
    if (saved)
        resume(t, saved, depth, time);
    else if (from && (from->exit == GT_EXIT_CALL || from->exit == GT_EXIT_CALL_INDIRECT)) {
        land_unseen(t, from, time);
        land_call(t, from, code, time);
    } else if (from && from->exit == GT_EXIT_RETURN && t->stack->top->ret == code->pc)
        land_return(t, from, code, time);
    else if (begins_context(t, mark, code)) {
        gt_stack_begin(t, time);
        gt_stack_push(t, (struct gt_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_ROOT}, time);
    } else if (!from && code->entry)
        land_jump(t, gt_mark_func(mark), code, time);
    else if (is_far_jump(mark, code)) {
        if (!land_known(t, code, true, time) && t->tracker->tail_calls)
            gt_stack_replace(t, code, time);
    } else if (!land_back(t, code, true, time) && from)
        t->counters[GT_ANOMALY_UNKNOWN_RETURN]++;
    t->leap.for_good = false;
}

static void land_by_exit(struct gt_thread *t, uint64_t mark, struct gt_code *code, uint64_t time)
{
    if (!(mark & GT_MARK_CODE)) {
        if (mark != gt_mark_of_jump(code->fn))
            land_jump(t, gt_mark_func(mark), code, time);
        return;
    }
    const struct gt_code *from = gt_mark_code(mark);
    bool arrived = mark & GT_MARK_STUB || from->target == code->pc;
    if (from->exit == GT_EXIT_RETURN)
        land_return(t, from, code, time);
    else if (from->exit == GT_EXIT_CALL_INDIRECT || (from->exit == GT_EXIT_CALL && arrived))
        land_call(t, from, code, time);
    else if (from->exit == GT_EXIT_CALL && gt_machine_is_alias(t, from->target, code->pc)) {
        t->counters[GT_COUNT_ALIASED]++;
        land_call(t, from, code, time);
    } else if (from->exit == GT_EXIT_CALL) {
        t->counters[GT_ANOMALY_DIVERTED_CALL]++;
        land_jump(t, from->fn, code, time);
    } else if (from->exit == GT_EXIT_SYSCALL || from->exit == GT_EXIT_EXCEPTION_RETURN) {
        gt_machine_land(t, from, code, time);
    } else if (code->fn != from->fn) {
        land_jump(t, from->fn, code, time);
    }
}

uint64_t gt_track_slow(struct gt_thread *t, struct gt_code *code, uint64_t mark, uint64_t time)
{
    uint64_t stays = gt_mark_of_func(code->fn);
    if (t->tracker->machine)
        gt_machine_move_up(t, code, mark);
    gt_stack_open(t, time);
    gt_code_enter(code);
    if (mark == 0) {
        if (code->entry)
            gt_stack_push(t, (struct gt_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_ROOT},
                          time);
        return stays;
    }
    bool resumed =
        mark & GT_MARK_RESUME && gt_signal_is_resumed_in(mark & ~(uint64_t)GT_MARK_RESUME, code);
    mark &= ~(uint64_t)GT_MARK_RESUME;
    if (resumed || gt_machine_is_split(t, mark, code))
        return stays;
    if (code->fn->flags & GT_FUNC_STUB)
        return mark & GT_MARK_CODE ? mark | GT_MARK_STUB : mark;
    if (code->fn->flags & GT_FUNC_HANDLER && code->entry && !gt_signal_is_called(mark, code))
        gt_signal_land(t, mark, code, time);
    else if (t->attention & GT_ATTENTION_SWITCHED)
        land_switched(t, mark, code, time);
    else if (!gt_machine_leaps(t, code, time))
        land_by_exit(t, mark, code, time);
    if (code->fn->flags & GT_FUNC_HANDLER && code->entry && gt_signal_is_called(mark, code))
        gt_signal_note(t, mark, false);
    if (code->fn->flags & GT_FUNC_UNWINDING && code->entry)
        gt_unwind_entered(t, code->fn->flags);
    return stays;
}
