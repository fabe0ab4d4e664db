/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual machines in the machine: see guests.h. */
#include "track/guests.h"
#include "track/machine.h"
#include "track/stack.h"
#include "track/tail_calls.h"

#include <stdlib.h>

enum { MOST = 256, DEEPEST = 8 };

/* ---- which one ----------------------------------------------------------------------------- */

static bool is_of(const struct gt_track_guest_vcpu *g, uint64_t vm, uint64_t vcpu)
{
    return g->vm == vm && g->vcpu == vcpu;
}

/* A new one, or the first that was left, if there are many. With the lock. */
static struct gt_track_guest_vcpu *take(struct gt_track *k)
{
    unsigned n = 0;
    struct gt_track_guest_vcpu *left = NULL;
    for (struct gt_track_guest_vcpu *g = k->guests; g; g = g->next, n++)
        if (!g->host)
            left = g; /* the list's newest is its first */
    if (n < MOST) {
        struct gt_track_guest_vcpu *g = calloc(1, sizeof *g);
        if (!g)
            return NULL;
        g->next = k->guests;
        return k->guests = g;
    }
    if (left && left->stack)
        gt_stack_end(k, left->stack);
    return left;
}

/* The vCPU, which the thread alone runs from now on; its stack is taken out of it. NULL: no memory,
 * or another thread runs it. */
static struct gt_track_guest_vcpu *claim(struct gt_track_thread *t, uint64_t vm, uint64_t vcpu,
                                         struct gt_stack **stack)
{
    struct gt_track *k = t->tracker;
    pthread_mutex_lock(&k->lock);
    struct gt_track_guest_vcpu *g = k->guests;
    while (g && !is_of(g, vm, vcpu))
        g = g->next;
    if (!g) {
        g = take(k);
        if (g)
            *g = (struct gt_track_guest_vcpu){.vm = vm, .vcpu = vcpu, .next = g->next};
    }
    if (g && g->host)
        g = NULL;
    if (g) {
        *stack = g->stack;
        g->stack = NULL;
        g->host = t->stack;
    }
    pthread_mutex_unlock(&k->lock);
    return g;
}

static unsigned depth_of(const struct gt_track_thread *t)
{
    unsigned n = 0;
    for (const struct gt_track_guest_vcpu *g = t->guest; g; g = g->outer)
        n++;
    return n;
}

/* ---- entering and leaving ------------------------------------------------------------------ */

/* The stack left behind stays the thread's: no other thread continues with it. */
static bool go_to(struct gt_track_thread *t, struct gt_stack *to, uint64_t vm, uint64_t time)
{
    if (!to)
        to = gt_stack_take(t->tracker);
    if (!to || !gt_stack_visit(t, to, time))
        return false;
    t->stack->coroutine = true;
    t->stack->vm = vm;
    return true;
}

/* Loads that were seen before are of another space. */
static void forget_loads(struct gt_track_thread *t)
{
    t->nonlocal.n_restored = 0;
    t->slow_flags &= ~(uint32_t)GT_SLOW_LONGJMP;
}

uint64_t gt_track_guest_enter(struct gt_track_thread *t, const struct gt_track_guest_id *id,
                              uint64_t time)
{
    struct gt_stack *host = t->stack, *stack = NULL;
    uint64_t vm = id->vm ? id->vm : (uint64_t)(uintptr_t)host | 1;
    struct gt_track_guest_vcpu *g = depth_of(t) < DEEPEST ? claim(t, vm, id->vcpu, &stack) : NULL;
    if (!g)
        return 0;
    gt_machine_forget(t, gt_stack_depth(host));
    host->top->flags = 0;
    if (!go_to(t, stack, vm, time)) {
        g->host = NULL;
        return 0;
    }
    g->outer = t->guest;
    g->after = id->after;
    t->guest = g;
    t->counters[GT_COUNT_GUESTS]++;
    forget_loads(t);
    return stack ? g->last_exit | GT_LAST_EXIT_RESUME : gt_track_guest_beginning();
}

static void leave(struct gt_track_thread *t, uint64_t last_exit, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_track_guest_vcpu *g = t->guest;
    struct gt_stack *s = t->stack;
    gt_stack_open(t, time);
    gt_stack_come_back(t, g->host, time);
    t->guest = g->outer;
    pthread_mutex_lock(&k->lock);
    g->stack = s;
    g->last_exit = last_exit & ~(uint64_t)GT_LAST_EXIT_RESUME;
    g->host = NULL;
    pthread_mutex_unlock(&k->lock);
    forget_loads(t);
}

/* The hypervisor's handler, which the guest was left to, ends. Returns what it had interrupted. */
static uint64_t end_handler(struct gt_track_thread *t, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (!s->n_handlers)
        return gt_track_guest_beginning();
    struct gt_track_handler h = s->handlers[--s->n_handlers];
    gt_stack_open(t, time);
    gt_stack_close(t->tracker, s, h.depth - 1, time);
    s->top->flags = 0;
    return h.last_exit;
}

void gt_track_guest_leave_handler(struct gt_track_thread *t, uint64_t time)
{
    leave(t, end_handler(t, time), time);
}

bool gt_track_guest_goes_on(struct gt_track_thread *t, const struct gt_track_guest_id *id,
                            uint64_t time)
{
    const struct gt_track_guest_vcpu *g = t->guest;
    while (g && id->vm && !is_of(g, id->vm, id->vcpu))
        g = g->outer;
    if (!g)
        return false;
    while (t->guest != g)
        gt_track_guest_leave_handler(t, time);
    return t->stack->n_handlers > 0;
}

void gt_track_guest_leave_all(struct gt_track_thread *t, uint64_t time)
{
    while (t->guest)
        gt_track_guest_leave_handler(t, time);
}

bool gt_track_guest_ends_at(struct gt_track_thread *t, uint64_t pc, uint64_t last_exit,
                            uint64_t time)
{
    if (!t->guest || !t->guest->after || t->guest->after != pc)
        return false;
    leave(t, last_exit, time);
    return true;
}

/* ---- registers that are not read ----------------------------------------------------------- */

/* The outermost handler's depth: the program's system call, which others may interrupt meanwhile.
 */
static uint32_t ceiling(const struct gt_stack *s)
{
    return s->n_handlers ? s->handlers[0].depth : 0;
}

void gt_track_guest_prepare(struct gt_track_thread *t)
{
    t->stack->prepared = ceiling(t->stack) + 1;
}

bool gt_track_guest_is_prepared(const struct gt_track_thread *t)
{
    return t->stack->prepared == ceiling(t->stack) + 1;
}

bool gt_track_guest_may_be_entered(const struct gt_track_thread *t)
{
    const struct gt_stack *s = t->stack;
    return gt_track_tail_called(s) > s->base + gt_machine_floor(s);
}

/* ---- ends ---------------------------------------------------------------------------------- */

void gt_track_guests_end(struct gt_track_thread *t, uint64_t time)
{
    struct gt_track *k = t->tracker;
    while (t->guest) {
        pthread_mutex_lock(&k->lock);
        struct gt_stack *host = gt_track_guest_drop(t);
        host->last_time = time > host->last_time ? time : host->last_time;
        gt_stack_end(k, host);
        pthread_mutex_unlock(&k->lock);
    }
}
