/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several call stacks: contexts (threads, coroutines) that begin, are suspended, continue and end.
 * See stack.h. */
#include "track/guests.h"
#include "track/machine.h"
#include "track/stack.h"
#include "track/tail_calls.h"

/* A suspended stack continues, or ends. */
static void report_resumed(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    if (s->out && k->sink->resumed)
        k->sink->resumed(k->sink_self, s, time);
}

void gt_track_close_suspended(struct gt_track *k, uint64_t time)
{
    pthread_mutex_lock(&k->lock);
    for (struct gt_stack *s = k->stacks; s; s = s->next)
        if (!s->thread) {
            uint64_t end = time > s->last_time ? time : s->last_time;
            report_resumed(k, s, end);
            gt_stack_report_end(k, s, end);
            gt_stack_close(k, s, 0, end);
        }
    pthread_mutex_unlock(&k->lock);
}

struct gt_stack *gt_stack_find_suspended(const struct gt_track_thread *t, uint64_t pc,
                                         bool *several)
{
    struct gt_stack *found = NULL;
    bool same = false;
    *several = false;
    if (t->tracker->machine && !gt_machine_left_unread(t))
        return NULL;
    pthread_mutex_lock(&t->tracker->lock);
    for (struct gt_stack *s = t->tracker->stacks; s; s = s->next) {
        if (s->thread || s->top == s->base || gt_track_tail_called(s)->ret != pc ||
            (t->tracker->machine && s->sp != GT_NO_ADDR))
            continue;
        bool in_same = s->top->fn == t->stack->top->fn;
        *several = found && in_same == same ? true : in_same > same ? false : *several;
        if (!found || in_same)
            found = s;
        same |= in_same;
    }
    pthread_mutex_unlock(&t->tracker->lock);
    return found;
}

/* True for a coroutine whose first function has returned, and whose caller does not come back. */
static bool has_ended(const struct gt_track_thread *t, const struct gt_stack *s)
{
    const struct gt_track *k = t->tracker;
    uint32_t depth = gt_stack_depth(s);
    if (!s->coroutine || k->machine)
        return false;
    if (depth == 0 || s->base[1].kind != GT_FRAME_ROOT)
        return depth == 0 || !s->word ||
               (t->nonlocal.for_good && !gt_track_saved_context_any(k, s));
    return depth <= 2 && t->nonlocal.for_good && !gt_track_saved_context_any(k, s);
}

void gt_stack_end(struct gt_track *k, struct gt_stack *s)
{
    report_resumed(k, s, s->last_time);
    gt_stack_close(k, s, 0, s->last_time);
    s->n_handlers = 0;
    s->base->flags = 0;
    s->cut = false;
    s->sp = GT_NO_ADDR;
    s->begin_sp = s->word = 0;
    s->n_excursions = 0;
    s->n_injected = 0;
    s->vm = s->prepared = 0;
    gt_track_guests_forget(k, s);
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS && k->machine; i++)
        if (k->saved_contexts[i].stack == s)
            k->saved_contexts[i].slot = 0;
    gt_stack_unlink(k, s);
    s->next = k->ended;
    k->ended = s;
    s->ended = true;
}

/* Another stack uses the output from now on: the frames stay open here only. */
static void give_output_up(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    struct gt_track_frame *top = s->top;
    gt_stack_close(k, s, 0, time);
    s->top = top;
    s->out = NULL;
}

/* The stack continues with a stack pointer that was loaded from there. One that had it before has
 * ended, or will be known by its place. */
static void take_word(struct gt_track *k, struct gt_stack *s, uint64_t word)
{
    pthread_mutex_lock(&k->lock);
    for (struct gt_stack *other = k->stacks; other; other = other->next)
        if (other->word == word)
            other->word = 0;
    s->word = word;
    pthread_mutex_unlock(&k->lock);
}

/* Another program's stack that lies inside the memory of the one that is left has ended, or
 * been moved. */
static void note_left_sp(const struct gt_track_thread *t)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *own = t->stack;
    own->sp = t->nonlocal.left_sp ? t->nonlocal.left_sp : GT_NO_ADDR;
    if (own->sp == GT_NO_ADDR || !own->begin_sp)
        return;
    for (struct gt_stack *s = k->stacks, *next; s; s = next) {
        next = s->next;
        if (s->thread || !s->begin_sp || s->sp < own->sp || s->sp > own->begin_sp)
            continue;
        if (s->word)
            s->sp = GT_NO_ADDR;
        else
            gt_stack_end(k, s);
    }
}

/* keep: no other thread may continue with it. */
static void suspend(struct gt_track_thread *t, bool keep, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *s = t->stack;
    gt_stack_flush(k, s);
    pthread_mutex_lock(&k->lock);
    s->last_time = time;
    if (!k->machine)
        note_left_sp(t);
    if (k->one_output)
        give_output_up(k, s, time);
    if (has_ended(t, s))
        gt_stack_end(k, s);
    else if (s->out && k->sink->suspended)
        k->sink->suspended(k->sink_self, s, time);
    s->thread = keep ? t : NULL;
    pthread_mutex_unlock(&k->lock);
}

static struct gt_stack *take_ended(struct gt_track *k)
{
    pthread_mutex_lock(&k->lock);
    struct gt_stack *s = k->ended;
    if (s) {
        k->ended = s->next;
        s->ended = false;
        s->next = k->stacks;
        k->stacks = s;
    }
    pthread_mutex_unlock(&k->lock);
    return s;
}

/* The stack was found a moment ago: another thread may have continued with it, or ended it. */
static bool claim(struct gt_track_thread *t, struct gt_stack *s)
{
    struct gt_track *k = t->tracker;
    pthread_mutex_lock(&k->lock);
    bool is_free = !s->thread && !s->ended;
    if (is_free)
        s->thread = t;
    pthread_mutex_unlock(&k->lock);
    return is_free;
}

/* The stack, or where another thread has it a new one. NULL: no memory. */
static struct gt_stack *claim_or_begin(struct gt_track_thread *t, struct gt_stack *s)
{
    if (claim(t, s))
        return s;
    t->counters[GT_ANOMALY_GUESSED_STACK]++;
    s = gt_stack_take(t->tracker);
    if (!s || !claim(t, s))
        return NULL;
    s->coroutine = s->cut = true;
    return s;
}

/* Goes on with a stack that is the thread's. */
static void go_on(struct gt_track_thread *t, struct gt_stack *s, bool keep, uint64_t time)
{
    suspend(t, keep, time);
    if (t->tracker->guests) {
        pthread_mutex_lock(&t->tracker->lock);
        gt_track_guests_forget(t->tracker, s);
        pthread_mutex_unlock(&t->tracker->lock);
    }
    t->stack = s;
    if (t->nonlocal.word)
        take_word(t->tracker, s, t->nonlocal.word);
    gt_stack_set_level(s, gt_track_level(t));
    t->counters[GT_COUNT_SWITCHED]++;
    report_resumed(t->tracker, s, time > s->last_time ? time : s->last_time);
    gt_stack_open(t, time);
}

void gt_stack_switch(struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    s = claim_or_begin(t, s);
    if (s)
        go_on(t, s, false, time);
}

bool gt_stack_visit(struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    s = claim_or_begin(t, s);
    if (s)
        go_on(t, s, true, time);
    return s != NULL;
}

void gt_stack_come_back(struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    go_on(t, s, false, time);
}

struct gt_stack *gt_stack_take(struct gt_track *k)
{
    struct gt_stack *s = k->n_stacks < k->keep_stacks ? NULL : take_ended(k);
    return s ? s : gt_stack_create(k);
}

void gt_stack_begin(struct gt_track_thread *t, uint64_t time)
{
    struct gt_stack *s = gt_stack_take(t->tracker);
    if (!s)
        return;
    s->coroutine = true;
    s->vm = gt_track_guest_vm(t);
    gt_stack_switch(t, s, time);
}
