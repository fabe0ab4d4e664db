/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frame a saved context belongs to.
 *
 * setjmp, getcontext and swapcontext store the stack pointer somewhere in memory, and code that
 * resumes that context loads it from the same word. So each word that such a function stores is
 * remembered with the stack and the frame that will continue. When the stack pointer is loaded, the
 * words loaded just before identify that frame, however often its function is on the stack. The
 * context continues where the saving function returns to, or in that function itself, if it is
 * still on its stack: a swapcontext that calls setcontext, or (aarch64, glibc 2.41) jumps there and
 * has its frame replaced.
 *
 * The table is bounded, in sets of a few entries: if a guest saves more contexts than it holds, the
 * oldest are lost, and the tracker falls back to return addresses.
 */
#include "track/guests.h"
#include "track/stack.h"
#include "track/tail_calls.h"

#include <string.h>

enum { WAYS = 4 };

/* The first entry of the address's set. */
static struct gt_track_saved_context *set_of(const struct gt_track *k, uint64_t addr)
{
    uint64_t hash = addr * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &k->saved_contexts[hash & (GT_TRACK_SAVED_CONTEXTS - 1) & ~(uint64_t)(WAYS - 1)];
}

static struct gt_track_saved_context *find_slot(const struct gt_track *k, uint64_t addr)
{
    struct gt_track_saved_context *set = set_of(k, addr);
    for (unsigned i = 0; i < WAYS; i++)
        if (addr && set[i].slot == addr)
            return &set[i];
    return NULL;
}

/* True where the frame that called the saving function is still on the stack. */
static bool stands(const struct gt_track_saved_context *save)
{
    const struct gt_stack *s = save->stack;
    return gt_stack_depth(s) + 1 >= save->depth && s->base[save->depth - 1].addr == save->below;
}

/* Returns the address's own entry, or a free one, or one whose frame is gone, or the oldest. */
static struct gt_track_saved_context *claim_slot(const struct gt_track *k, uint64_t addr)
{
    struct gt_track_saved_context *set = set_of(k, addr), *found = find_slot(k, addr);
    for (unsigned i = 0; i < WAYS && !found; i++)
        if (!set[i].slot || !stands(&set[i]))
            found = &set[i];
    if (!found) {
        memmove(set, set + 1, (WAYS - 1) * sizeof *set);
        found = &set[WAYS - 1];
    }
    return found;
}

void gt_track_saved(struct gt_track_thread *t, uint64_t addr)
{
    struct gt_stack *s = t->stack;
    const struct gt_track_frame *own = gt_track_tail_called(s);
    uint32_t depth = (uint32_t)(own - s->base);
    addr = gt_track_guest_word(t, addr);
    if (depth < 1 || addr == 0)
        return;
    struct gt_track *k = t->tracker;
    pthread_mutex_lock(&k->lock);
    *claim_slot(k, addr) = (struct gt_track_saved_context){.slot = addr,
                                                           .stack = s,
                                                           .depth = depth,
                                                           .addr = own->addr,
                                                           .ret = own->ret,
                                                           .below = own[-1].addr};
    pthread_mutex_unlock(&k->lock);
    if (k->machine)
        s->top->flags |= GT_FRAME_SP_STORED;
}

void gt_track_restored(struct gt_track_thread *t, uint64_t addr)
{
    struct gt_track_nonlocal *nonlocal = &t->nonlocal;
    nonlocal->restored[nonlocal->n_restored++ %
                       (sizeof nonlocal->restored / sizeof nonlocal->restored[0])] =
        gt_track_guest_word(t, addr);
}

uint64_t gt_track_nonlocal_word(const struct gt_track_nonlocal *nonlocal, uint64_t sp)
{
    enum { MOVED = 64 }; /* bytes that a return, a call or what restores registers may move it by */
    uint32_t size = sizeof nonlocal->values / sizeof nonlocal->values[0],
             n = gt_track_nonlocal_words(nonlocal);
    uint64_t loaded = nonlocal->new_sp, most = loaded ? 0 : MOVED;
    for (uint32_t i = 1; i <= n && sp; i++) {
        uint32_t at = (nonlocal->n_restored - i) % size;
        if (nonlocal->values[at] - (loaded ? loaded : sp) + most <= 2 * most)
            return nonlocal->restored[at];
    }
    return 0;
}

void gt_track_restored_word(struct gt_track_thread *t, uint64_t addr, uint64_t value)
{
    struct gt_track_nonlocal *nonlocal = &t->nonlocal;
    nonlocal
        ->values[nonlocal->n_restored % (sizeof nonlocal->values / sizeof nonlocal->values[0])] =
        value;
    gt_track_restored(t, addr);
}

bool gt_track_saved_context_goes_on(const struct gt_track_saved_context *save,
                                    const struct gt_code *code, uint32_t *frames)
{
    if (!stands(save))
        return false;
    const struct gt_stack *s = save->stack;
    const struct gt_track_frame *own = &s->base[save->depth];
    bool inside = code->fn->flags & GT_FUNC_SAVER && !code->entry &&
                  gt_stack_depth(s) >= save->depth && own->ret == save->ret &&
                  (own->addr == save->addr || own->fn->flags & GT_FUNC_RESTORER);
    *frames = save->depth - (save->ret == code->pc);
    return save->ret == code->pc || inside;
}

struct gt_stack *gt_track_saved_context_find(struct gt_track_thread *t, const struct gt_code *code,
                                             uint32_t *depth)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *found = NULL;
    uint32_t n = gt_track_nonlocal_words(&t->nonlocal);
    pthread_mutex_lock(&k->lock);
    for (uint32_t i = 0; i < n && !found; i++) {
        const struct gt_track_saved_context *save = find_slot(k, t->nonlocal.restored[i]);
        if (!save || (save->stack->thread && save->stack != t->stack))
            continue;
        if (gt_track_saved_context_goes_on(save, code, depth))
            found = save->stack;
    }
    pthread_mutex_unlock(&k->lock);
    return found;
}

const struct gt_track_saved_context *gt_track_saved_context_at(struct gt_track *k, uint64_t addr)
{
    const struct gt_track_saved_context *save = find_slot(k, addr);
    return save && stands(save) ? save : NULL;
}

struct gt_track_saved_context gt_track_saved_context_own(const struct gt_track_thread *t)
{
    uint32_t n = gt_track_nonlocal_words(&t->nonlocal);
    for (uint32_t i = 0; i < n; i++) {
        const struct gt_track_saved_context *save = find_slot(t->tracker, t->nonlocal.restored[i]);
        struct gt_track_saved_context own = save ? *save : (struct gt_track_saved_context){0};
        own.stack = t->stack;
        if (save && stands(&own))
            return own;
    }
    return (struct gt_track_saved_context){0};
}

bool gt_track_saved_context_any(const struct gt_track *k, const struct gt_stack *s)
{
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        if (k->saved_contexts[i].slot && k->saved_contexts[i].stack == s &&
            stands(&k->saved_contexts[i]))
            return true;
    return false;
}
