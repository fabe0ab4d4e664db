/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simple backend, on the recording threads. A record costs a reading of the clock, the stores
 * of its bytes, and one store that publishes it. buffer.h describes how signal handlers record.
 */
#include "events/library/record/simple.h"
#include "events/library/read/simpletrace.h"
#include "events/library/record/buffer.h"
#include "events/library/record/futex.h"
#include "events/library/record/writer.h"

#include <errno.h>

enum { WAIT_MS = 100 }; /* then looks whether there still is a writer */

static bool has_room(struct gt_events_ring *l, uint64_t next)
{
    uint64_t tail = atomic_load_explicit(&l->tail, memory_order_acquire) & ~GT_EVENTS_TAKEN;
    return next + l->block_size - gt_events_block_start(l, tail) <= l->mask + 1;
}

static void wait_for_room(struct gt_events_ring *l, uint64_t next)
{
    while (gt_events_writer_runs()) {
        uint32_t freed = atomic_load(&l->freed);
        atomic_store(&l->waiting, 1);
        if (has_room(l, next))
            break;
        gt_events_writer_wake();
        gt_events_futex_wait(&l->freed, freed, WAIT_MS);
    }
    atomic_store(&l->waiting, 0);
}

/* Gives up the oldest block, unless the writer is at it. */
static void overwrite_oldest(struct gt_events_ring *l)
{
    uint64_t tail = atomic_load_explicit(&l->tail, memory_order_acquire);
    if (tail & GT_EVENTS_TAKEN)
        return;
    uint64_t next = gt_events_block_start(l, tail) + l->block_size;
    uint64_t from = l->counted[gt_events_block_index(l, tail)];
    uint64_t dumped = atomic_load_explicit(&l->dumped, memory_order_relaxed);
    uint64_t events = l->counted[gt_events_block_index(l, next)] - (from > dumped ? from : dumped);
    if (atomic_compare_exchange_strong(&l->tail, &tail, next))
        atomic_fetch_add_explicit(&l->overwritten, events, memory_order_relaxed);
}

static void open_block(struct gt_events_ring *l, uint64_t head, uint64_t next)
{
    uint32_t filled = (uint32_t)(head - gt_events_block_start(l, head));
    atomic_store_explicit(&l->filled[gt_events_block_index(l, head)], filled, memory_order_relaxed);
    l->counted[gt_events_block_index(l, next)] = l->events;
    atomic_store_explicit(&l->head, next, memory_order_release);
    atomic_store_explicit(&l->limit, next + l->block_size, memory_order_release);
}

/* Reports a loss where it happened: before the next record of this ring. */
static void report_lost(struct gt_events_ring *l, uint64_t head)
{
    uint64_t lost = atomic_exchange_explicit(&l->lost, 0, memory_order_acq_rel);
    if (!lost)
        return;
    struct gt_events_thread *t = l->thread;
    uint64_t now = gt_events_clock_now(&t->clock, l->depth > 0);
    gt_events_simpletrace_put_dropped(l->data + (head & l->mask), now, t->pid, lost);
    atomic_store_explicit(&l->head, head + GT_SIMPLETRACE_DROPPED_SIZE, memory_order_release);
}

/* Makes room for n bytes after head, in this block or the next one. */
static bool make_room(struct gt_events_ring *l, uint64_t size)
{
    uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);
    uint64_t next = gt_events_block_start(l, head) + l->block_size;
    if (atomic_load_explicit(&l->limit, memory_order_relaxed) != next &&
        !atomic_load_explicit(&l->lost, memory_order_relaxed)) { /* lowered: see buffer.h */
        atomic_store_explicit(&l->limit, next, memory_order_release);
        gt_events_writer_wake();
        if (size < next - head)
            return true;
    }
    if (size + GT_SIMPLETRACE_DROPPED_SIZE >= l->block_size)
        return false;
    if (!has_room(l, next) && gt_events_simple.policy == GT_TRACE_OVERWRITE)
        overwrite_oldest(l);
    else if (!has_room(l, next) && gt_events_simple.policy == GT_TRACE_WAIT)
        wait_for_room(l, next);
    if (!has_room(l, next))
        return false;
    open_block(l, head, next);
    report_lost(l, next);
    if (gt_events_simple.policy != GT_TRACE_OVERWRITE &&
        next - atomic_load_explicit(&l->tail, memory_order_relaxed) >= (l->mask + 1) / 4)
        gt_events_writer_hint();
    return true;
}

/* Nothing is recorded in this ring before the loss is reported. */
static void lose(struct gt_events_ring *l)
{
    atomic_fetch_add_explicit(&l->lost, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->lost_ever, 1, memory_order_relaxed);
    atomic_store_explicit(&l->limit, atomic_load_explicit(&l->head, memory_order_relaxed),
                          memory_order_release);
}

/* The ring of this depth with room for so many bytes. NULL: the event is lost. */
static __attribute__((noinline, cold)) struct gt_events_ring *find_room(struct gt_events_thread *t,
                                                                        int depth, uint64_t size)
{
    int e = errno;
    struct gt_events_ring *l = depth < GT_EVENTS_DEPTHS ? t->rings[depth] : NULL;
    if (!l)
        l = gt_events_ring_make(t, depth);
    if (!l)
        atomic_fetch_add_explicit(&gt_events_lost, 1, memory_order_relaxed);
    else if (!make_room(l, size)) {
        lose(l);
        l = NULL;
    }
    errno = e;
    return l;
}

static __attribute__((noinline, cold)) struct gt_events_thread *first_record(void)
{
    int e = errno;
    atomic_store_explicit(&gt_events_simple.fixed, true, memory_order_relaxed);
    struct gt_events_thread *t = gt_events_thread_make();
    if (!t)
        atomic_fetch_add_explicit(&gt_events_lost, 1, memory_order_relaxed);
    errno = e;
    return t;
}

/* `task`: NULL, or whose record it is in place of the thread's. */
static inline bool begin(struct gt_trace_slot *slot, const struct gt_trace_event *event,
                         uint32_t payload, const struct gt_events_task *task)
{
    struct gt_events_thread *t = gt_events_self;
    if (gt_trace_unlikely(!t) && !(t = first_record()))
        return false;
    int depth = t->depth;
    t->depth = depth + 1;
    atomic_signal_fence(memory_order_seq_cst);
    struct gt_events_ring *l = depth < GT_EVENTS_DEPTHS ? t->rings[depth] : NULL;
    bool threads = atomic_load_explicit(&gt_events_simple.threads, memory_order_relaxed);
    uint64_t size =
        (threads ? GT_SIMPLETRACE_THREAD_EVENT_HEADER_SIZE : GT_SIMPLETRACE_EVENT_HEADER_SIZE) +
        (uint64_t)payload;
    if (gt_trace_unlikely(!l || atomic_load_explicit(&l->head, memory_order_relaxed) + size >=
                                    atomic_load_explicit(&l->limit, memory_order_relaxed)) &&
        !(l = find_room(t, depth, size))) {
        t->depth = depth;
        return false;
    }
    uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);
    uint64_t now = gt_events_clock_now(&t->clock, depth > 0);
    uint8_t *at = l->data + (head & l->mask);
    uint32_t pid = task ? task->pid : t->pid;
    slot->next = gt_trace_unlikely(threads)
                     ? gt_events_simpletrace_put_thread_event(at, event->id, now, payload, pid,
                                                              task ? task->tid : t->tid)
                     : gt_events_simpletrace_put_event(at, event->id, now, payload, pid);
    slot->ring = l;
    slot->end = head + size;
    return true;
}

bool gt_trace_simple_begin(struct gt_trace_slot *slot, const struct gt_trace_event *event,
                           uint32_t payload)
{
    return begin(slot, event, payload, NULL);
}

bool gt_events_simple_begin(struct gt_trace_slot *slot, const struct gt_trace_event *event,
                            uint32_t payload, const struct gt_events_task *task)
{
    return begin(slot, event, payload, task);
}

void gt_trace_simple_end(struct gt_trace_slot *slot)
{
    struct gt_events_ring *l = slot->ring;
    l->events++;
    atomic_store_explicit(&l->head, slot->end, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    l->thread->depth = l->depth;
}
