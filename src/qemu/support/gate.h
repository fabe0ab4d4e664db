/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping callbacks out. QEMU may exit on one vCPU's thread, or on its main thread, while other
 * vCPUs run: these may be in a callback at that moment, and may come to one at any later moment.
 *
 * A callback notes in a word of its vCPU that it is under way. A thread that needs all vCPUs as
 * they are, because the recording ends or translated code is gone, shuts the gate: callbacks that
 * begin from then on wait, and it waits until none is under way. After the end they return at once.
 * Nothing that a callback may find is freed even then: one that waits for QEMU (for a lock that the
 * exiting thread holds) may go on at any later moment, and is waited for only so long.
 *
 * The callbacks' side costs two stores and a load: the thread that shuts the gate makes all others
 * see it (gt_thread_membarrier).
 */
#ifndef GT_QEMU_SUPPORT_GATE_H
#define GT_QEMU_SUPPORT_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_gate_state {
    GT_GATE_OPEN,
    GT_GATE_FENCES, /* open, and the kernel has no membarrier: callbacks fence by themselves */
    GT_GATE_HELD,   /* callbacks wait */
    GT_GATE_CLOSED, /* for good: callbacks return */
};

struct gt_gate {
    uint32_t state;       /* enum gt_gate_state; atomic */
    uint32_t open;        /* at load: the state while it is open */
    bool ends;            /* gt_gate_end was called; atomic */
    bool locked;          /* by gt_gate_end */
    pthread_mutex_t lock; /* held while callbacks wait */
};

/* The words of n vCPUs, `stride` bytes apart. A word is not 0 while a callback is under way. */
struct gt_gate_words {
    uint32_t *first;
    size_t stride;
    unsigned n;
};

/* At load: finds out whether callbacks have to fence. */
void gt_gate_init(struct gt_gate *g);

/* Waits until no callback is under way, and lets none begin until gt_gate_open. False: the end has
 * come. */
bool gt_gate_hold(struct gt_gate *g, const struct gt_gate_words *words);
void gt_gate_open(struct gt_gate *g);

/* The end: lets no callback begin until gt_gate_close, which makes them return, and waits until
 * none is under way. */
enum gt_gate_end {
    GT_GATE_ENDED,    /* it was called before; do not close */
    GT_GATE_QUIET,    /* none is under way */
    GT_GATE_NOT_QUIET /* some still are after GT_GATE_SECONDS, or it cannot be known */
};
enum { GT_GATE_SECONDS = 10 };
enum gt_gate_end gt_gate_end(struct gt_gate *g, const struct gt_gate_words *words);
void gt_gate_close(struct gt_gate *g);

/* What callbacks without a word do with a lock held: false: the lock was not free in
 * GT_GATE_SECONDS. Where they get it later, gt_gate_ends. */
bool gt_gate_wait_for_lock(pthread_mutex_t *lock);
static inline bool gt_gate_ends(const struct gt_gate *g)
{
    return __atomic_load_n(&g->ends, __ATOMIC_ACQUIRE);
}

/* Around a fork: the state does not change. */
void gt_gate_lock(struct gt_gate *g);
void gt_gate_unlock(struct gt_gate *g);

static inline bool gt_gate_is_under_way(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

/* The callback has ended. */
static inline void gt_gate_leave(uint32_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* The first half of gt_gate_enter, which calls nothing. False: gt_gate_enter_slowly is the other
 * one.
 */
static inline __attribute__((always_inline)) bool gt_gate_try(const struct gt_gate *g,
                                                              uint32_t *word)
{
    __atomic_store_n(word, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __builtin_expect(__atomic_load_n(&g->state, __ATOMIC_SEQ_CST) == GT_GATE_OPEN, 1);
}
bool gt_gate_enter_slowly(const struct gt_gate *g, uint32_t *word);

/* A callback begins, on the vCPU's thread, which is in no other one. False: it must leave
 * everything as it is, as the end has come. Else gt_gate_leave ends it. */
static inline __attribute__((always_inline)) bool gt_gate_enter(const struct gt_gate *g,
                                                                uint32_t *word)
{
    return gt_gate_try(g, word) || gt_gate_enter_slowly(g, word);
}

#endif
