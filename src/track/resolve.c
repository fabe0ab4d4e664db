/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slow path: transfers that are not a plain call or return.
 *
 * The first of these that holds decides: the program's first block; a PLT stub (the call continues
 * through it); a signal handler's entry; a stack pointer that was loaded (longjmp, an exception's
 * landing pad, a coroutine switch); a call; a return; a jump to another function's entry, which is
 * a call in the jumper's place.
 *
 * Returns have a table of rules: see returns.c.
 *
 * Not every call instruction calls: see enum gt_track_arrival. A call over a trap for the CPU's
 * speculation that stays in its function calls nothing, whatever follows. A call into the middle of
 * its own function may lead to a retpoline there, which jumps to the function that is called. A
 * function that begins with a call over a trap may be a thunk that jumps back into its jumper, as
 * `switch` does. So these are recorded when more is known.
 *
 * In a machine a call or return that misses its target by whole pages has arrived, if nothing
 * matches exactly: QEMU shares blocks among the virtual addresses of a page. All code without
 * symbols is one function there, so two blocks in that "function" need not belong together.
 */
#include "base/page.h"
#include "track/guests.h"
#include "track/injected.h"
#include "track/machine.h"
#include "track/returns.h"
#include "track/stack.h"
#include "track/stack_memory.h"
#include "track/switches.h"
#include "track/tail_calls.h"

/* The block drops return addresses beside its own: of calls over a trap to the next such call, in
 * the same function. */
static void drop_frames(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    enum { FAR = 1024 };
    const struct gt_track_frame *f = t->stack->top;
    while (f > t->stack->base && f->fn == code->fn && f->addr != code->fn->lo &&
           f->addr - f->ret < FAR)
        f--;
    t->counters[GT_ANOMALY_MISSED_RETURN] += (uint64_t)(t->stack->top - f);
    gt_track_return_close(t, (uint32_t)(f - t->stack->base), time);
}

/* In code without symbols, which is one function, only where more such code follows, or did. */
static bool is_over_trap(const struct gt_code *from, const struct gt_code *code)
{
    return gt_code_is_over_trap(from) && code->fn == from->fn && !code->entry &&
           (from->pc / GT_PAGE == code->pc / GT_PAGE || code->arrival == GT_ARRIVAL_AFTER_TRAP) &&
           (!(code->fn->flags & GT_FUNC_ANON) || gt_code_is_over_trap(code) ||
            code->arrival == GT_ARRIVAL_REPEATS);
}

/* The call may be one of a retpoline in the function itself: which is, perhaps, a push and a call
 * over a trap. */
static bool may_be_thunk(const struct gt_code *from, const struct gt_code *code)
{
    bool unknown = code->fn->flags & GT_FUNC_ANON;
    return from->exit == GT_EXIT_CALL && code->fn == from->fn && !code->entry &&
           (!unknown || (gt_code_is_over_trap(code) && code->insns <= 2));
}

static void resolve_call(struct gt_track_thread *t, const struct gt_code *from,
                         const struct gt_code *code, uint64_t time)
{
    switch (code->arrival) {
    case GT_ARRIVAL_DROPS_MORE:
        if (!gt_code_is_over_trap(from))
            drop_frames(t, code, time);
        return;
    case GT_ARRIVAL_DROPS:
        return;
    case GT_ARRIVAL_REPLACES:
        t->stack->top->flags |= GT_FRAME_JUMPS;
        return;
    default:
        break;
    }
    if (is_over_trap(from, code))
        return;
    struct gt_track_frame frame = {gt_code_end(from), code->pc, code->fn};
    if (may_be_thunk(from, code))
        gt_stack_defer(t, frame, time);
    else
        gt_stack_push(t, frame, time);
}

/* A retpoline whose return is a jump to where a return, or a call of one, stands alone. */
static bool is_return_thunk(const struct gt_track_frame *top, const struct gt_code *code)
{
    const unsigned both = GT_FRAME_DEFERRED | GT_FRAME_JUMPS;
    return (top->flags & both) == both && code->insns == 1 &&
           (code->exit == GT_EXIT_RETURN || code->exit == GT_EXIT_CALL);
}

/* In a machine code may have been translated before its function was known: a jump out of unknown
 * code may be one inside the function. */
static void resolve_jump(struct gt_track_thread *t, const struct gt_track_func *from,
                         const struct gt_code *code, uint64_t time)
{
    if (t->tracker->machine && from->flags & GT_FUNC_ANON)
        return;
    if (!code->entry || !t->tracker->tail_calls || is_return_thunk(t->stack->top, code))
        return;
    if (gt_code_is_over_trap(code))
        gt_stack_defer_jump(t, code, time);
    else
        gt_stack_tail_call(t, code, time);
}

/* A coroutine's first function is reached by a return that nothing pushed, or by a jump out of a
 * function that restores contexts: there it may have no symbol. Others load the stack pointer and
 * jump on, too (the dynamic linker, functions that aligned their stack): those are calls in the
 * jumper's place. */
static bool begins_context(const struct gt_track_thread *t, uint64_t last_exit,
                           const struct gt_code *code)
{
    if (last_exit & GT_LAST_EXIT_CODE)
        return gt_track_last_exit_code(last_exit)->exit == GT_EXIT_RETURN && code->entry;
    return gt_track_last_exit_func(last_exit)->flags & GT_FUNC_RESTORER &&
           (code->entry ||
            (code->fn->flags & GT_FUNC_ANON && !gt_stack_find_return(t->stack, code->pc) &&
             !gt_stack_find_suspended(t, code->pc, &(bool){false})));
}

/* A jump into another file's code without symbols. A frame of that code is not evidence there. */
static bool is_far_jump(uint64_t last_exit, const struct gt_code *code)
{
    return !(last_exit & GT_LAST_EXIT_CODE) && code->fn->flags & GT_FUNC_ANON &&
           gt_track_last_exit_func(last_exit)->lo - code->fn->lo >= code->fn->hi - code->fn->lo;
}

/* Since the stack pointer was loaded control has come back to the function of `from`, in a block
 * without a callback (a label of a non-local goto that a branch reaches as well), and has called
 * from there. */
static void resolve_unseen(struct gt_track_thread *t, const struct gt_code *from, uint64_t time)
{
    unsigned candidates;
    if (!t->tracker->machine && t->tracker->tail_calls && from->fn != t->stack->top->fn &&
        !(from->fn->flags & GT_FUNC_ANON) && gt_stack_find_function(t->stack, from, &candidates))
        gt_track_return_back(t, from, GT_BACK_SWITCHED, time);
}

static bool is_call(const struct gt_code *from)
{
    return from && (from->exit == GT_EXIT_CALL || from->exit == GT_EXIT_CALL_INDIRECT);
}

/* A return to the top frame's caller, by all that is known. */
static void resolve_expected(struct gt_track_thread *t, const struct gt_code *from,
                             const struct gt_code *code, uint64_t time)
{
    bool several;
    const struct gt_stack *other = gt_stack_find_suspended(t, code->pc, &several);
    t->counters[GT_ANOMALY_GUESSED_STACK] += other && other->top->fn == t->stack->top->fn;
    gt_track_return_resolve(t, from, code, time);
}

static void decide_switched(struct gt_track_thread *t, uint64_t last_exit,
                            const struct gt_code *code, uint64_t time)
{
    const struct gt_code *from =
        last_exit & GT_LAST_EXIT_CODE ? gt_track_last_exit_code(last_exit) : NULL;
    uint32_t depth;
    struct gt_stack *saved = gt_track_saved_context_find(t, code, &depth);
    t->nonlocal.for_good =
        (from ? from->fn : gt_track_last_exit_func(last_exit))->flags & GT_FUNC_SET_CONTEXT;
    t->nonlocal.word = gt_track_nonlocal_word(&t->nonlocal, gt_stack_pointer_now(t));
    t->nonlocal.n_restored = 0;
    t->slow_flags &= ~(uint32_t)GT_SLOW_SWITCHED;
    if (saved)
        gt_track_return_resume(t, saved, depth, time);
    else if (is_call(from)) {
        if (!gt_track_switch_before_call(t, from, time))
            resolve_unseen(t, from, time);
        resolve_call(t, from, code, time);
    } else if (!gt_track_unwind_find(t, code) && gt_track_switch_decide(t, from, code, time))
        return;
    else if (from && from->exit == GT_EXIT_RETURN &&
             gt_track_tail_called(t->stack)->ret == code->pc)
        resolve_expected(t, from, code, time);
    else if (begins_context(t, last_exit, code)) {
        gt_stack_begin(t, time);
        gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_ROOT},
                      time);
    } else if (!from && code->entry) {
        bool unwinds = gt_track_last_exit_func(last_exit)->flags &
                       (GT_FUNC_UNWIND_RAISE | GT_FUNC_UNWIND_RESUME);
        t->counters[GT_ANOMALY_GUESSED_FRAME] +=
            unwinds; /* it has left frames that are not known */
        resolve_jump(t, gt_track_last_exit_func(last_exit), code, time);
    } else if (is_far_jump(last_exit, code)) {
        if (!gt_track_return_back(t, code, GT_BACK_FAR, time) && t->tracker->tail_calls)
            gt_stack_replace(t, code, time);
    } else if (!gt_track_return_back(t, code, GT_BACK_SWITCHED, time) && from)
        t->counters[GT_ANOMALY_UNKNOWN_RETURN]++;
}

/* A transfer after the stack pointer was loaded. */
static void resolve_switched(struct gt_track_thread *t, uint64_t last_exit,
                             const struct gt_code *code, uint64_t time)
{
    gt_stack_memory_begin_search(t);
    decide_switched(t, last_exit, code, time);
    t->counters[GT_ANOMALY_GUESSED_STACK] += gt_stack_memory_end_search(t);
    t->nonlocal.for_good = false;
    t->nonlocal.left_sp = t->nonlocal.new_sp = t->nonlocal.word = 0;
}

/* A jump to where an open frame returns to: a return that is written as a jump. Of outer frames,
 * suspended stacks and new ones, where it may be one by its form. */
static bool returns_by_jump(struct gt_track_thread *t, uint64_t last_exit,
                            const struct gt_code *code, uint64_t time)
{
    bool back = last_exit & GT_LAST_EXIT_RETURN, several;
    if (!code->entry && gt_track_tail_called(t->stack)->ret == code->pc) {
        gt_track_return_resolve(t, NULL, code, time);
        return true;
    }
    if (!code->entry && back &&
        (gt_stack_find_return(t->stack, code->pc) > gt_machine_floor(t->stack) ||
         gt_stack_find_suspended(t, code->pc, &several)))
        return gt_track_return_back(t, code, GT_BACK_RETURN, time);
    return back && gt_machine_begins_by_hand(t, code) && gt_machine_begin(t, code, time);
}

static void resolve_by_exit(struct gt_track_thread *t, uint64_t last_exit, struct gt_code *code,
                            uint64_t time)
{
    if (!(last_exit & GT_LAST_EXIT_CODE)) {
        if (!returns_by_jump(t, last_exit, code, time) &&
            gt_track_last_exit_func(last_exit) != code->fn)
            resolve_jump(t, gt_track_last_exit_func(last_exit), code, time);
        return;
    }
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    bool arrived = last_exit & GT_LAST_EXIT_STUB || from->target == code->pc;
    if (from->exit == GT_EXIT_RETURN)
        gt_track_return_resolve(t, from, code, time);
    else if (from->exit == GT_EXIT_CALL_INDIRECT || (from->exit == GT_EXIT_CALL && arrived))
        resolve_call(t, from, code, time);
    else if (from->exit == GT_EXIT_CALL && gt_machine_is_alias(t, from->target, code->pc)) {
        t->counters[GT_COUNT_ALIASED]++;
        resolve_call(t, from, code, time);
    } else if (from->exit == GT_EXIT_CALL) {
        t->counters[GT_ANOMALY_DIVERTED_CALL]++;
        resolve_jump(t, from->fn, code, time);
    } else if (from->exit == GT_EXIT_SYSCALL || from->exit == GT_EXIT_EXCEPTION_RETURN) {
        gt_machine_resolve(t, from, code, time);
    } else if (code->fn != from->fn) {
        resolve_jump(t, from->fn, code, time);
    }
}

/* True where a handler has ended, and the interrupted code's caller continues: the handler has done
 * the rest of a function (Linux: of a return thunk that it interrupted). */
static bool has_returned_inside(const struct gt_track_thread *t, uint64_t last_exit,
                                const struct gt_code *code)
{
    if (!t->tracker->machine || !(last_exit & GT_LAST_EXIT_RESUME) ||
        gt_track_tail_called(t->stack)->ret != code->pc)
        return false;
    if (!(last_exit & GT_LAST_EXIT_CODE))
        return gt_track_last_exit_func(last_exit) != code->fn;
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    return from->exit == GT_EXIT_CALL && from->target != code->pc;
}

/* Calls of what runs on into a function are calls of that. */
static bool passes_call(const struct gt_track_thread *t, const struct gt_code *code,
                        uint64_t last_exit)
{
    if (code->arrival != GT_ARRIVAL_RUNS_ON || !(last_exit & GT_LAST_EXIT_CODE))
        return false;
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    return from->exit == GT_EXIT_CALL_INDIRECT ||
           (from->exit == GT_EXIT_CALL &&
            (last_exit & GT_LAST_EXIT_STUB || from->target == code->pc ||
             gt_machine_is_alias(t, from->target, code->pc)));
}

/* Since the stack pointer was loaded control has only run on into the next page, where a block
 * begins: the transfer of a longjmp may follow. */
static bool leaps_on_next_page(const struct gt_track_thread *t, uint64_t last_exit,
                               const struct gt_code *code, uint32_t flags)
{
    enum { LONGEST = 15 }; /* instruction, which may reach into the page */
    return flags & GT_SLOW_LONGJMP && !(last_exit & GT_LAST_EXIT_CODE) &&
           gt_track_last_exit_func(last_exit)->hi == 0 && code->pc % GT_PAGE < LONGEST &&
           !code->entry && gt_machine_sp_reloaded(t) && t->reloaded.stack == t->stack;
}

uint64_t gt_track_slow(struct gt_track_thread *t, struct gt_code *code, uint64_t last_exit,
                       uint64_t time)
{
    uint64_t stays = gt_track_last_exit_of_func(code->fn);
    uint32_t flags = t->slow_flags;
    if (t->tracker->machine)
        gt_machine_move_up(t, code, last_exit);
    gt_stack_open(t, time);
    if (gt_track_guest_begins(last_exit)) {
        gt_track_begin_root(t, code, time);
        return stays;
    }
    if (last_exit == 0) {
        if (code->entry)
            gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_ROOT},
                          time);
        return stays;
    }
    if (t->slow_flags & GT_SLOW_INJECTED && gt_track_injected_transfer(t, code, &last_exit, time))
        return stays;
    if (last_exit == GT_LAST_EXIT_RESUME) /* a handler interrupted code that was not followed */
        return stays;
    if (has_returned_inside(t, last_exit, code)) {
        t->matched++;
        gt_track_return_close(t, gt_track_tail_below(t->stack), time);
        return stays;
    }
    bool resumed =
        last_exit & GT_LAST_EXIT_RESUME &&
        gt_track_signal_is_resumed_in(t->stack, last_exit & ~(uint64_t)GT_LAST_EXIT_RESUME, code);
    last_exit &= ~(uint64_t)GT_LAST_EXIT_RESUME;
    if (resumed || gt_machine_is_split(t, last_exit, code))
        return stays;
    if (passes_call(t, code, last_exit))
        return last_exit | GT_LAST_EXIT_STUB;
    if (code->fn->flags & GT_FUNC_STUB)
        return last_exit & GT_LAST_EXIT_CODE ? last_exit | GT_LAST_EXIT_STUB : last_exit;
    if (code->fn->flags & GT_FUNC_HANDLER && code->entry &&
        !gt_track_signal_is_called(last_exit, code))
        gt_track_signal_begin(t, last_exit, code, time);
    else if (t->slow_flags & GT_SLOW_SWITCHED)
        resolve_switched(t, last_exit, code, time);
    else if (!gt_machine_longjmp(t, code, time)) {
        resolve_by_exit(t, last_exit, code, time);
        if (leaps_on_next_page(t, last_exit, code, flags))
            t->slow_flags |= GT_SLOW_LONGJMP;
    }
    if (code->fn->flags & GT_FUNC_HANDLER && code->entry &&
        gt_track_signal_is_called(last_exit, code))
        gt_track_signal_note(t, last_exit, false);
    if (code->fn->flags & GT_FUNC_UNWINDING && code->entry)
        gt_track_unwind_entered(t, code->fn->flags);
    if (!(t->stack->top->flags & GT_FRAME_DEFERRED))
        t->slow_flags &= ~(uint32_t)GT_SLOW_DEFERRED;
    return stays;
}
