/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rings: where threads put their records and the writer takes them from.
 *
 * A ring has blocks, one producer and one consumer. A thread has one for each nesting depth: a
 * signal handler that records while the thread is recording uses the next deeper ring, so that no
 * instruction of the common path needs to be atomic. Positions count bytes since the ring was made.
 * A record lies in one block; head is never at the end of a block, so that it identifies the block
 * that is being filled; `filled` has the bytes of the blocks before it.
 *
 *   the producer writes   head, limit, filled[], first[], lost
 *   the consumer writes   tail, freed (how often it moved: a futex), and lowers limit to head in a
 *                         ring that is idle, so that its next record wakes the writer
 *
 * With the policy `overwrite` it is the producer that moves tail, unless the consumer has set
 * GT_EVENTS_TAKEN in it.
 */
#ifndef GT_EVENTS_LIBRARY_RECORD_BUFFER_H
#define GT_EVENTS_LIBRARY_RECORD_BUFFER_H

#include "events/library/record/clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    GT_EVENTS_DEPTHS = 4,
    GT_EVENTS_BLOCKS = 16, /* blocks of a ring */
    GT_EVENTS_BLOCK_MIN = 16 << 10,
};
#define GT_EVENTS_TAKEN (UINT64_C(1) << 63)

struct gt_events_ring {
    _Atomic uint64_t head;
    _Atomic uint64_t limit; /* head must stay below it */
    uint8_t *data;
    uint64_t mask; /* mask of positions in data */
    uint64_t events;
    struct gt_events_thread *thread;
    uint32_t block_size; /* a power of two */
    int depth;
    uint64_t counted[GT_EVENTS_BLOCKS]; /* number of events before each block */
    _Atomic uint32_t filled[GT_EVENTS_BLOCKS];
    _Atomic uint64_t lost; /* events lost and not reported by a record yet */
    _Atomic uint64_t lost_ever;
    _Atomic uint64_t overwritten;
    _Atomic uint64_t dumped; /* value of `events` when a dump moved tail */

    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint32_t freed;
    _Atomic uint32_t waiting; /* the producer waits */
};

enum gt_events_thread_state { GT_EVENTS_LIVE, GT_EVENTS_LEFT };

struct gt_events_thread {
    int depth; /* nested records that it is writing now */
    uint32_t pid;
    uint64_t tid;
    struct gt_events_clock clock;
    struct gt_events_ring *_Atomic rings[GT_EVENTS_DEPTHS + 1]; /* the last one is always NULL */
    _Atomic int state;
    struct gt_events_thread *next;
};

/* The calling thread's struct; NULL before its first record. */
extern __thread struct gt_events_thread *gt_events_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Makes the calling thread's struct. NULL: out of memory. Async-signal-safe. */
struct gt_events_thread *gt_events_thread_make(void);
/* Returns the thread's ring of that depth, and makes it if it does not exist. NULL: too deep, or
 * out of memory. */
struct gt_events_ring *gt_events_ring_make(struct gt_events_thread *t, int depth);

/* Returns all threads that ever recorded: a list that only grows, at its head. */
struct gt_events_thread *gt_events_threads(void);

/* In the child of fork(): discards all records in the rings, which belong to the parent. */
void gt_events_rings_forked(void);

void gt_events_ring_size_set(size_t size);

static inline uint64_t gt_events_block_start(const struct gt_events_ring *l, uint64_t position)
{
    return position & ~(uint64_t)(l->block_size - 1);
}

static inline uint32_t gt_events_block_index(const struct gt_events_ring *l, uint64_t position)
{
    return (uint32_t)((position & l->mask) / l->block_size);
}

#endif
