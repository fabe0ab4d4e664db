/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handlers and contexts of whole machines: see machine.h. */
#include "track/machine.h"

#include "track/guests.h"
#include "track/stack.h"
#include "track/tail_calls.h"

#include <stdlib.h>

enum { VECTOR_CHANCES = 3 };

uint32_t gt_machine_floor(const struct gt_stack *s)
{
    return s->n_handlers ? s->handlers[s->n_handlers - 1].depth : 0;
}

/* A vector whose handlers end without an exception return, several times, is dropped. */
static void note_left(struct gt_track_handler *h)
{
    if (h->vector && ++h->vector->vector_left >= VECTOR_CHANCES)
        h->vector->vector = GT_VECTOR_NO;
}

void gt_machine_forget(struct gt_track_thread *t, uint32_t depth)
{
    struct gt_stack *s = t->stack;
    while (s->n_handlers && s->handlers[s->n_handlers - 1].depth > depth) {
        note_left(&s->handlers[--s->n_handlers]);
        t->counters[GT_ANOMALY_LEFT_HANDLER]++;
    }
}

static struct gt_track_handler *push_handler(struct gt_stack *s)
{
    if (s->n_handlers == s->cap_handlers) {
        size_t cap = s->cap_handlers ? 2 * s->cap_handlers : 8;
        struct gt_track_handler *grown =
            cap > GT_TRACK_MAX_DEPTH ? NULL : realloc(s->handlers, cap * sizeof *grown);
        if (!grown)
            return NULL;
        s->handlers = grown;
        s->cap_handlers = cap;
    }
    return &s->handlers[s->n_handlers++];
}

static void report_handler(const struct gt_track *k, uint64_t addr)
{
    if (k->sink->handler)
        k->sink->handler(k->sink_self, addr);
}

void gt_machine_enter(struct gt_track_thread *t, uint64_t addr, const struct gt_track_func *fn,
                      struct gt_code *vector, uint64_t last_exit, uint64_t time)
{
    gt_stack_open(t, time);
    uint32_t depth = gt_stack_depth(t->stack);
    gt_machine_forget(t, depth);
    gt_track_fork_snapshot_note(t, last_exit);
    gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, addr, fn, GT_FRAME_HANDLER}, time);
    report_handler(t->tracker, addr);
    t->counters[GT_COUNT_HANDLERS]++;
    struct gt_track_handler *h = gt_stack_depth(t->stack) > depth ? push_handler(t->stack) : NULL;
    if (h)
        *h = (struct gt_track_handler){depth + 1, last_exit, t->calls, 0, vector};
    else
        t->counters[GT_ANOMALY_TOO_DEEP]++;
}

/* True where the context will be resumed, and the stack pointer is another context's now. */
static bool is_left_behind(const struct gt_stack *s)
{
    uint16_t left = GT_FRAME_SP_LOADED | GT_FRAME_SP_STORED;
    return (s->top->flags & left) == left;
}

/* Calls made by a handler that has ended are not calls of the handler that it interrupted. */
static void note_calls_inside(const struct gt_track_thread *t, const struct gt_track_handler *ended)
{
    const struct gt_stack *s = t->stack;
    uint64_t before = ended->calls - 1; /* its own frame was counted */
    if (s->n_handlers)
        s->handlers[s->n_handlers - 1].inside += t->calls - before;
}

/* True where a frame taken for a signal's handler ends as an interrupt's, *out. It ran in the
 * kernel, so its first block is a vector. */
static bool took_handler(struct gt_track_thread *t, struct gt_track_handler *out)
{
    struct gt_stack *s = t->stack;
    struct gt_track_handler maybe = s->maybe;
    if (maybe.depth <= gt_machine_floor(s) || maybe.depth > gt_stack_depth(s))
        return false;
    const struct gt_track_frame *f =
        s->base + maybe.depth; /* another call's, if the handler has ended */
    if (f->kind != GT_FRAME_SIGNAL || f->addr != maybe.vector->pc ||
        maybe.vector->vector == GT_VECTOR_NO)
        return false;
    maybe.vector->vector = GT_VECTOR_YES;
    t->counters[GT_COUNT_HANDLERS]++;
    *out = maybe;
    return true;
}

/* True where the stack's only frame is of a handler whose first block is the first one that was
 * followed. It has loaded the kernel's stack pointer; no context was left. */
static bool is_unseen_handler(const struct gt_stack *s)
{
    return s->cut && !s->n_handlers && s->top == s->base + 1 && s->top->kind == GT_FRAME_ROOT;
}

/* Where nothing is known below a stack's frames, a handler that ends below them was not seen to
 * begin: it has called them, or what it jumped to has, and it leaves them all. */
static void leave_unknown(struct gt_track_thread *t, const struct gt_code *from, uint64_t time)
{
    if (!t->stack->cut || from->pc < t->tracker->lowest)
        return;
    gt_stack_open(t, time);
    gt_stack_close(t->tracker, t->stack, 0, time);
}

bool gt_machine_leave(struct gt_track_thread *t, uint64_t *last_exit, uint64_t time)
{
    struct gt_stack *s = t->stack;
    uint32_t depth = gt_stack_depth(s);
    gt_machine_forget(t, depth);
    struct gt_track_handler h;
    if (is_left_behind(s) && !is_unseen_handler(s))
        return false;
    if (!took_handler(t, &h)) {
        if (!s->n_handlers) {
            leave_unknown(t, gt_track_last_exit_code(*last_exit), time);
            return false;
        }
        h = s->handlers[--s->n_handlers];
    }
    t->matched++;
    report_handler(t->tracker, s->base[h.depth].addr);
    note_calls_inside(t, &h);
    gt_stack_open(t, time);
    gt_stack_close(t->tracker, s, h.depth - 1, time);
    *last_exit = h.last_exit | GT_LAST_EXIT_RESUME;
    return true;
}

bool gt_machine_returns(const struct gt_track_thread *t, uint64_t pc)
{
    const struct gt_stack *s = t->stack;
    bool waits = s->top->flags & GT_FRAME_RESUMED_BY_WORD || gt_machine_may_be_left(s) ||
                 gt_track_guest_returns(t, pc) || gt_track_tail_called_by_unknown(s);
    for (const struct gt_track_frame *f = s->top; f > s->base && !waits; f--)
        waits = f->ret != GT_NO_ADDR && (f->ret - pc) % GT_PAGE == 0;
    return waits || s->top == s->base;
}

bool gt_machine_is_alias(const struct gt_track_thread *t, uint64_t a, uint64_t b)
{
    return t->tracker->machine && ((a ^ b) & (GT_PAGE - 1)) == 0;
}

bool gt_machine_sp_reloaded(const struct gt_track_thread *t)
{
    return t->stack->top->flags & GT_FRAME_SP_RELOADED;
}

bool gt_machine_longjmp(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    uint32_t depth;
    t->slow_flags &= ~(uint32_t)GT_SLOW_LONGJMP;
    if (!gt_machine_sp_reloaded(t) || t->reloaded.stack != t->stack ||
        !gt_track_saved_context_goes_on(&t->reloaded, code, &depth))
        return false;
    t->counters[GT_COUNT_UNWOUND]++;
    gt_stack_close(t->tracker, t->stack, depth, time);
    gt_machine_forget(t, gt_stack_depth(t->stack));
    return true;
}

bool gt_machine_is_split(const struct gt_track_thread *t, uint64_t last_exit,
                         const struct gt_code *code)
{
    if (!t->tracker->machine || !(last_exit & GT_LAST_EXIT_CODE))
        return false;
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    bool arrives = from->exit == GT_EXIT_CALL     ? from->target == code->pc
                   : from->exit == GT_EXIT_RETURN ? gt_track_tail_called(t->stack)->ret == code->pc
                                                  : false;
    return !arrives && gt_code_is_inside(from, code->pc);
}

void gt_machine_move_up(const struct gt_track_thread *t, struct gt_code *code, uint64_t last_exit)
{
    if (!(last_exit & GT_LAST_EXIT_CODE) || code->pc >> 63)
        return;
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    uint64_t expected = from->exit == GT_EXIT_RETURN ? gt_track_tail_called(t->stack)->ret
                        : from->exit == GT_EXIT_CALL ? from->target
                                                     : 0;
    if (!(expected >> 63) || expected == GT_NO_ADDR || !gt_machine_is_alias(t, expected, code->pc))
        return;
    uint64_t by = expected - code->pc;
    code->pc = expected;
    if (code->target)
        code->target += by;
}

bool gt_machine_is_retpoline(const struct gt_track_thread *t)
{
    enum { SHORTEST = 4, LONGEST = 32 };
    const struct gt_stack *s = t->stack;
    uint64_t over = s->top->addr - s->top->ret;
    return t->tracker->machine && s->top > s->base && !gt_machine_sp_reloaded(t) &&
           over >= SHORTEST && over <= LONGEST;
}

/* ---- contexts ------------------------------------------------------------------------------ */

static bool same_sp(uint64_t a, uint64_t b)
{
    return a == b || a == GT_NO_ADDR || b == GT_NO_ADDR;
}

/* The context whose stack pointer was stored in one of the words loaded just now; with the lock. */
static struct gt_stack *find_by_word(struct gt_track_thread *t, uint64_t sp)
{
    uint32_t n = gt_track_nonlocal_words(&t->nonlocal);
    for (uint32_t i = 0; i < n; i++) {
        const struct gt_track_saved_context *save =
            gt_track_saved_context_at(t->tracker, t->nonlocal.restored[i]);
        if (!save || (save->stack->thread && save->stack != t->stack))
            continue;
        if (save->stack == t->stack || same_sp(save->stack->sp, sp))
            return save->stack;
    }
    return NULL;
}

static struct gt_stack *find_by_sp(const struct gt_track_thread *t, uint64_t sp)
{
    const struct gt_track *k = t->tracker;
    uint64_t vm = gt_track_guest_vm(t);
    if (sp == GT_NO_ADDR)
        return NULL;
    for (struct gt_stack *s = k->stacks; s; s = s->next)
        if (!s->thread && s->sp == sp && s->vm == vm)
            return s;
    return NULL;
}

/* Ends the other contexts that were suspended with that stack pointer. */
static void end_others_at(struct gt_track_thread *t, const struct gt_stack *suspended)
{
    struct gt_track *k = t->tracker;
    if (suspended->sp == GT_NO_ADDR)
        return;
    for (struct gt_stack *s = k->stacks, *next; s; s = next) {
        next = s->next;
        if (s != suspended && !s->thread && s->sp == suspended->sp && s->vm == suspended->vm)
            gt_stack_end(k, s);
    }
}

/* A stack pointer that a handler loads before it calls anything is its own. */
static bool enters_handler(const struct gt_track_thread *t)
{
    const struct gt_stack *s = t->stack;
    const struct gt_track_handler *h = s->n_handlers ? &s->handlers[s->n_handlers - 1] : NULL;
    return h && h->depth == gt_stack_depth(s) && h->calls + h->inside == t->calls;
}

/* True where the stack pointer has not moved, or only among the stack's own frames: no other
 * context can be suspended there, and one that was has ended. */
static bool stays_on_stack(const struct gt_stack *s, uint64_t old_sp, uint64_t new_sp)
{
    enum { LEAST_FRAME = 8 };
    return old_sp != GT_NO_ADDR && new_sp - old_sp <= LEAST_FRAME * gt_stack_depth(s);
}

void gt_machine_saved(struct gt_track_thread *t, uint64_t addr, uint64_t resumes)
{
    gt_track_saved(t, addr);
    t->stack->resumes = resumes;
}

static bool is_saved(const struct gt_stack *s)
{
    return s->top->flags & GT_FRAME_SP_STORED;
}

/* The stack will be resumed at a known address, so a new context begins. */
static void leave_for_new(struct gt_track_thread *t, uint64_t sp, uint64_t time)
{
    struct gt_stack *from = t->stack;
    from->sp = sp;
    gt_stack_flush(t->tracker, from);
    from->top->flags = 0;
    gt_stack_begin(t, time);
    t->counters[GT_COUNT_BEGUN] += t->stack != from;
}

void gt_machine_kept(struct gt_track_thread *t)
{
    t->stack->top->flags |= GT_FRAME_SP_KEPT;
}

/* What the top frame has loaded may be the stack pointer of another context. */
static void note_loaded(struct gt_track_thread *t, uint64_t old_sp)
{
    struct gt_stack *s = t->stack;
    s->top->flags |= GT_FRAME_SP_LOADED | (t->reloaded.slot ? GT_FRAME_SP_RELOADED : 0);
    s->sp_before_load = old_sp;
    if (gt_machine_left_unread(t)) /* its return may match by chance */
        t->slow_flags |= GT_SLOW_LONGJMP;
}

void gt_machine_switch(struct gt_track_thread *t, uint64_t old_sp, uint64_t new_sp, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *from = t->stack;
    bool moved = from->top->flags & GT_FRAME_SP_LOADED;
    pthread_mutex_lock(&k->lock);
    struct gt_stack *to = find_by_word(t, new_sp);
    t->reloaded = gt_track_saved_context_own(t);
    if (t->reloaded.slot)
        t->slow_flags |= GT_SLOW_LONGJMP;
    t->nonlocal.n_restored = 0;
    if (stays_on_stack(from, old_sp, new_sp)) {
        pthread_mutex_unlock(&k->lock);
        from->top->flags |= new_sp != old_sp ? GT_FRAME_SP_RELOADED : 0;
        return;
    }
    if (!to)
        to = find_by_sp(t, new_sp);
    if (to && to != from) {
        from->sp = moved ? from->sp_before_load : old_sp;
        end_others_at(t, from);
    }
    pthread_mutex_unlock(&k->lock);
    if (to) {
        from->top->flags = to == from ? GT_FRAME_SP_RELOADED : 0;
    } else if (from->resumes && is_saved(from)) {
        leave_for_new(t, old_sp, time);
    } else if (!moved && !enters_handler(t)) {
        note_loaded(t, old_sp);
    }
    if (to && to != from) {
        gt_stack_switch(t, to, time);
        to->top->flags = new_sp == GT_NO_ADDR ? GT_FRAME_RESUMED_BY_WORD : 0;
    }
}

void gt_track_begin_root(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    t->counters[GT_COUNT_BEGUN]++;
    gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_ROOT}, time);
}

void gt_track_begin_context(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    if (code->entry || !t->tracker->unfollowed)
        gt_track_begin_root(t, code, time);
    else
        t->stack->cut = true;
}

bool gt_machine_resumes(const struct gt_track_thread *t, uint64_t pc)
{
    return t->tracker->machine && t->stack->resumes == pc;
}

void gt_machine_resumed(struct gt_track_thread *t)
{
    t->stack->resumes = 0;
    gt_stack_flush(t->tracker, t->stack);
    t->stack->top->flags = 0;
}

bool gt_machine_may_begin(const struct gt_track_thread *t)
{
    const struct gt_stack *s = t->stack;
    return t->tracker->machine && (s->top->flags & GT_FRAME_RESUMED_BY_WORD || is_left_behind(s));
}

/* The first function of a boot's stage sets its stack up, and what it goes on to takes its place;
 * code without symbols does more of that kind. */
bool gt_machine_begins_by_hand(const struct gt_track_thread *t, const struct gt_code *code)
{
    const struct gt_stack *s = t->stack;
    uint16_t flags = s->top->flags;
    if (!t->tracker->machine || !(flags & GT_FRAME_SP_LOADED))
        return false;
    bool kept = flags & (GT_FRAME_SP_KEPT | GT_FRAME_SP_STORED),
         known = s->sp_before_load != GT_NO_ADDR;
    bool begins = code->entry ? kept || (known && gt_stack_depth(s) > 1)
                              : kept && code->fn->flags & GT_FUNC_ANON;
    return begins && !gt_stack_find_return(s, code->pc);
}

void gt_machine_left(struct gt_track_thread *t)
{
    struct gt_stack *s = t->stack;
    s->sp = GT_NO_ADDR;
    s->top->flags = 0;
}

bool gt_machine_begin(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *from = t->stack;
    bool moved = from->top->flags & GT_FRAME_SP_LOADED,
         found = from->top->flags & GT_FRAME_RESUMED_BY_WORD;
    from->sp = moved ? from->sp_before_load : GT_NO_ADDR;
    gt_stack_flush(t->tracker, from);
    from->top->flags = 0;
    gt_stack_begin(t, time);
    if (t->stack == from)
        return false;
    pthread_mutex_lock(&k->lock);
    if (found && !moved)
        gt_stack_end(k, from);
    else
        end_others_at(t, from);
    pthread_mutex_unlock(&k->lock);
    gt_track_begin_context(t, code, time);
    return true;
}
