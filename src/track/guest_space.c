/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which virtual machine a thread runs, and the list of them: see guests.h. */
#include "track/guests.h"
#include "track/tail_calls.h"

#include <stdlib.h>

uint64_t gt_track_guest_vm(const struct gt_track_thread *t)
{
    return t->guest ? t->guest->vm : 0;
}

uint64_t gt_track_guest_word(const struct gt_track_thread *t, uint64_t addr)
{
    return t->guest && addr ? addr ^ t->guest->vm * UINT64_C(0x9e3779b97f4a7c15) : addr;
}

/* A function without code: no block has it as its last exit. */
static const struct gt_track_func beginning = {.flags = GT_FUNC_ANON};

uint64_t gt_track_guest_beginning(void)
{
    return gt_track_last_exit_of_func(&beginning);
}

bool gt_track_guest_begins(uint64_t last_exit)
{
    return (last_exit & ~(uint64_t)GT_LAST_EXIT_TAGS) == gt_track_last_exit_of_func(&beginning);
}

bool gt_track_guest_returns(const struct gt_track_thread *t, uint64_t pc)
{
    const struct gt_track_guest_vcpu *g = t->guest;
    return g && !g->after && t->stack->n_handlers && gt_track_tail_called(g->host)->ret == pc;
}

void gt_track_guests_forget(struct gt_track *k, const struct gt_stack *s)
{
    for (struct gt_track_guest_vcpu *g = k->guests; g; g = g->next)
        if (g->stack == s)
            g->stack = NULL;
}

struct gt_stack *gt_track_guest_drop(struct gt_track_thread *t)
{
    struct gt_track_guest_vcpu *g = t->guest;
    struct gt_stack *host = g->host;
    t->guest = g->outer;
    g->host = NULL;
    g->outer = NULL;
    host->thread = NULL;
    return host;
}

void gt_track_guests_release(struct gt_track_thread *t)
{
    struct gt_track *k = t->tracker;
    while (t->guest) {
        pthread_mutex_lock(&k->lock);
        gt_track_guest_drop(t);
        pthread_mutex_unlock(&k->lock);
    }
}

void gt_track_guests_free(struct gt_track *k)
{
    while (k->guests) {
        struct gt_track_guest_vcpu *next = k->guests->next;
        free(k->guests);
        k->guests = next;
    }
}
