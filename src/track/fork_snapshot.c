/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of programs that have made a system call: it may have made a process, which begins
 * with a copy of its maker's, perhaps when the maker has left it.
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
bool gt_made_take(struct gt_thread *t, uint64_t pc, uint64_t time)
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
    t->counters[GT_COUNT_BEGUN] += made.n > 0;
    return made.n > 0;
}
