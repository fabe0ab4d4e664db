/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where control came back to. A return that arrives at the top frame's return address matches its
 * call. All others are decided by tables of rules, tried in order: the first rule whose condition
 * holds decides. Conditions change nothing. Each rule has a counter of its own name, which
 * guesttrace.stats and the trace event uftrace_resync show (counters.c explains each).
 *
 * The middle table, `back`, also decides where the stack pointer was loaded before: there control
 * came back by a longjmp, an exception or a coroutine switch, by whatever instruction.
 */
#include "track/returns.h"

#include "track/guests.h"
#include "track/machine.h"
#include "track/stack.h"
#include "track/stack_memory.h"
#include "track/tail_calls.h"

/* The transfer that the rules decide. */
struct transfer {
    struct gt_track_thread *t;
    const struct gt_code *from; /* the block that ended in a return; NULL: another way back */
    const struct gt_code *code;
    uint64_t time;
    enum gt_track_back how;
};

/* What a condition that holds has found, for its rule. */
struct found {
    uint32_t depth; /* the number of frames that remain */
    struct gt_stack *stack;
    bool several; /* another one would do as well, or memory has it otherwise */
};

struct rule {
    enum gt_track_counter counter; /* GT_RULE_: its name */
    unsigned how;                  /* bits of enum gt_track_back: where the rule is tried */
    bool (*applies)(const struct transfer *x, struct found *f);
    void (*apply)(const struct transfer *x, const struct found *f);
};

static bool has_frames(const struct gt_stack *s)
{
    return s->top > s->base;
}

/* ---- what rules do ------------------------------------------------------------------------- */

void gt_track_return_close(struct gt_track_thread *t, uint32_t depth, uint64_t time)
{
    gt_stack_close(t->tracker, t->stack, depth, time);
    gt_stack_forget_signals(t, gt_stack_depth(t->stack));
    gt_machine_forget(t, gt_stack_depth(t->stack));
}

void gt_track_return_resume(struct gt_track_thread *t, struct gt_stack *s, uint32_t depth,
                            uint64_t time)
{
    if (s != t->stack)
        gt_stack_switch(t, s, time);
    else
        t->counters[GT_COUNT_UNWOUND]++;
    gt_track_return_close(t, depth, time);
}

static void keep_all(const struct transfer *x, const struct found *f)
{
    (void)x, (void)f;
}

/* The return matches the top frame's call, though not by the address. */
static void close_top(const struct transfer *x, const struct found *f)
{
    (void)f;
    x->t->matched++;
    gt_track_return_close(x->t, gt_track_tail_below(x->t->stack), x->time);
}

static void unwind(const struct transfer *x, const struct found *f)
{
    x->t->counters[GT_COUNT_UNWOUND]++;
    x->t->counters[GT_ANOMALY_GUESSED_FRAME] += f->several;
    gt_track_return_close(x->t, f->depth, x->time);
}

/* ---- returns that do not lead back ---------------------------------------------------------- */

/* On its way to the kernel's trampoline: the system call there ends the frame. */
static bool ends_signal_handler(const struct transfer *x, struct found *f)
{
    (void)f;
    const struct gt_stack *s = x->t->stack;
    return has_frames(s) && (s->top->kind == GT_FRAME_SIGNAL || gt_track_signal_may_be(x->t));
}

static void call_kernel(const struct transfer *x, const struct found *f)
{
    (void)f;
    x->t->stack->top->flags |= GT_FRAME_RETURNED;
}

static bool leaves_guest(const struct transfer *x, struct found *f)
{
    (void)f;
    return gt_track_guest_returns(x->t, x->code->pc);
}

/* The entry's call has returned. */
static void leave_guest(const struct transfer *x, const struct found *f)
{
    gt_track_guest_leave_handler(x->t, x->time);
    close_top(x, f);
}

static bool ends_first_function(const struct transfer *x, struct found *f)
{
    (void)f;
    const struct gt_track_frame *top = x->t->stack->top;
    return has_frames(x->t->stack) && top->kind == GT_FRAME_ROOT && top->fn == x->from->fn &&
           !(x->t->tracker->machine && top->fn->flags & GT_FUNC_ANON);
}

static bool was_too_deep(const struct transfer *x, struct found *f)
{
    (void)f;
    return x->t->stack->dropped > 0;
}

static void forget_dropped(const struct transfer *x, const struct found *f)
{
    (void)f;
    x->t->stack->dropped--;
}

/* Where it leads to an outer frame's return address, that frame's functions have returned. */
static bool is_stored_target(const struct transfer *x, struct found *f)
{
    (void)f;
    struct gt_track_frame *top = x->t->stack->top;
    bool jumps = top->flags & GT_FRAME_JUMPS;
    top->flags &= (uint16_t)~GT_FRAME_JUMPS;
    return jumps && (x->code->entry || !gt_stack_find_return(x->t->stack, x->code->pc));
}

static void jump_to_target(const struct transfer *x, const struct found *f)
{
    (void)f;
    const struct gt_stack *s = x->t->stack;
    if (gt_stack_pass_on(x->t, x->code, x->time))
        return;
    if (x->code->entry || s->top->fn != x->code->fn || x->code->fn->flags & GT_FUNC_ANON)
        gt_stack_replace(x->t, x->code, x->time);
}

static bool is_retpoline(const struct transfer *x, struct found *f)
{
    (void)f;
    return gt_machine_is_retpoline(x->t);
}

static void replace_top(const struct transfer *x, const struct found *f)
{
    (void)f;
    gt_track_return_close(x->t, gt_stack_depth(x->t->stack) - 1, x->time);
    gt_stack_replace(x->t, x->code, x->time);
}

static bool context_resumes(const struct transfer *x, struct found *f)
{
    (void)f;
    return gt_machine_resumes(x->t, x->code->pc);
}

static void resume_context(const struct transfer *x, const struct found *f)
{
    (void)f;
    gt_machine_resumed(x->t);
}

static bool context_begins(const struct transfer *x, struct found *f)
{
    return (gt_machine_may_begin(x->t) || gt_machine_begins_by_hand(x->t, x->code)) &&
           !gt_stack_find_suspended(x->t, x->code->pc, &f->several);
}

/* Without memory for a new stack, calls continue on the old one. */
static void begin_context(const struct transfer *x, const struct found *f)
{
    (void)f;
    gt_machine_begin(x->t, x->code, x->time);
}

static bool pushed_own_address(const struct transfer *x, struct found *f)
{
    (void)f;
    return x->t->tracker->machine && x->code->pc == gt_code_end(x->from);
}

/* `push target; ret` is a jump. In a machine unknown code may have jumped to the known function
 * that does so, which then has no frame of its own. */
static bool is_pushed_target(const struct transfer *x, struct found *f)
{
    const struct gt_stack *s = x->t->stack;
    const struct gt_track_func *fn = x->from->fn;
    bool jumped =
        x->t->tracker->machine && s->top->fn->flags & GT_FUNC_ANON && !(fn->flags & GT_FUNC_ANON);
    if (!x->code->entry || !has_frames(s) || (s->top->fn != fn && !jumped))
        return false;
    /* The target replaces the function's frames, down to the one that was entered by a call. */
    for (f->depth = gt_stack_depth(s); f->depth > 1; f->depth--)
        if (s->base[f->depth].flags & GT_FRAME_DEFERRED || s->base[f->depth - 1].fn != fn ||
            s->base[f->depth].addr == s->base[f->depth].fn->lo)
            break;
    return true;
}

static void replace_pusher(const struct transfer *x, const struct found *f)
{
    if (gt_stack_pass_on(x->t, x->code, x->time))
        return;
    gt_track_return_close(x->t, f->depth, x->time);
    gt_stack_replace(x->t, x->code, x->time);
}

static const struct rule elsewhere[] = {
    {GT_RULE_LEFT_GUEST, GT_BACK_RETURN, leaves_guest, leave_guest},
    {GT_RULE_SIGNAL_HANDLER, GT_BACK_RETURN, ends_signal_handler, call_kernel},
    {GT_RULE_FIRST_FUNCTION, GT_BACK_RETURN, ends_first_function, close_top},
    {GT_RULE_BEYOND_LIMIT, GT_BACK_RETURN, was_too_deep, forget_dropped},
    {GT_RULE_RETPOLINE, GT_BACK_RETURN, is_stored_target, jump_to_target},
    {GT_RULE_RETPOLINE, GT_BACK_RETURN, is_retpoline, replace_top},
    {GT_RULE_PUSHED_CONTEXT, GT_BACK_RETURN, context_resumes, resume_context},
    {GT_RULE_NEW_CONTEXT, GT_BACK_RETURN, context_begins, begin_context},
    {GT_RULE_OWN_ADDRESS, GT_BACK_RETURN, pushed_own_address, keep_all},
    {GT_RULE_PUSHED_TARGET, GT_BACK_RETURN, is_pushed_target, replace_pusher},
};

/* ---- ways back ----------------------------------------------------------------------------- */

static bool is_exception(const struct transfer *x, struct found *f)
{
    f->depth = gt_track_unwind_find(x->t, x->code);
    return f->depth > 0;
}

static bool is_suspended_stack(const struct transfer *x, struct found *f)
{
    f->stack = gt_stack_find_suspended(x->t, x->code->pc, &f->several);
    return f->stack && (f->stack->top->fn == x->t->stack->top->fn ||
                        !gt_stack_find_return(x->t->stack, x->code->pc));
}

static void resume_stack(const struct transfer *x, const struct found *f)
{
    x->t->counters[GT_ANOMALY_GUESSED_STACK] += f->several;
    if (x->t->tracker->machine)
        gt_machine_left(x->t);
    gt_track_return_resume(x->t, f->stack, gt_track_tail_below(f->stack), x->time);
}

static bool is_outer_return(const struct transfer *x, struct found *f)
{
    bool switched = x->how == GT_BACK_SWITCHED;
    if (switched && gt_stack_memory_find_frames(x->t, x->code, true, &f->depth))
        return true;
    if (switched && gt_stack_memory_find_frames(x->t, x->code, false, &f->depth))
        return false; /* it came into that function */
    const struct gt_stack *s = x->t->stack;
    uint32_t frame = gt_stack_find_return(s, x->code->pc);
    f->depth = frame ? frame - 1 : 0;
    f->several = switched && x->t->tracker->view && gt_stack_pointer_now(x->t);
    for (uint32_t i = f->depth; i > 0 && switched; i--)
        f->several |= s->base[i].ret == x->code->pc;
    return frame > 0;
}

static void skip_returns(const struct transfer *x, const struct found *f)
{
    x->t->counters[GT_ANOMALY_MISSED_RETURN]++;
    gt_track_return_close(x->t, f->depth, x->time);
}

/* In a machine all code without symbols is one function: a frame of it counts only where the stack
 * pointer was loaded, and not below the innermost handler. */
static bool is_function(const struct transfer *x, struct found *f, bool once)
{
    struct gt_track_thread *t = x->t;
    bool unknown = t->tracker->machine && x->code->fn->flags & GT_FUNC_ANON;
    if (unknown && !gt_machine_sp_reloaded(t))
        return false;
    unsigned candidates;
    f->depth = gt_stack_find_function(t->stack, x->code, &candidates);
    if (f->depth > 0 && x->how == GT_BACK_SWITCHED && x->code->fn->flags & GT_FUNC_ANON &&
        gt_stack_memory_has_all_frames(t, gt_stack_pointer_now(t)))
        return false; /* code beside that function */
    if (candidates > 1 && x->how == GT_BACK_SWITCHED &&
        gt_stack_memory_find_frames(t, x->code, false, &f->depth))
        candidates = 1;
    return f->depth > 0 && !(unknown && f->depth < gt_machine_floor(t->stack)) &&
           (candidates == 1) == once;
}

static bool is_outer_function(const struct transfer *x, struct found *f)
{
    return is_function(x, f, true);
}

static bool is_one_of_frames(const struct transfer *x, struct found *f)
{
    return is_function(x, f, false);
}

static void guess_innermost(const struct transfer *x, const struct found *f)
{
    x->t->counters[GT_ANOMALY_GUESSED_FRAME]++;
    gt_track_return_close(x->t, f->depth, x->time);
}

static const struct rule back[] = {
    {GT_RULE_EXCEPTION, GT_BACK_RETURN | GT_BACK_SWITCHED | GT_BACK_FAR, is_exception, unwind},
    {GT_RULE_SUSPENDED_STACK, GT_BACK_RETURN | GT_BACK_SWITCHED | GT_BACK_FAR, is_suspended_stack,
     resume_stack},
    {GT_RULE_OUTER_RETURN, GT_BACK_RETURN, is_outer_return, skip_returns},
    {GT_RULE_OUTER_RETURN, GT_BACK_SWITCHED | GT_BACK_FAR, is_outer_return, unwind},
    {GT_RULE_OUTER_FUNCTION, GT_BACK_RETURN | GT_BACK_SWITCHED, is_outer_function, unwind},
    {GT_RULE_RECURSIVE_FUNCTION, GT_BACK_RETURN | GT_BACK_SWITCHED, is_one_of_frames,
     guess_innermost},
};

/* ---- neither -------------------------------------------------------------------------- */

/* The handler has called nothing: a jump. */
static bool is_in_handler(const struct transfer *x, struct found *f)
{
    (void)f;
    return x->t->stack->top->kind == GT_FRAME_HANDLER;
}

static bool is_page_alias(const struct transfer *x, struct found *f)
{
    (void)f;
    const struct gt_stack *s = x->t->stack;
    uint64_t ret = gt_track_tail_called(s)->ret;
    return has_frames(s) && ret != GT_NO_ADDR && gt_machine_is_alias(x->t, ret, x->code->pc);
}

static void close_aliased(const struct transfer *x, const struct found *f)
{
    x->t->counters[GT_COUNT_ALIASED]++;
    close_top(x, f);
}

/* A machine's first steps may be jumps that are written as returns. */
static bool is_first_step(const struct transfer *x, struct found *f)
{
    (void)f;
    return x->t->tracker->machine && x->t->calls == x->t->calls_before;
}

static bool is_unknown(const struct transfer *x, struct found *f)
{
    (void)x, (void)f;
    return true;
}

static void count_unknown(const struct transfer *x, const struct found *f)
{
    (void)f;
    if (gt_track_tail_called_by_unknown(x->t->stack)) {
        x->t->counters[GT_COUNT_BEFORE]++;
        gt_track_return_close(x->t, 0, x->time); /* to a caller that was not followed */
        return;
    }
    uint64_t lowest = x->t->tracker->lowest;
    bool of_bios = x->from->pc < lowest || x->code->pc < lowest;
    x->t->counters[of_bios ? GT_ANOMALY_BIOS_RETURN : GT_ANOMALY_UNKNOWN_RETURN]++;
}

static const struct rule left_over[] = {
    {GT_RULE_HANDLER_JUMP, GT_BACK_RETURN, is_in_handler, keep_all},
    {GT_RULE_PAGE_ALIAS, GT_BACK_RETURN, is_page_alias, close_aliased},
    {GT_RULE_FIRST_STEP, GT_BACK_RETURN, is_first_step, keep_all},
    {GT_RULE_NO_CALL, GT_BACK_RETURN, is_unknown, count_unknown},
};

/* ---- deciding ------------------------------------------------------------------------------ */

static bool decide(const struct rule *rules, size_t n, const struct transfer *x)
{
    for (size_t i = 0; i < n; i++) {
        struct found f = {0};
        if (!(rules[i].how & x->how) || !rules[i].applies(x, &f))
            continue;
        x->t->counters[rules[i].counter]++;
        rules[i].apply(x, &f);
        return true;
    }
    return false;
}

#define DECIDE(rules, a) decide(rules, sizeof(rules) / sizeof((rules)[0]), a)

/* Wherever control came back to, an exception that was being unwound has ended. */
static bool come_back(const struct transfer *x)
{
    bool decided = DECIDE(back, x);
    gt_track_unwind_end(x->t);
    return decided;
}

bool gt_track_return_back(struct gt_track_thread *t, const struct gt_code *code,
                          enum gt_track_back how, uint64_t time)
{
    return come_back(&(struct transfer){.t = t, .code = code, .time = time, .how = how});
}

void gt_track_return_resolve(struct gt_track_thread *t, const struct gt_code *from,
                             const struct gt_code *code, uint64_t time)
{
    const struct transfer x = {t, from, code, time, GT_BACK_RETURN};
    bool several;
    if (gt_track_tail_called(t->stack)->ret == code->pc) {
        t->counters[GT_ANOMALY_GUESSED_STACK] +=
            t->tracker->machine && gt_stack_find_suspended(t, code->pc, &several);
        close_top(&x, NULL);
    } else if (!DECIDE(elsewhere, &x) && !come_back(&x))
        DECIDE(left_over, &x);
}
