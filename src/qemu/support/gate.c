/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping callbacks out: see gate.h. */
#include "qemu/support/gate.h"

#include "base/clock.h"
#include "base/thread.h"

#include <sched.h>
#include <time.h>

void gt_gate_init(struct gt_gate *g)
{
    pthread_mutex_init(&g->lock, NULL);
    g->open = g->state = gt_thread_membarrier_exists() ? GT_GATE_OPEN : GT_GATE_FENCES;
}

/* Makes all other threads see the state, and this one see their words. */
static bool fence(const struct gt_gate *g)
{
    return g->open == GT_GATE_FENCES || gt_thread_membarrier() ||
           (gt_thread_membarrier_prepare() && gt_thread_membarrier());
}

/* A callback ends in a moment, unless its thread has no processor. */
static void pause_for(unsigned round)
{
    enum { YIELDS = 100, PAUSE_NS = 100000 };
    if (round < YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* False: one is under way when the time has come; 0: there is no such time. */
static bool wait_for_words(const struct gt_gate_words *words, uint64_t until)
{
    const char *word = (const char *)words->first;
    for (unsigned i = 0; i < words->n; i++, word += words->stride)
        for (unsigned round = 0; gt_gate_is_under_way((const uint32_t *)(const void *)word);
             round++) {
            if (until && gt_base_clock_monotonic() >= until)
                return false;
            pause_for(round);
        }
    return true;
}

static bool shut(struct gt_gate *g, const struct gt_gate_words *words, uint64_t until)
{
    __atomic_store_n(&g->state, GT_GATE_HELD, __ATOMIC_SEQ_CST);
    return words->n == 0 || (fence(g) && wait_for_words(words, until));
}

bool gt_gate_hold(struct gt_gate *g, const struct gt_gate_words *words)
{
    pthread_mutex_lock(&g->lock);
    if (!gt_gate_ends(g) && shut(g, words, 0))
        return true;
    if (!gt_gate_ends(g))
        gt_gate_open(g);
    else
        pthread_mutex_unlock(&g->lock);
    return false;
}

void gt_gate_open(struct gt_gate *g)
{
    __atomic_store_n(&g->state, g->open, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&g->lock);
}

static bool lock_in_time(pthread_mutex_t *lock)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += GT_GATE_SECONDS;
    return pthread_mutex_timedlock(lock, &until) == 0;
}

bool gt_gate_wait_for_lock(pthread_mutex_t *lock)
{
    bool locked = lock_in_time(lock);
    if (locked)
        pthread_mutex_unlock(lock);
    return locked;
}

enum gt_gate_end gt_gate_end(struct gt_gate *g, const struct gt_gate_words *words)
{
    if (__atomic_exchange_n(&g->ends, true, __ATOMIC_SEQ_CST))
        return GT_GATE_ENDED;
    g->locked = lock_in_time(&g->lock);
    uint64_t until = gt_base_clock_monotonic() + GT_GATE_SECONDS * UINT64_C(1000000000);
    return g->locked && shut(g, words, until) ? GT_GATE_QUIET : GT_GATE_NOT_QUIET;
}

void gt_gate_close(struct gt_gate *g)
{
    __atomic_store_n(&g->state, GT_GATE_CLOSED, __ATOMIC_SEQ_CST);
    if (g->locked)
        pthread_mutex_unlock(&g->lock);
}

bool gt_gate_enter_slowly(const struct gt_gate *g, uint32_t *word)
{
    for (;;) {
        gt_gate_leave(word);
        uint32_t now;
        for (unsigned round = 0;
             (now = __atomic_load_n(&g->state, __ATOMIC_ACQUIRE)) == GT_GATE_HELD; round++)
            pause_for(round);
        if (now == GT_GATE_CLOSED)
            return false;
        __atomic_exchange_n(word, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&g->state, __ATOMIC_SEQ_CST) <= GT_GATE_FENCES)
            return true;
    }
}

void gt_gate_lock(struct gt_gate *g)
{
    pthread_mutex_lock(&g->lock);
}

void gt_gate_unlock(struct gt_gate *g)
{
    pthread_mutex_unlock(&g->lock);
}
