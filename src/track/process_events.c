/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of whole machines: exception returns that begin or resume one, and where a system call
 * returns to: its caller, a process that it created, a signal's handler, or another program. See
 * machine.h.
 */
#include "track/machine.h"
#include "track/stack.h"

#include <stdlib.h>
#include <string.h>

/* True where the exception return has begun a context. */
static bool begins_context(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    bool resumes = gt_machine_resumes(t, code->pc);
    if (resumes)
        gt_machine_resumed(t);
    return resumes || (gt_machine_may_begin(t) && gt_machine_begin(t, code, time));
}

static void resolve_exception_return(struct gt_track_thread *t, const struct gt_code *from,
                                     const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    bool within_kernel = from->pc >> 63 && code->pc >> 63;
    if (code->pc == gt_code_end(from) || code->pc < t->tracker->lowest ||
        begins_context(t, code, time))
        return;
    uint32_t depth = gt_stack_depth(s);
    if (depth && s->top->ret == code->pc) {
        t->matched++;
        gt_stack_close(t->tracker, s, depth - 1, time);
        return;
    }
    if (within_kernel) { /* the handler's beginning was not seen */
        t->counters[GT_ANOMALY_UNKNOWN_RETURN] += !s->cut;
        return;
    }
    gt_stack_close(t->tracker, s, 0, time);
    s->n_handlers = 0;
    if (s->cut || !gt_track_fork_snapshot_take(t, code->pc, time))
        gt_track_begin_context(t, code, time);
}

/* Another program replaces the one that made the system call. */
static void replace_program(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    gt_stack_close(t->tracker, t->stack, 0, time);
    t->stack->n_handlers = 0;
    gt_track_begin_root(t, code, time);
}

/* A signal's handler begins; or that of an interrupt that hit as the system call ended, and whose
 * vector is not known: its end will distinguish them. */
static void begin_signal(struct gt_track_thread *t, const struct gt_code *from,
                         struct gt_code *code, uint64_t time)
{
    uint32_t depth = gt_stack_depth(t->stack) + 1;
    gt_stack_push(
        t, (struct gt_track_frame){gt_code_end(from), code->pc, code->fn, GT_FRAME_SIGNAL}, time);
    t->stack->maybe = (struct gt_track_handler){depth, gt_code_last_exit(from), t->calls, 0, code};
}

/* The interrupted system call has come back, or is made again. */
static bool goes_on(const struct gt_track_frame *handler, const struct gt_code *code)
{
    enum { SYSCALL_INSN = 4 };
    return handler->ret - code->pc <= SYSCALL_INSN;
}

/* The end of a signal's handler begins that of another one, which was pending. Where registers are
 * not known, only the same one tells. */
static bool goes_to_next(const struct gt_track_thread *t, const struct gt_code *code)
{
    return t->passed == GT_PASSED_SIGNAL ||
           (t->passed == GT_PASSED_UNKNOWN && t->stack->top->addr == code->pc);
}

/* The innermost handler that ends where the code goes on; what another has interrupted has ended,
 * too. The top frame: not known. */
static const struct gt_track_frame *ends(const struct gt_stack *s, const struct gt_code *code)
{
    const struct gt_track_frame *f = s->top;
    while (f > s->base && f->kind == GT_FRAME_SIGNAL && !goes_on(f, code))
        f--;
    return f->kind == GT_FRAME_SIGNAL ? f : s->top;
}

/* The system call was made by the frame of a signal's handler: its end, or its own one, during
 * which a signal of another handler has arrived. */
static void resolve_in_handler(struct gt_track_thread *t, const struct gt_code *from,
                               struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    const struct gt_track_frame *end = ends(s, code), handler = *end;
    bool next = !goes_on(end, code) && goes_to_next(t, code);
    if (next && !(handler.flags & GT_FRAME_RETURNED) && handler.addr != code->pc) {
        begin_signal(t, from, code, time);
        return;
    }
    gt_stack_close(t->tracker, s, (uint32_t)(end - s->base) - 1, time);
    if (next) {
        begin_signal(t, from, code, time);
        s->top->ret = handler.ret;
    }
}

/* A system call that does not return to its caller: the kernel has called a signal handler, with
 * the signal's number; or the end of a signal handler resumes the interrupted code; or a program
 * begins, with cleared registers. */
static void resolve_syscall(struct gt_track_thread *t, const struct gt_code *from,
                            struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (code->pc >= from->pc && code->pc <= gt_code_end(from))
        return;
    if (s->cut && s->top == s->base && !code->entry)
        return; /* perhaps the end of a signal's handler whose beginning was not followed */
    if (s->top > s->base && s->top->kind == GT_FRAME_SIGNAL)
        resolve_in_handler(t, from, code, time);
    else if (t->passed == GT_PASSED_ZERO)
        replace_program(t, code, time);
    else
        begin_signal(t, from, code, time);
}

void gt_machine_resolve(struct gt_track_thread *t, const struct gt_code *from, struct gt_code *code,
                        uint64_t time)
{
    if (from->exit == GT_EXIT_EXCEPTION_RETURN)
        resolve_exception_return(t, from, code, time);
    else
        resolve_syscall(t, from, code, time);
}
