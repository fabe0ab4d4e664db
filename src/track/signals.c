/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal handlers: which transfer begins one, and what it interrupted. After a call of a handler's
 * entry it may be an ordinary call, or a signal that arrived just then; only its end decides.
 */
#include "track/stack.h"
#include "track/stack_memory.h"
#include "track/tail_calls.h"

#include <stdlib.h>
#include <string.h>

bool gt_track_signal_may_be(const struct gt_track_thread *t)
{
    const struct gt_track_signal_entry *e = t->n_signals ? &t->signals[t->n_signals - 1] : NULL;
    return e && !e->confirmed && e->stack == t->stack && e->depth == gt_stack_depth(t->stack);
}

/* One read of all: each is a system call, and there may be thousands of signals a second. */
bool gt_track_signal_read(const struct gt_track *k, uint64_t frame,
                          struct gt_track_signal_state *out)
{
    enum { SPAN = 64 }; /* the registers lie side by side */
    const struct gt_track_program_view *v = k->view;
    uint8_t bytes[SPAN];
    *out = (struct gt_track_signal_state){0};
    if (!frame || !v || !v->signal_pc)
        return false;
    unsigned first = v->signal_pc < v->signal_sp ? v->signal_pc : v->signal_sp;
    unsigned last = v->signal_pc < v->signal_sp ? v->signal_sp : v->signal_pc;
    if (v->signal_link && v->signal_link < first)
        first = v->signal_link;
    if (v->signal_link > last)
        last = v->signal_link;
    size_t n = last - first + v->word;
    if (n > SPAN || !v->read(k->sink_self, frame + first, bytes, n))
        return false;
    memcpy(&out->pc, bytes + v->signal_pc - first, v->word);
    memcpy(&out->sp, bytes + v->signal_sp - first, v->word);
    if (v->signal_link)
        memcpy(&out->link, bytes + v->signal_link - first, v->word);
    return true;
}

bool gt_track_signal_note(struct gt_track_thread *t, uint64_t last_exit, bool confirmed)
{
    gt_stack_forget_signals(t, gt_stack_depth(t->stack) - 1);
    if (t->n_signals == t->cap_signals) {
        size_t cap = t->cap_signals ? 2 * t->cap_signals : 8;
        struct gt_track_signal_entry *grown =
            cap > GT_TRACK_MAX_DEPTH ? NULL : realloc(t->signals, cap * sizeof *grown);
        if (!grown)
            return false;
        t->signals = grown;
        t->cap_signals = cap;
    }
    struct gt_track_signal_entry *e = &t->signals[t->n_signals++];
    *e = (struct gt_track_signal_entry){.stack = t->stack,
                                        .depth = gt_stack_depth(t->stack),
                                        .confirmed = confirmed,
                                        .switched = t->slow_flags & GT_SLOW_SWITCHED,
                                        .last_exit = last_exit,
                                        .injection = t->injection,
                                        .nonlocal = t->nonlocal};
    uint64_t frame = gt_stack_pointer_read(t);
    e->frame = gt_track_signal_read(t->tracker, frame, &e->was) ? frame : 0;
    t->injection = (struct gt_track_injection){0};
    if (confirmed) {
        t->slow_flags &= ~(uint32_t)GT_SLOW_SWITCHED;
        t->nonlocal = (struct gt_track_nonlocal){0};
    }
    t->counters[GT_COUNT_SIGNALS] += confirmed;
    return true;
}

void gt_track_signal_begin(struct gt_track_thread *t, uint64_t last_exit,
                           const struct gt_code *code, uint64_t time)
{
    gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_SIGNAL},
                  time);
    if (!gt_track_signal_note(t, last_exit, true))
        t->counters[GT_ANOMALY_TOO_DEEP]++;
}

/* A signal may have arrived just after a call, too: the handler's end will distinguish them. */
bool gt_track_signal_is_called(uint64_t last_exit, const struct gt_code *code)
{
    if (!(last_exit & GT_LAST_EXIT_CODE))
        return false;
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    switch (from->exit) {
    case GT_EXIT_CALL:
        return last_exit & GT_LAST_EXIT_STUB || from->target == code->pc;
    case GT_EXIT_JUMP_HANDLER:
        return from->target == code->pc;
    case GT_EXIT_CALL_INDIRECT:
        return true;
    default:
        return false;
    }
}

bool gt_track_signal_is_resumed_in(const struct gt_stack *s, uint64_t last_exit,
                                   const struct gt_code *code)
{
    if (!(last_exit & GT_LAST_EXIT_CODE))
        return last_exit == gt_track_last_exit_of_func(code->fn);
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    if (from->exit == GT_EXIT_RETURN && gt_track_tail_called(s)->ret == code->pc)
        return false; /* of a recursive call, into the block that has returned */
    return code->pc >= from->pc && code->pc < gt_code_end(from) &&
           !(from->exit == GT_EXIT_CALL && from->target == code->pc);
}
