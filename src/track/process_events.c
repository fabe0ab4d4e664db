/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of whole machines: where an exception return begins one or goes on with it, and what a
 * system call comes back to: where it was made, in a process that it made, at a signal's handler,
 * in another program. See machine.h.
 */
#include "track/machine.h"
#include "track/stack.h"

#include <stdlib.h>
#include <string.h>

/* The stack of a program that made a system call last there; by a hash of `pc` and `sp`, in one of
 * GT_TRACK_MADE_TRIES places. */
struct gt_made {
    uint64_t pc;   /* where that comes back to; 0: free */
    uint64_t sp;   /* where the guest's own stack was; 0: not known */
    uint64_t when; /* counted in notes */
    uint32_t n;
    struct gt_frame frames[64];
};

enum { MADE = 1024 };

static bool is_of(const struct gt_made *made, uint64_t pc, uint64_t sp)
{
    return made->pc == pc && made->sp == sp;
}

/* Where that of the address and the stack pointer is, or is to be, in the place of the oldest; NULL
 * without memory. With the lock. */
static struct gt_made *made_at(struct gt_tracker *k, uint64_t pc, uint64_t sp)
{
    if (!k->made)
        k->made = calloc(MADE, sizeof *k->made);
    if (!k->made)
        return NULL;
    uint64_t home = (pc ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15) >> 54;
    struct gt_made *oldest = &k->made[home];
    for (unsigned i = 0; i < GT_TRACK_MADE_TRIES; i++) {
        struct gt_made *made = &k->made[(home + i) % MADE];
        if (is_of(made, pc, sp) || made->pc == 0)
            return made;
        if (made->when < oldest->when)
            oldest = made;
    }
    return oldest;
}

_Static_assert(MADE == 1u << 10, "made_at takes the hash's top 10 bits");

/* The last one of the address, with any stack pointer: a thread has one of its own. NULL: none.
 * With the lock. */
static const struct gt_made *last_made_at(const struct gt_tracker *k, uint64_t pc)
{
    const struct gt_made *last = NULL;
    for (unsigned i = 0; k->made && i < MADE; i++)
        if (k->made[i].pc == pc && (!last || k->made[i].when > last->when))
            last = &k->made[i];
    return last;
}

void gt_made_note(struct gt_thread *t, uint64_t mark)
{
    const struct gt_stack *s = t->stack;
    enum { MOST = sizeof((struct gt_made *)0)->frames / sizeof(struct gt_frame) };
    if (!(mark & GT_MARK_CODE) || gt_mark_code(mark)->exit != GT_EXIT_SYSCALL || s->n_handlers ||
        gt_stack_depth(s) > MOST)
        return;
    uint64_t pc = gt_code_end(gt_mark_code(mark));
    pthread_mutex_lock(&t->tracker->lock);
    struct gt_made *made = made_at(t->tracker, pc, t->calling_sp);
    if (made) {
        made->pc = pc;
        made->sp = t->calling_sp;
        made->when = ++t->tracker->n_made;
        made->n = gt_stack_depth(s);
        memcpy(made->frames, s->base + 1, made->n * sizeof made->frames[0]);
    }
    pthread_mutex_unlock(&t->tracker->lock);
}

/* A process begins where the system call that made it comes back to, with a copy of the stack. */
static bool take_frames_of_maker(struct gt_thread *t, uint64_t pc, uint64_t time)
{
    struct gt_made made = {.n = 0};
    pthread_mutex_lock(&t->tracker->lock);
    const struct gt_made *found = made_at(t->tracker, pc, t->returned_sp);
    if (!found || !is_of(found, pc, t->returned_sp))
        found = last_made_at(t->tracker, pc);
    if (found)
        made = *found;
    pthread_mutex_unlock(&t->tracker->lock);
    for (uint32_t i = 0; i < made.n; i++)
        gt_stack_push(t, made.frames[i], time);
    t->calls -= made.n;
    t->doubts[GT_DOUBT_BEGUN] += made.n > 0;
    return made.n > 0;
}

static void land_exception_return(struct gt_thread *t, const struct gt_code *from,
                                  const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    bool within_kernel = from->pc >> 63 && code->pc >> 63;
    if (code->pc == gt_code_end(from) || code->pc < t->tracker->lowest ||
        gt_machine_begins(t, code, time))
        return;
    uint32_t depth = gt_stack_depth(s);
    if (depth && s->top->ret == code->pc) {
        t->matched++;
        gt_stack_close(t->tracker, s, depth - 1, time);
        return;
    }
    if (within_kernel) { /* the handler was not seen to begin */
        t->doubts[GT_DOUBT_UNKNOWN_RETURN]++;
        return;
    }
    gt_stack_close(t->tracker, s, 0, time);
    s->n_handlers = 0;
    if (!take_frames_of_maker(t, code->pc, time))
        gt_begin_root(t, code, time);
}

/* Another program has taken the place of the one that made the system call. */
static void replace_program(struct gt_thread *t, const struct gt_code *code, uint64_t time)
{
    gt_stack_close(t->tracker, t->stack, 0, time);
    t->stack->n_handlers = 0;
    gt_begin_root(t, code, time);
}

/* Or the handler of an interrupt that hit where the system call had just ended, and whose vector
 * was not known: how it ends will tell. */
static void begin_signal(struct gt_thread *t, const struct gt_code *from, struct gt_code *code,
                         uint64_t time)
{
    uint32_t depth = gt_stack_depth(t->stack) + 1;
    gt_stack_push(t, (struct gt_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_SIGNAL}, time);
    t->stack->maybe = (struct gt_handler){depth, gt_code_mark(from), t->calls, 0, code};
}

/* A system call that does not come back to where it was made: the kernel has called a signal
 * handler, with the signal's number; or a signal handler's end has brought back what the signal
 * interrupted; or a program begins, with registers that are all clear. */
static void land_syscall(struct gt_thread *t, const struct gt_code *from, struct gt_code *code,
                         uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (code->pc >= from->pc && code->pc <= gt_code_end(from))
        return;
    if (s->top > s->base && s->top->kind == GT_FRAME_SIGNAL)
        gt_stack_close(t->tracker, s, gt_stack_depth(s) - 1, time);
    else if (t->cleared)
        replace_program(t, code, time);
    else
        begin_signal(t, from, code, time);
}

bool gt_machine_took_handler(struct gt_thread *t, struct gt_handler *out)
{
    struct gt_stack *s = t->stack;
    struct gt_handler maybe = s->maybe;
    if (maybe.depth <= gt_machine_floor(s) || maybe.depth > gt_stack_depth(s))
        return false;
    const struct gt_frame *f = s->base + maybe.depth; /* another's, where it has ended */
    if (f->kind != GT_FRAME_SIGNAL || f->addr != maybe.vector->pc ||
        maybe.vector->vector == GT_VECTOR_NO)
        return false;
    maybe.vector->vector = GT_VECTOR_YES;
    t->doubts[GT_DOUBT_HANDLERS]++;
    *out = maybe;
    return true;
}

void gt_machine_land(struct gt_thread *t, const struct gt_code *from, struct gt_code *code,
                     uint64_t time)
{
    if (from->exit == GT_EXIT_EXCEPTION_RETURN)
        land_exception_return(t, from, code, time);
    else
        land_syscall(t, from, code, time);
}
