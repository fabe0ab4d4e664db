/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rings of threads, which are mapped, never allocated, and reused by later threads: see
 * buffer.h. */
#include "events/library/record/buffer.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE_DEFAULT = 2 << 20 };

__thread struct gt_events_thread *gt_events_self;

static struct gt_events_thread *_Atomic threads;
static _Atomic size_t ring_size = SIZE_DEFAULT;
static pthread_key_t key;

/* Later destructors may record again: then the thread is made anew. */
static void leave(void *thread)
{
    struct gt_events_thread *t = thread;
    gt_events_self = NULL;
    atomic_store_explicit(&t->state, GT_EVENTS_LEFT, memory_order_release);
}

static void __attribute__((constructor(140))) make_key(void)
{
    pthread_key_create(&key, leave);
}

void gt_events_ring_size_set(size_t size)
{
    atomic_store(&ring_size, size);
}

struct gt_events_thread *gt_events_threads(void)
{
    return atomic_load_explicit(&threads, memory_order_acquire);
}

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t power_of_two(size_t size)
{
    size_t p = GT_EVENTS_BLOCK_MIN * GT_EVENTS_BLOCKS / 4;
    while (p < size)
        p *= 2;
    return p;
}

struct gt_events_ring *gt_events_ring_make(struct gt_events_thread *t, int depth)
{
    if (depth >= GT_EVENTS_DEPTHS)
        return NULL;
    size_t size = power_of_two(atomic_load(&ring_size));
    struct gt_events_ring *l = map(sizeof *l + size + 64);
    if (!l)
        return NULL;
    l->data = (uint8_t *)(((uintptr_t)(l + 1) + 63) & ~(uintptr_t)63);
    l->mask = size - 1;
    l->block_size = (uint32_t)(size / GT_EVENTS_BLOCKS);
    l->thread = t;
    l->depth = depth;
    atomic_store_explicit(&l->limit, 0,
                          memory_order_relaxed); /* the first record wakes the writer */
    atomic_store_explicit(&t->rings[depth], l, memory_order_release);
    return l;
}

static struct gt_events_thread *use_again(void)
{
    for (struct gt_events_thread *t = gt_events_threads(); t; t = t->next) {
        int left = GT_EVENTS_LEFT;
        if (atomic_compare_exchange_strong(&t->state, &left, GT_EVENTS_LIVE))
            return t;
    }
    return NULL;
}

static struct gt_events_thread *make_new(void)
{
    struct gt_events_thread *t = map(sizeof *t);
    if (!t)
        return NULL;
    t->next = atomic_load(&threads);
    while (!atomic_compare_exchange_weak(&threads, &t->next, t))
        ;
    return t;
}

struct gt_events_thread *gt_events_thread_make(void)
{
    struct gt_events_thread *t = use_again();
    if (!t)
        t = make_new();
    if (!t)
        return NULL;
    t->depth = 0;
    t->pid = (uint32_t)getpid();
    t->tid = (uint64_t)syscall(SYS_gettid);
    t->clock = (struct gt_events_clock){.last = t->clock.last};
    gt_events_self = t;
    pthread_setspecific(key, t);
    return t;
}

static void forget_records(struct gt_events_ring *l)
{
    atomic_store(&l->tail, atomic_load(&l->head));
    atomic_store(&l->lost, 0);
    atomic_store(&l->overwritten, 0);
    atomic_store(&l->waiting, 0);
}

void gt_events_rings_forked(void)
{
    for (struct gt_events_thread *t = gt_events_threads(); t; t = t->next) {
        for (int i = 0; i < GT_EVENTS_DEPTHS; i++) {
            if (t->rings[i])
                forget_records(t->rings[i]);
        }
        if (t != gt_events_self)
            atomic_store(&t->state, GT_EVENTS_LEFT);
    }
    if (gt_events_self) {
        gt_events_self->pid = (uint32_t)getpid();
        gt_events_self->tid = (uint64_t)syscall(SYS_gettid);
    }
}
