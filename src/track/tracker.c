/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Life of trackers and threads: see track.h. */
#include "track/guests.h"
#include "track/injected.h"
#include "track/stack.h"

#include <stdlib.h>
#include <string.h>

void gt_code_set_slow_flags(struct gt_code *code)
{
    bool slow = code->arrival != GT_ARRIVAL_CALL || (gt_code_is_over_trap(code) && !code->entry) ||
                code->fn->flags & (GT_FUNC_STUB | GT_FUNC_HANDLER | GT_FUNC_UNWINDING);
    code->slow_flags = (code->slow_flags & GT_CODE_LEVEL) | (slow ? GT_CODE_SLOW : 0);
}

bool gt_track_init(struct gt_track *k, const struct gt_track_sink *sink, void *self,
                   uint32_t max_depth, bool tail_calls)
{
    *k = (struct gt_track){
        .sink = sink, .sink_self = self, .max_depth = max_depth, .tail_calls = tail_calls};
    k->saved_contexts = calloc(GT_TRACK_SAVED_CONTEXTS, sizeof *k->saved_contexts);
    return k->saved_contexts && pthread_mutex_init(&k->lock, NULL) == 0;
}

static void free_list(struct gt_stack *s)
{
    while (s) {
        struct gt_stack *next = s->next;
        gt_stack_free(s);
        s = next;
    }
}

void gt_track_finish(struct gt_track *k)
{
    free_list(k->stacks);
    free_list(k->ended);
    free(k->saved_contexts);
    free(k->fork_snapshots);
    gt_track_guests_free(k);
    pthread_mutex_destroy(&k->lock);
}

bool gt_track_thread_init(struct gt_track_thread *t, struct gt_track *k, uint64_t time)
{
    *t = (struct gt_track_thread){.tracker = k,
                                  .slow_flags = t->slow_flags & (GT_SLOW_USER | GT_CODE_LEVEL)};
    t->stack = gt_stack_create(k);
    if (!t->stack)
        return false;
    t->stack->thread = t;
    gt_stack_set_level(t->stack, gt_track_level(t));
    gt_stack_open(t, time);
    return t->stack->out != NULL;
}

static void stack_finish(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    gt_stack_report_end(k, s, time);
    gt_stack_close(k, s, 0, time);
    if (s->out)
        k->sink->close(k->sink_self, s);
    pthread_mutex_lock(&k->lock);
    gt_stack_unlink(k, s);
    gt_track_guests_forget(k, s);
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        if (k->saved_contexts[i].stack == s)
            k->saved_contexts[i].slot = 0;
    pthread_mutex_unlock(&k->lock);
    gt_stack_free(s);
}

void gt_track_thread_finish(struct gt_track_thread *t, uint64_t time)
{
    gt_track_guests_release(t);
    if (t->stack)
        stack_finish(t->tracker, t->stack, time);
    free(t->signals);
    t->signals = NULL;
    t->n_signals = t->cap_signals = 0;
    t->stack = NULL;
}

void gt_track_forked(struct gt_track_thread *t, uint64_t time)
{
    struct gt_track *k = t->tracker;
    pthread_mutex_init(&k->lock, NULL);
    for (struct gt_stack *s = k->stacks; s; s = s->next)
        s->out = NULL;
    for (struct gt_stack *s = k->ended; s; s = s->next)
        s->out = NULL;
    t->calls = t->matched = t->unrecorded = k->again = 0;
    memset(t->counters, 0, sizeof t->counters);
    gt_stack_open(t, time);
}

void gt_track_exec(struct gt_track_thread *t, uint64_t time)
{
    struct gt_stack *s = t->stack;
    struct gt_track_frame *top = s->top;
    gt_stack_report_end(t->tracker, s, time);
    gt_stack_close(t->tracker, s, 0, time);
    s->top = top;
}

void gt_track_exec_failed(struct gt_track_thread *t, uint64_t time)
{
    gt_stack_enter_again(t->tracker, t->stack, time);
}

uint64_t gt_track_sigreturn(struct gt_track_thread *t, uint64_t last_exit, uint64_t time)
{
    gt_stack_forget_signals(t, gt_stack_depth(t->stack));
    size_t i = t->n_signals;
    while (i > 0 && t->signals[i - 1].stack != t->stack)
        i--;
    if (i == 0) {
        t->counters[GT_ANOMALY_UNKNOWN_SIGRETURN] += !t->stack->cut;
        return last_exit;
    }
    struct gt_track_signal_entry e = t->signals[i - 1];
    t->matched++;
    t->counters[GT_COUNT_SIGNALS] += !e.confirmed;
    t->nonlocal = e.nonlocal;
    t->injection = gt_track_injected_by(t, &e);
    if (t->injection.pc)
        t->slow_flags |= GT_SLOW_INJECTED;
    if (e.switched)
        t->slow_flags |= GT_SLOW_SWITCHED;
    gt_stack_close(t->tracker, t->stack, e.depth - 1, time);
    gt_stack_forget_signals(t, e.depth - 1);
    return e.last_exit | GT_LAST_EXIT_RESUME;
}
