/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merges records: see merge.h. The rings with records are in a heap, the one with the oldest
 * record first. */
#include "events/library/record/merge.h"
#include "events/library/read/simpletrace.h"
#include "events/library/record/buffer.h"
#include "events/library/record/futex.h"
#include "events/library/record/simple.h"

#include <sys/mman.h>

enum { MOMENT_NS = 20 * 1000 };

struct cursor {
    struct gt_events_ring *ring;
    uint64_t at, head; /* the next record; the records handed over */
    uint64_t time;     /* the next record's */
};

static struct cursor *heap;
static size_t count, capacity; /* mapped, not allocated: a crash may have left malloc() locked */

static bool reserve_cursors(size_t wanted)
{
    if (wanted <= capacity)
        return true;
    size_t more = capacity ? capacity * 2 : 64;
    while (more < wanted)
        more *= 2;
    void *p =
        mmap(NULL, more * sizeof *heap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (heap) {
        memcpy(p, heap, count * sizeof *heap);
        munmap(heap, capacity * sizeof *heap);
    }
    heap = p;
    capacity = more;
    return true;
}

static uint64_t time_at(const struct gt_events_ring *l, uint64_t at)
{
    return gt_events_simpletrace_get_u64(l->data + (at & l->mask) + 16, false);
}

static uint64_t id_at(const struct gt_events_ring *l, uint64_t at)
{
    return gt_events_simpletrace_get_u64(l->data + (at & l->mask) + 8, false);
}

static uint64_t size_at(const struct gt_events_ring *l, uint64_t at)
{
    return 8 + (uint64_t)gt_events_simpletrace_get_u32(l->data + (at & l->mask) + 24, false);
}

/* Where the records of the block at `at` end. */
static uint64_t block_end(const struct cursor *c, uint64_t at)
{
    const struct gt_events_ring *l = c->ring;
    uint64_t start = gt_events_block_start(l, at);
    if (start == gt_events_block_start(l, c->head))
        return c->head;
    return start +
           atomic_load_explicit(&l->filled[gt_events_block_index(l, at)], memory_order_relaxed);
}

/* Steps over the end of a block. False: there is no further record. */
static bool settle(struct cursor *c)
{
    while (c->at != c->head && c->at == block_end(c, c->at))
        c->at = gt_events_block_start(c->ring, c->at) + c->ring->block_size;
    if (c->at == c->head)
        return false;
    c->time = time_at(c->ring, c->at);
    return true;
}

/* Records that were taken may be written again. A thread that waits for it goes on when there is
 * something to go on with: half of the ring, or all that can be had now. */
static void release(struct gt_events_ring *l, uint64_t at, bool last)
{
    atomic_store_explicit(&l->tail, at, memory_order_release);
    uint64_t used = atomic_load_explicit(&l->head, memory_order_relaxed) - at;
    if (!last && used > l->mask / 2)
        return;
    atomic_fetch_add(&l->freed, 1);
    if (atomic_load(&l->waiting))
        gt_events_futex_wake(&l->freed);
}

static void sift_down(size_t i)
{
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        for (size_t k = child; k < child + 2 && k < count; k++) {
            if (heap[k].time < heap[least].time)
                least = k;
        }
        if (least == i)
            return;
        struct cursor c = heap[i];
        heap[i] = heap[least];
        heap[least] = c;
        i = least;
    }
}

static void sift_up(size_t i)
{
    for (; i > 0 && heap[i].time < heap[(i - 1) / 2].time; i = (i - 1) / 2) {
        struct cursor c = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = c;
    }
}

static void take_lost(struct gt_events_tracefile *f, struct gt_events_ring *l)
{
    uint64_t lost = atomic_exchange_explicit(&l->lost, 0, memory_order_acq_rel);
    if (lost)
        gt_events_tracefile_add_dropped(f, gt_events_system_clock(), l->thread->pid, lost);
}

/* What the flight recorder has overwritten comes first. */
static uint64_t take_ring(struct gt_events_tracefile *f, struct cursor *c)
{
    struct gt_events_ring *l = c->ring;
    c->at = atomic_fetch_or(&l->tail, GT_EVENTS_TAKEN);
    c->head = atomic_load_explicit(&l->head, memory_order_acquire);
    uint64_t overwritten = atomic_exchange(&l->overwritten, 0);
    bool any = settle(c);
    if (overwritten)
        gt_events_tracefile_add_dropped(f, any ? c->time : gt_events_system_clock(), l->thread->pid,
                                        overwritten);
    return any;
}

static void add_ring(struct gt_events_tracefile *f, struct gt_events_ring *l,
                     enum gt_events_merging how, bool left)
{
    if (!l || !reserve_cursors(count + 1))
        return;
    struct cursor c = {.ring = l};
    bool any;
    if (how == GT_EVENTS_TAKE) {
        any = take_ring(f, &c);
    } else {
        c.at = atomic_load_explicit(&l->tail, memory_order_relaxed);
        c.head = atomic_load_explicit(&l->head, memory_order_acquire);
        any = settle(&c);
    }
    if (any) {
        heap[count] = c;
        sift_up(count++);
    } else {
        if (how == GT_EVENTS_TAKE)
            release(l, c.head, true);
        if (how != GT_EVENTS_SOME || left)
            take_lost(f, l);
    }
}

/* Records from c->at on that are not later than `until`, as far as they lie together: their end,
 * and how many they are. Blocks whose successor begins early enough are not looked through. */
static uint64_t run_of(const struct cursor *c, uint64_t until, uint64_t *events)
{
    const struct gt_events_ring *l = c->ring;
    uint64_t start = gt_events_block_start(l, c->at), end = block_end(c, c->at), at = c->at;
    uint64_t next = start + l->block_size;
    *events = 0;
    if (at == start && next < c->head && time_at(l, next) <= until) {
        *events = l->counted[gt_events_block_index(l, next)] -
                  l->counted[gt_events_block_index(l, start)];
        return end;
    }
    for (; at < end && time_at(l, at) <= until; at += size_at(l, at))
        (*events)++;
    return at;
}

/* All that was handed over has been dumped: how many events that were, all in all. */
static void count_dumped(struct gt_events_ring *l, uint64_t head)
{
    uint64_t start = gt_events_block_start(l, head);
    uint64_t events = l->counted[gt_events_block_index(l, start)];
    for (uint64_t at = start; at < head; at += size_at(l, at))
        events += id_at(l, at) != GT_SIMPLETRACE_DROPPED_ID;
    atomic_store(&l->dumped, events);
}

/* The ring with the oldest record has no more. */
static void finish_ring(struct gt_events_tracefile *f, struct cursor *c, enum gt_events_merging how)
{
    if (how == GT_EVENTS_TAKE)
        count_dumped(c->ring, c->head);
    release(c->ring, c->head, true);
    if (how != GT_EVENTS_SOME)
        take_lost(f, c->ring);
    *c = heap[--count];
}

/* Takes a run from the ring with the oldest record. False: that record is later than `until`. */
static bool take_run(struct gt_events_tracefile *f, uint64_t until, enum gt_events_merging how)
{
    struct cursor *c = &heap[0];
    struct gt_events_ring *l = c->ring;
    uint64_t other = until, events, from = c->at;
    for (size_t k = 1; k < 3 && k < count; k++)
        other = heap[k].time < other ? heap[k].time : other;
    if (c->time > until)
        return false;
    uint64_t end = run_of(c, other, &events);
    gt_events_tracefile_add(f, l->data + (from & l->mask), end - from, events);
    c->at = end;
    if (!settle(c))
        finish_ring(f, c, how);
    else if (how != GT_EVENTS_TAKE &&
             gt_events_block_start(l, c->at) != gt_events_block_start(l, from))
        release(l, c->at, false);
    sift_down(0);
    return true;
}

bool gt_events_merge(struct gt_events_tracefile *f, enum gt_events_merging how)
{
    count = 0;
    uint64_t now = gt_events_system_clock();
    uint64_t until = how == GT_EVENTS_SOME ? now - MOMENT_NS : UINT64_MAX;
    for (struct gt_events_thread *t = gt_events_threads(); t; t = t->next) {
        bool left = atomic_load_explicit(&t->state, memory_order_acquire) == GT_EVENTS_LEFT;
        for (int i = 0; i < GT_EVENTS_DEPTHS; i++)
            add_ring(f, atomic_load_explicit(&t->rings[i], memory_order_acquire), how, left);
    }
    if (!count && !f->used)
        return false;
    while (count && take_run(f, until, how))
        ;
    for (size_t i = 0; i < count; i++)
        release(heap[i].ring, heap[i].at, true);
    gt_events_tracefile_flush(f);
    return true;
}

static bool arm(struct gt_events_ring *l)
{
    uint64_t head = atomic_load_explicit(&l->head, memory_order_acquire);
    uint64_t limit = gt_events_block_start(l, head) + l->block_size;
    atomic_compare_exchange_strong(&l->limit, &limit, head);
    return atomic_load(&l->head) == atomic_load_explicit(&l->tail, memory_order_relaxed);
}

bool gt_events_merge_arm(void)
{
    bool quiet = true;
    for (struct gt_events_thread *t = gt_events_threads(); t; t = t->next) {
        for (int i = 0; i < GT_EVENTS_DEPTHS; i++) {
            struct gt_events_ring *l = atomic_load_explicit(&t->rings[i], memory_order_acquire);
            if (l && !arm(l))
                quiet = false;
        }
    }
    return quiet;
}

uint64_t gt_events_merge_lost(void)
{
    uint64_t lost = atomic_load(&gt_events_lost);
    for (struct gt_events_thread *t = gt_events_threads(); t; t = t->next) {
        for (int i = 0; i < GT_EVENTS_DEPTHS; i++) {
            struct gt_events_ring *l = atomic_load_explicit(&t->rings[i], memory_order_acquire);
            lost += l ? atomic_load(&l->lost_ever) : 0;
        }
    }
    return lost;
}
