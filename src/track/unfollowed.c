/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are not followed for a time: see unfollowed.h. */
#include "track/unfollowed.h"
#include "track/guests.h"
#include "track/stack.h"

static void forget_frames(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    gt_stack_report_end(k, s, time);
    gt_stack_close(k, s, 0, time);
    s->n_handlers = 0;
    s->maybe = (struct gt_track_handler){0};
    s->base->flags = 0;
    s->sp = GT_NO_ADDR;
    s->resumes = 0;
    s->vm = s->prepared = 0;
    s->cut = true;
}

void gt_track_stop_following(struct gt_track_thread *t, uint64_t time)
{
    struct gt_track *k = t->tracker;
    gt_track_guests_end(t, time);
    forget_frames(k, t->stack, time);
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        if (k->saved_contexts[i].stack == t->stack)
            k->saved_contexts[i].slot = 0;
    pthread_mutex_unlock(&k->lock);
    t->slow_flags &= ~(uint32_t)(GT_SLOW_SWITCHED | GT_SLOW_LONGJMP);
    t->n_signals = 0;
    t->injection = (struct gt_track_injection){0};
    t->nonlocal = (struct gt_track_nonlocal){0};
    t->passed = GT_PASSED_UNKNOWN;
    t->calling_sp = t->returned_sp = 0;
    t->reloaded = (struct gt_track_saved_context){0};
}

void gt_track_end_suspended(struct gt_track *k, uint64_t time)
{
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        if (k->saved_contexts[i].slot && !k->saved_contexts[i].stack->thread)
            k->saved_contexts[i].slot = 0;
    for (struct gt_stack *s = k->stacks, *next; s; s = next) {
        next = s->next;
        if (s->thread)
            continue;
        if (time > s->last_time)
            s->last_time = time;
        gt_stack_report_end(k, s, s->last_time);
        gt_stack_end(k, s);
    }
    gt_track_fork_snapshots_forget(k);
    pthread_mutex_unlock(&k->lock);
}

/* A thread of a machine may be on any context; one of a program has one of its own, which it began
 * with. */
void gt_track_follow_again(struct gt_track_thread *t, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *old = t->stack;
    if (k->one_output || !(k->machine || old->coroutine))
        return;
    struct gt_stack *s = gt_stack_take(k);
    if (!s)
        return;
    old->last_time = time;
    pthread_mutex_lock(&k->lock);
    old->thread = NULL;
    gt_stack_end(k, old);
    pthread_mutex_unlock(&k->lock);
    s->coroutine = s->cut = true;
    s->thread = t;
    s->vm = gt_track_guest_vm(t);
    t->stack = s;
    gt_stack_set_level(s, gt_track_level(t));
    gt_stack_open(t, time);
}

/* On its first stack, or where it runs a context of the guest on a new one. */
void gt_track_begin_again(struct gt_track_thread *t, uint64_t time)
{
    t->counters[GT_COUNT_RESETS]++;
    t->calls_before = t->calls;
    gt_track_guests_end(t, time);
    if (t->stack->coroutine)
        gt_track_follow_again(t, time);
    t->stack->cut = false;
}

void gt_track_go_on_unknown(struct gt_track_thread *t, uint64_t time)
{
    struct gt_stack *from = t->stack;
    if (from->top->flags & GT_FRAME_SP_LOADED)
        from->sp = from->sp_before_load;
    gt_stack_flush(t->tracker, from);
    from->top->flags = 0;
    gt_stack_begin(t, time);
    if (t->stack != from)
        t->stack->cut = true;
}
