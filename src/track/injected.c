/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that handlers of signals have the interrupted code make: see injected.h. */
#include "track/injected.h"
#include "base/array.h"
#include "track/returns.h"
#include "track/stack.h"
#include "track/stack_memory.h"
#include "track/tail_calls.h"

enum {
    PUSHED =
        512,   /* bytes that a handler pushes, or skips: it stores registers beside the address */
    BACK = 64, /* and what it goes back, to where a sequence of instructions began */
};

struct gt_track_injection gt_track_injected_by(struct gt_track_thread *t,
                                               const struct gt_track_signal_entry *e)
{
    const struct gt_track *k = t->tracker;
    const struct gt_track_signal_state *was = &e->was;
    struct gt_track_signal_state now;
    if (!e->frame || !gt_track_signal_read(k, e->frame, &now) || now.pc == was->pc)
        return e->injection;
    t->counters[GT_ANOMALY_DIVERTED_CALL] += e->injection.pc != 0;
    uint64_t ret = now.link, moved = was->sp - now.sp;
    bool stores = k->view->by_memory, links = !stores && now.link != was->link;
    if (moved > PUSHED || !(moved || links) ||
        (stores && !k->view->read(k->sink_self, now.sp, &ret, k->view->word)))
        return (struct gt_track_injection){0};
    if (ret != was->pc && (!(stores || links) || was->pc - ret > BACK))
        return (struct gt_track_injection){0};
    return (struct gt_track_injection){now.pc, ret, was->pc};
}

static bool is_call(uint64_t last_exit)
{
    const struct gt_code *from =
        last_exit & GT_LAST_EXIT_CODE ? gt_track_last_exit_code(last_exit) : NULL;
    return from && (from->exit == GT_EXIT_CALL || from->exit == GT_EXIT_CALL_INDIRECT);
}

static const struct gt_track_func *left(uint64_t last_exit)
{
    return last_exit & GT_LAST_EXIT_CODE ? gt_track_last_exit_code(last_exit)->fn
                                         : gt_track_last_exit_func(last_exit);
}

/* ---- one that arrives ---------------------------------------------------------------------- */

/* The interrupted code's last exit has led to where it was interrupted. Returns that which is still
 * to arrive; 0: none. */
static uint64_t settle(struct gt_track_thread *t, uint64_t last_exit,
                       const struct gt_track_injection *i, uint64_t time)
{
    const struct gt_code *from =
        last_exit & GT_LAST_EXIT_CODE ? gt_track_last_exit_code(last_exit) : NULL;
    bool returned = from ? from->exit == GT_EXIT_RETURN : last_exit & GT_LAST_EXIT_JUMPED;
    if (returned && gt_track_tail_called(t->stack)->ret == i->at) {
        t->matched++;
        gt_track_return_close(t, gt_track_tail_below(t->stack), time);
        return 0;
    }
    bool inside = from && i->at - from->pc < from->size;
    if (inside && !(is_call(last_exit) && from->target == i->at))
        return 0; /* the block has not ended */
    return i->at == i->ret ? last_exit : 0;
}

static void arrive(struct gt_track_thread *t, const struct gt_code *code, uint64_t last_exit,
                   uint64_t time)
{
    struct gt_track_injection i = t->injection;
    t->injection = (struct gt_track_injection){0};
    t->counters[GT_ANOMALY_GUESSED_STACK] += (t->slow_flags & GT_SLOW_SWITCHED) != 0;
    last_exit = settle(t, last_exit, &i, time);
    struct gt_stack *s = t->stack;
    uint32_t depth = gt_stack_depth(s) + 1;
    gt_stack_push(t, (struct gt_track_frame){i.ret, code->pc, code->fn, GT_FRAME_INJECTED}, time);
    if (gt_stack_depth(s) != depth)
        return;
    if (!GT_ARRAY_GROW(&s->injected, &s->cap_injected, s->n_injected + 1)) {
        t->counters[GT_ANOMALY_TOO_DEEP]++;
        return;
    }
    s->injected[s->n_injected++] = (struct gt_track_injected_call){depth, last_exit};
}

/* True: it has arrived. */
static bool arrives(struct gt_track_thread *t, const struct gt_code *code, uint64_t last_exit,
                    uint64_t time)
{
    bool resumes = last_exit & GT_LAST_EXIT_RESUME;
    if (!t->injection.pc)
        return false;
    if (resumes && t->injection.pc == code->pc) {
        arrive(t, code, last_exit & ~(uint64_t)GT_LAST_EXIT_RESUME, time);
        return true;
    }
    if (resumes && code->fn->flags & GT_FUNC_HANDLER && code->entry)
        return false; /* another signal, first */
    t->injection = (struct gt_track_injection){0};
    t->counters[GT_ANOMALY_DIVERTED_CALL]++;
    return false;
}

/* ---- and returns --------------------------------------------------------------------------- */

/* Those that have ended otherwise are dropped. The innermost; NULL: there is none. */
static const struct gt_track_injected_call *innermost(struct gt_stack *s)
{
    for (; s->n_injected; s->n_injected--) {
        const struct gt_track_injected_call *c = &s->injected[s->n_injected - 1];
        if (c->depth <= gt_stack_depth(s) && s->base[c->depth].kind == GT_FRAME_INJECTED)
            return c;
    }
    return NULL;
}

/* Where a signal has interrupted the code, whose handler begins; 0: not known. */
static uint64_t interrupted_at(const struct gt_track_thread *t, uint64_t last_exit,
                               const struct gt_code *code)
{
    struct gt_track_signal_state state;
    bool begins = code->fn->flags & GT_FUNC_HANDLER && code->entry && !is_call(last_exit);
    return begins && gt_track_signal_read(t->tracker, gt_stack_pointer_read(t), &state) ? state.pc
                                                                                        : 0;
}

/* True: the call of the top frame's function has returned, to where *last_exit is set to lead to.
 */
static bool has_returned(const struct gt_track_thread *t, const struct gt_track_injected_call *c,
                         const struct gt_code *code, uint64_t *last_exit)
{
    const struct gt_track_func *fn = t->stack->top->fn;
    uint64_t exit = *last_exit & ~(uint64_t)GT_LAST_EXIT_RESUME;
    uint64_t ret = gt_track_tail_called(t->stack)->ret;
    if (exit == 0)
        return false;
    if (left(exit) != fn)
        return t->tracker->tail_calls;
    uint64_t at = interrupted_at(t, exit, code), pc = at ? at : code->pc;
    if (is_call(exit) || (pc != ret && (!at || at - fn->lo < fn->hi - fn->lo)))
        return false;
    *last_exit = pc != ret ? 0 : c->last_exit | (at ? 0 : GT_LAST_EXIT_RESUME);
    return true;
}

static void end_returned(struct gt_track_thread *t, const struct gt_code *code, uint64_t *last_exit,
                         uint64_t time)
{
    struct gt_stack *s = t->stack;
    const struct gt_track_injected_call *c = innermost(s);
    if (!c || t->slow_flags & GT_SLOW_SWITCHED || s->base + c->depth != gt_track_tail_called(s) ||
        !has_returned(t, c, code, last_exit))
        return;
    t->matched++;
    gt_track_return_close(t, c->depth - 1, time);
    s->n_injected--;
}

bool gt_track_injected_transfer(struct gt_track_thread *t, const struct gt_code *code,
                                uint64_t *last_exit, uint64_t time)
{
    end_returned(t, code, last_exit, time);
    return arrives(t, code, *last_exit, time);
}
