/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer's thread: see internal.h. It sleeps until enough full chunks wait, another thread
 * makes a request (open, flush, no free chunk, stop) or a round is due: then it writes the
 * published records of all open streams, from partly filled chunks too.
 */
#include "base/clock.h"
#include "base/stream/internal.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUND_NS = 4000000,       /* between two rounds while records come */
    ROUND_IDLE_NS = 16000000, /* the most, while none come */
    ROUND_NS_A_STREAM = 4000, /* a round looks at every open stream */
    QUEUES_NS = 20000000,     /* the most that a full chunk waits, however many streams there are */
    BLOCK_NS = 1000000000,    /* the most that a backend's block waits for more records */
    LOW_WATER = 6,            /* free chunks below which the pool grows ahead of need */
};

/* As the thread's working directory it takes none of the descriptors, which may be few. */
static void open_directory(struct gt_streams *set)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    set->dirfd = gt_stream_sys.open(AT_FDCWD, set->dir, flags, 0);
    if (set->dirfd < 0) {
        gt_streams_latch(set, errno, NULL);
    } else if (gt_thread_enter(set->dirfd)) {
        close(set->dirfd);
        set->dirfd = AT_FDCWD;
    }
}

static void start(struct gt_streams *set)
{
    bool own = gt_thread_own_files();
    pthread_mutex_lock(&set->lock);
    set->private_files = own;
    pthread_mutex_unlock(&set->lock);
    set->interval = ROUND_NS;
    set->next_round = gt_base_clock_monotonic() + set->interval;
    set->ring = -1;
    open_directory(set);
    if (set->dirfd != -1) /* a file that lies stays for the tool */
        gt_streams_recover_at(set->dirfd, set->dir, set->backend, set->backend_self, NULL, NULL);
    if (set->backend)
        gt_stream_blocks_start(set);
}

/* (L) */
static bool must_work(const struct gt_streams *set)
{
    return set->stop || set->opening || set->want_space || set->block.due ||
           set->flush_want > set->flush_done || set->queued >= GT_WAKE_CHUNKS ||
           set->queued > set->n_chunks / 2;
}

/* Sleeps until there is something to do; then the set is busy. (L) */
static void rest(struct gt_streams *set)
{
    set->busy = false;
    pthread_cond_broadcast(&set->reply);
    while (set->forking)
        pthread_cond_wait(&set->work, &set->lock);
    uint64_t queues = gt_base_clock_monotonic() + QUEUES_NS;
    uint64_t next = set->next_round < queues ? set->next_round : queues;
    struct timespec until = {.tv_sec = (time_t)(next / 1000000000u),
                             .tv_nsec = (long)(next % 1000000000u)};
    int r = 0;
    while (!must_work(set) && r != ETIMEDOUT) {
        set->sleeping = true;
        r = pthread_cond_timedwait(&set->work, &set->lock, &until);
    }
    set->sleeping = false;
    set->busy = true;
}

/* The streams that asked to be opened. */
static void open_files(struct gt_streams *set, struct gt_stream_file *list)
{
    for (struct gt_stream_file *f = list; f && !set->backend; f = f->opening_next)
        gt_stream_file_open(set, f);
    pthread_mutex_lock(&set->lock);
    for (struct gt_stream_file *f = list, *next; f; f = next) {
        next = f->opening_next;
        f->opening = false;
    }
    pthread_cond_broadcast(&set->reply);
    pthread_mutex_unlock(&set->lock);
}

static void add_to_batch(struct gt_streams *set, struct gt_stream_file *f)
{
    if (f->in_batch)
        return;
    f->in_batch = true;
    f->batch_next = set->batch;
    set->batch = f;
}

/* Takes the chunks that were handed over. (L) */
static void take_queues(struct gt_streams *set)
{
    for (struct gt_stream_file *f = set->dirty, *next; f; f = next) {
        next = f->dirty_next;
        f->dirty = false;
        f->batch = f->queue;
        f->queue = (struct gt_stream_queue){0};
        add_to_batch(set, f);
    }
    set->dirty = NULL;
    set->queued = 0;
}

/* Sees a chunk whose producer goes on. Where the line is moved meanwhile, what it holds is in the
 * body. False: there is nothing new. */
static bool see_partial(struct gt_stream_chunk *c)
{
    const struct gt_stream_chunk_state *state = &c->head->state;
    const uint64_t *line = (const uint64_t *)(state + 1);
    uint32_t base = atomic_load_explicit(&state->base, memory_order_acquire);
    uint32_t fill = atomic_load_explicit(&state->fill, memory_order_acquire);
    for (uint32_t i = 0; i < fill / 8; i++)
        c->copy[i] = __atomic_load_n(&line[i], __ATOMIC_ACQUIRE);
    uint32_t full = atomic_load_explicit(&state->full, memory_order_acquire);
    c->base = full;
    c->end = full == base ? full + fill : full;
    c->line = (const char *)c->copy;
    return c->end != c->done;
}

/* Sees a chunk that was handed over, with the lock: all of it is visible. */
static void see_whole(struct gt_stream_chunk *c)
{
    c->base = atomic_load_explicit(&c->head->state.base, memory_order_acquire);
    c->end = gt_stream_chunk_fill(c);
    c->line = (const char *)c->head + GT_CHUNK_HEAD;
}

/* Whose current chunk holds something new? True: somebody's. */
static bool look(struct gt_streams *set, const struct gt_stream_slot *slots, size_t n)
{
    bool some = false;
    for (size_t i = 0; i < n && set->can_fence; i++) {
        struct gt_stream_chunk *c = slots[i].chunk;
        if (!c || !see_partial(c))
            continue;
        c->file->partial = c;
        add_to_batch(set, c->file);
        some = true;
    }
    if (some)
        gt_thread_membarrier();
    return some;
}

/* Notes every stream's current chunk, in the same moment as take_queues(), so that a stream's
 * chunks are written in order; they are looked at without the lock. (L) */
static void take_slots(struct gt_streams *set)
{
    if (set->round_room < set->n_slots) {
        struct gt_stream_slot *round = realloc(set->round, set->slots_room * sizeof *round);
        if (!round) {
            look(set, set->slots, set->n_slots);
            return;
        }
        set->round = round;
        set->round_room = set->slots_room;
    }
    set->n_round = set->n_slots;
    if (set->n_round)
        memcpy(set->round, set->slots, set->n_slots * sizeof *set->round);
}

static void write_file(struct gt_streams *set, struct gt_stream_file *f)
{
    while (f->batch.first || f->partial) {
        struct gt_stream_chunk *chunks[GT_IOV], *full = f->batch.first;
        unsigned n = 0;
        for (; f->batch.first && n < GT_IOV; n++) {
            chunks[n] = f->batch.first;
            see_whole(chunks[n]);
            f->batch.first = chunks[n]->next;
        }
        if (n)
            chunks[n - 1]->next = NULL;
        if (!f->batch.first && f->partial && n < GT_IOV) {
            chunks[n++] = f->partial;
            f->partial = NULL;
        }
        gt_stream_file_write(set, chunks, n);
        gt_stream_pool_give(set, full);
    }
}

static void pack_file(struct gt_streams *set, struct gt_stream_file *f)
{
    while (f->batch.first) {
        struct gt_stream_chunk *c = f->batch.first;
        f->batch.first = c->next;
        see_whole(c);
        gt_stream_blocks_put(set, c, true);
    }
    if (f->partial)
        gt_stream_blocks_put(set, f->partial, false);
    f->partial = NULL;
}

static void write_batch(struct gt_streams *set)
{
    for (struct gt_stream_file *f = set->batch; f; f = f->batch_next) {
        if (set->backend)
            pack_file(set, f);
        else
            write_file(set, f);
    }
}

/* It takes 10 ms and more: full chunks do not wait for it. */
static void prepare_fence(struct gt_streams *set)
{
    if (set->can_fence || !set->n_round)
        return;
    write_batch(set);
    set->can_fence = gt_thread_membarrier_prepare();
}

/* What a backend has not filed yet is safe in a mapped pool. */
static void look_round(struct gt_streams *set)
{
    prepare_fence(set);
    uint64_t more = set->n_round * ROUND_NS_A_STREAM;
    uint64_t next = set->interval * 2;
    bool some = look(set, set->round, set->n_round);
    if (set->backend && !set->anonymous)
        set->interval = BLOCK_NS;
    else if (some)
        set->interval = ROUND_NS + more;
    else
        set->interval = next < ROUND_IDLE_NS + more ? next : ROUND_IDLE_NS + more;
    set->next_round = gt_base_clock_monotonic() + set->interval;
}

/* Frees the files of the batch to which no stream can add any more. */
static void end_batch(struct gt_streams *set)
{
    pthread_mutex_lock(&set->lock);
    for (struct gt_stream_file *f = set->batch, *next; f; f = next) {
        next = f->batch_next;
        f->in_batch = false;
        gt_stream_file_release(set, f);
    }
    set->batch = NULL;
    pthread_mutex_unlock(&set->lock);
}

/* Where a producer has had to wait, the pool was too small for the time that a write takes. What
 * cannot grow gets chunks from the block. */
static void grow(struct gt_streams *set)
{
    pthread_mutex_lock(&set->lock);
    bool can = set->n_chunks < gt_stream_pool_max(set) && !set->no_memory;
    bool few = set->n_free < LOW_WATER;
    bool more = (few || set->waits != set->waits_met) && set->n_slots &&
                set->n_chunks < gt_stream_pool_max(set);
    set->waits_met = set->waits;
    set->want_space = false;
    pthread_mutex_unlock(&set->lock);
    if (few && !can && set->block.n_whole)
        gt_stream_blocks_end(set);
    if (more)
        gt_stream_pool_grow(set);
}

/* With the lock held on entry and on return. False: it was the last. */
static bool work(struct gt_streams *set)
{
    bool last = set->stop && !set->opening;
    bool round = last || set->flush_want > set->flush_done || set->block.due ||
                 gt_base_clock_monotonic() >= set->next_round;
    uint64_t ticket = set->flush_want;
    struct gt_stream_file *opening = set->opening;
    set->opening = NULL;
    take_queues(set);
    set->n_round = 0;
    if (round)
        take_slots(set);
    bool first = opening && !set->slabs;
    pthread_mutex_unlock(&set->lock);
    gt_thread_make_room();
    if (opening)
        open_files(set, opening);
    if (first)
        gt_stream_pool_start(set);
    if (round)
        look_round(set);
    write_batch(set);
    end_batch(set);
    if (round && set->backend)
        gt_stream_blocks_end(set);
    if (!last)
        grow(set);
    pthread_mutex_lock(&set->lock);
    if (round)
        set->flush_done = ticket;
    return !last;
}

void gt_streams_close_files(struct gt_streams *set, bool own)
{
    if (set->backend)
        set->backend->close(set->backend_self, own);
    if (!own)
        return;
    while (set->oldest)
        gt_stream_file_close(set, set->oldest);
    if (set->ring >= 0)
        close(set->ring);
    if (set->dirfd >= 0)
        close(set->dirfd);
}

void *gt_streams_writer(void *arg)
{
    struct gt_streams *set = arg;
    start(set);
    pthread_mutex_lock(&set->lock);
    do {
        rest(set);
    } while (work(set));
    pthread_cond_broadcast(&set->reply);
    pthread_mutex_unlock(&set->lock);
    gt_stream_pool_finish(set);
    gt_streams_close_files(set, true);
    return NULL;
}
