/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The producers' side of the record streams: see stream.h and internal.h. */
#include "base/stream/stream.h"

#include "base/array.h"
#include "base/stream/internal.h"
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WRITER_STACK = 256 << 10 };

#define DEFAULT_LIMIT ((size_t)64 << 20)
#define MAX_LIMIT     ((size_t)4 << 30)

static void init_locks(struct gt_streams *set)
{
    pthread_mutex_init(&set->lock, NULL);
    gt_thread_cond_init(&set->work);
    pthread_cond_init(&set->space, NULL);
    pthread_cond_init(&set->reply, NULL);
}

int gt_streams_create(const char *dir, size_t limit, struct gt_streams **out, struct gt_error *err)
{
    struct stat st;
    char *path = realpath(dir, NULL);
    if (!path)
        return gt_error_errno(err, errno, "%s", dir);
    int e = stat(path, &st) != 0 ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : 0;
    if (!e && access(path, W_OK | X_OK) != 0)
        e = errno;
    if (e) {
        free(path);
        return gt_error_errno(err, e, "%s", dir);
    }
    struct gt_streams *set = calloc(1, sizeof *set);
    if (!set) {
        free(path);
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", dir);
    }
    set->dir = path;
    if (limit == 0)
        limit = DEFAULT_LIMIT;
    set->max_chunks = (limit < MAX_LIMIT ? limit : MAX_LIMIT) / GT_CHUNK_SIZE;
    init_locks(set);
    *out = set;
    return 0;
}

void gt_streams_pack(struct gt_streams *set, const struct gt_stream_packing *backend, void *self,
                     uint32_t number)
{
    set->backend = backend;
    set->backend_self = self;
    set->number = number;
}

void gt_streams_expect_more(struct gt_streams *set)
{
    set->has_more = true;
}

static struct gt_stream_file *file_of(struct gt_stream *s)
{
    return (struct gt_stream_file *)s;
}

/* Points s at its file's sink: room for `records` records, 0 or 1. */
static void use_sink(struct gt_stream_file *f, unsigned records)
{
    f->s.chunk = NULL;
    f->s.state = &f->sink.state;
    f->s.body = 0;
    atomic_store_explicit(&f->sink.state.fill, 0, memory_order_relaxed);
    f->s.at = f->sink.record;
    f->s.end = f->sink.record + 2 * records;
}

static void mark_dirty(struct gt_streams *set, struct gt_stream_file *f)
{
    if (f->dirty)
        return;
    f->dirty = true;
    f->dirty_next = set->dirty;
    set->dirty = f;
}

/* Gives what the stream has to the writer. */
static void hand_over(struct gt_streams *set, struct gt_stream_file *f)
{
    atomic_thread_fence(memory_order_seq_cst); /* with the lock: all records put are visible */
    struct gt_stream *s = &f->s;
    uint64_t all = gt_stream_records(s);
    uint64_t here = all - s->before;
    struct gt_stream_chunk *c = s->chunk;
    s->before = all;
    use_sink(f, 0);
    if (!c) {
        gt_stream_file_lose(set, f, here);
        return;
    }
    f->end += gt_stream_chunk_fill(c);
    c->next = NULL;
    if (f->queue.last)
        f->queue.last->next = c;
    else
        f->queue.first = c;
    f->queue.last = c;
    set->queued++;
    set->n_held--;
    set->slots[f->slot].chunk = NULL;
    mark_dirty(set, f);
}

static void use_chunk(struct gt_streams *set, struct gt_stream_file *f, struct gt_stream_chunk *c)
{
    struct gt_stream_ring_chunk *h = c->head;
    c->file = f;
    c->offset = f->end;
    c->done = 0;
    /* A kill may come between any two of these: see internal.h. It comes between two
     * instructions, so the compiler's order is what counts. */
    atomic_store_explicit(&h->state.fill, 0, memory_order_relaxed);
    atomic_store_explicit(&h->state.full, 0, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&h->state.base, 0, memory_order_relaxed);
    atomic_store_explicit(&h->state.n_more, 0, memory_order_relaxed);
    atomic_store_explicit(&h->state.more, 0, memory_order_relaxed);
    atomic_store_explicit(&h->state.written, 0, memory_order_relaxed);
    atomic_store_explicit(&h->packed, 0, memory_order_relaxed);
    h->magic = GT_CHUNK_MAGIC;
    h->id = f->s.id;
    h->offset = f->end;
    atomic_signal_fence(memory_order_seq_cst);
    f->s.chunk = c;
    f->s.state = &h->state;
    f->s.body = GT_BODY;
    f->s.at = (uint64_t *)((char *)h + GT_CHUNK_HEAD);
    f->s.end = f->s.at + GT_STREAM_LINE / sizeof(uint64_t);
    set->slots[f->slot].chunk = c;
}

void (*gt_stream_chunk_full)(const struct gt_stream *s);

void gt_stream_next_chunk(struct gt_stream *s)
{
    if (gt_stream_chunk_full && s->chunk)
        gt_stream_chunk_full(s);
    struct gt_streams *set = s->set;
    struct gt_stream_file *f = file_of(s);
    pthread_mutex_lock(&set->lock);
    hand_over(set, f);
    struct gt_stream_chunk *c = gt_stream_pool_take(set);
    if (c) {
        use_chunk(set, f, c);
    } else {
        if (!set->error)
            set->error = ENOMEM;
        set->failed = true;
        use_sink(f, 1);
    }
    bool wake = set->sleeping && (set->queued >= GT_WAKE_CHUNKS || set->queued > set->n_chunks / 2);
    if (wake)
        set->sleeping = false;
    pthread_mutex_unlock(&set->lock);
    if (wake)
        pthread_cond_signal(&set->work);
}

/* Takes the slot that makes the writer see f on its rounds. */
static bool take_slot(struct gt_streams *set, struct gt_stream_file *f)
{
    if (!GT_ARRAY_GROW(&set->slots, &set->slots_room, set->n_slots + 1))
        return false;
    f->slot = (uint32_t)set->n_slots;
    set->slots[set->n_slots++] = (struct gt_stream_slot){.file = f};
    f->open = true;
    return true;
}

static void leave_slot(struct gt_streams *set, struct gt_stream_file *f)
{
    struct gt_stream_slot last = set->slots[--set->n_slots];
    set->slots[f->slot] = last;
    last.file->slot = f->slot;
    f->open = false;
}

static struct gt_stream_file *find_file(struct gt_streams *set, uint32_t id)
{
    struct gt_stream_file *f = set->hash[id % GT_HASH];
    while (f && f->s.id != id)
        f = f->hash_next;
    return f;
}

void gt_streams_begin_fresh(struct gt_streams *set)
{
    set->fresh = true;
}

/* True for the first time with each id. Without memory for that, all ids count as known. */
static bool is_first(struct gt_streams *set, uint32_t id)
{
    const size_t word = id / 64;
    if (word >= set->n_known) {
        size_t n = (word + 1024) / 1024 * 1024;
        uint64_t *known = realloc(set->known, n * sizeof *known);
        if (!known)
            return false;
        memset(known + set->n_known, 0, (n - set->n_known) * sizeof *known);
        set->known = known;
        set->n_known = n;
    }
    const uint64_t bit = UINT64_C(1) << id % 64;
    bool first = !(set->known[word] & bit);
    set->known[word] |= bit;
    return first;
}

/* A backend has no file for it; the pool's first chunks must be there. */
static bool may_go_on(struct gt_streams *set, uint32_t id)
{
    bool first = set->fresh && is_first(set, id);
    return set->slabs && (set->backend || first);
}

/* A file that the writer opens. It is waited for where it may have records: then the writer says
 * where it ends. */
static struct gt_stream_file *new_file(struct gt_streams *set, uint32_t id)
{
    struct gt_stream_file *f = aligned_alloc(64, (sizeof *f + 63) / 64 * 64);
    if (!f)
        return NULL;
    memset(f, 0, sizeof *f);
    f->s.id = id;
    f->s.set = set;
    f->fd = -1;
    if (!take_slot(set, f)) {
        free(f);
        return NULL;
    }
    f->hash_next = set->hash[id % GT_HASH];
    set->hash[id % GT_HASH] = f;
    f->opening = true;
    f->opening_next = set->opening;
    set->opening = f;
    f->is_new = may_go_on(set, id);
    if (!f->is_new)
        pthread_cond_signal(&set->work);
    while (!f->is_new && f->opening)
        pthread_cond_wait(&set->reply, &set->lock);
    return f;
}

static bool start_writer(struct gt_streams *set)
{
    if (set->started)
        return true;
    set->pid = getpid();
    set->started = gt_thread_start(&set->thread, WRITER_STACK, gt_streams_writer, set) == 0;
    set->busy = set->started;
    return set->started;
}

void gt_streams_begin(struct gt_streams *set)
{
    pthread_mutex_lock(&set->lock);
    start_writer(set);
    while (set->busy)
        pthread_cond_wait(&set->reply, &set->lock);
    pthread_mutex_unlock(&set->lock);
}

int gt_stream_open(struct gt_streams *set, uint32_t id, struct gt_stream **out)
{
    int status = GT_E_NOMEM;
    pthread_mutex_lock(&set->lock);
    struct gt_stream_file *f = find_file(set, id);
    if (f && f->open) {
        status = GT_E_EXISTS;
    } else if (f && take_slot(set, f)) { /* closed, but not all of it is written yet */
        status = 0;
    } else if (!f && start_writer(set)) {
        f = new_file(set, id);
        status = f ? 0 : GT_E_NOMEM;
    }
    if (status == 0) {
        f->s.before = 0;
        use_sink(f, 0);
        *out = &f->s;
    }
    pthread_mutex_unlock(&set->lock);
    return status;
}

void gt_stream_close(struct gt_stream *s)
{
    if (!s)
        return;
    struct gt_streams *set = s->set;
    struct gt_stream_file *f = file_of(s);
    pthread_mutex_lock(&set->lock);
    hand_over(set, f);
    set->closed_records += s->before;
    leave_slot(set, f);
    mark_dirty(set, f); /* the writer frees it */
    pthread_mutex_unlock(&set->lock);
}

void gt_streams_flush(struct gt_streams *set)
{
    pthread_mutex_lock(&set->lock);
    if (set->started) {
        uint64_t ticket = ++set->flush_want;
        pthread_cond_signal(&set->work);
        while (set->flush_done < ticket)
            pthread_cond_wait(&set->reply, &set->lock);
    }
    pthread_mutex_unlock(&set->lock);
}

void gt_streams_get_stats(struct gt_streams *set, struct gt_streams_stats *stats)
{
    *stats = (struct gt_streams_stats){0};
    pthread_mutex_lock(&set->lock);
    stats->records = set->closed_records;
    for (size_t i = 0; i < set->n_slots; i++) {
        struct gt_stream_chunk *c = set->slots[i].chunk;
        stats->records += set->slots[i].file->s.before;
        if (c)
            stats->records += gt_stream_chunk_records(c);
    }
    stats->written = atomic_load_explicit(&set->written, memory_order_relaxed);
    stats->bytes = atomic_load_explicit(&set->bytes, memory_order_relaxed);
    stats->lost = set->lost;
    stats->waits = set->waits;
    stats->error = set->error;
    memcpy(stats->error_path, set->error_path, sizeof stats->error_path);
    stats->survives_kill = set->started && !set->anonymous;
    stats->private_files = set->private_files;
    pthread_mutex_unlock(&set->lock);
}

size_t gt_streams_get_losses(struct gt_streams *set, const struct gt_stream_loss **out)
{
    pthread_mutex_lock(&set->lock);
    size_t n = set->n_losses;
    *out = set->losses;
    pthread_mutex_unlock(&set->lock);
    return n;
}

/* Frees what the set holds but for itself, its name and its locks. The writer is gone. */
static void free_contents(struct gt_streams *set)
{
    for (unsigned i = 0; i < GT_HASH; i++) {
        for (struct gt_stream_file *f = set->hash[i], *next; f; f = next) {
            next = f->hash_next;
            free(f);
        }
    }
    gt_stream_pool_unmap(set);
    free(set->slots);
    free(set->round);
    free(set->losses);
    free(set->known);
}

void gt_streams_finish(struct gt_streams *set, struct gt_streams_stats *stats)
{
    if (set->started && set->pid == getpid()) {
        while (set->n_slots)
            gt_stream_close(&set->slots[0].file->s);
        pthread_mutex_lock(&set->lock);
        set->stop = true;
        pthread_cond_signal(&set->work);
        pthread_mutex_unlock(&set->lock);
        pthread_join(set->thread, NULL);
        set->pid = 0;
    }
    if (stats)
        gt_streams_get_stats(set, stats);
}

void gt_streams_destroy(struct gt_streams *set, struct gt_streams_stats *stats)
{
    if (!set)
        return;
    gt_streams_finish(set, stats);
    free_contents(set);
    pthread_mutex_destroy(&set->lock);
    free(set->dir);
    free(set);
}

void gt_streams_fork_prepare(struct gt_streams *set)
{
    pthread_mutex_lock(&set->lock);
    set->fresh = false; /* the child makes files, too */
    set->forking++;
    while (set->busy)
        pthread_cond_wait(&set->reply, &set->lock);
    set->forking--;
}

void gt_streams_fork_parent(struct gt_streams *set)
{
    pthread_cond_signal(&set->work);
    pthread_mutex_unlock(&set->lock);
}

void gt_streams_fork_child(struct gt_streams *set)
{
    const struct gt_streams kept = {.dir = set->dir,
                                    .max_chunks = set->max_chunks,
                                    .backend = set->backend,
                                    .backend_self = set->backend_self,
                                    .has_more = set->has_more,
                                    .number = (uint32_t)getpid()};
    if (set->started)
        gt_streams_close_files(set, !set->private_files);
    /* The locks are ours, the conditions may count the parent's threads as waiting: all anew. */
    free_contents(set);
    *set = kept;
    init_locks(set);
}

/* Records with payloads: see stream.h, and internal.h for the order of the stores. */

/* Words of the chunk's body, which the writer reads next: past the cache, as a line is moved. */
static void store_words(char *to, const uint64_t *words, size_t n)
{
#ifdef __x86_64__
    for (size_t i = 0; i < n; i++)
        _mm_stream_si64((long long *)(void *)to + i, (long long)words[i]);
#else
    memcpy(to, words, n * sizeof *words);
#endif
}

/* What the line holds goes to the body; returns `full` after it. As gt_stream_move_line(). */
static uint32_t empty_line(struct gt_stream *s)
{
    struct gt_stream_chunk_state *state = s->state;
    uint64_t *line = (uint64_t *)(state + 1);
    uint32_t full = atomic_load_explicit(&state->full, memory_order_relaxed);
    uint32_t fill = atomic_load_explicit(&state->fill, memory_order_relaxed);
    if (!fill)
        return full;
    store_words((char *)line + GT_STREAM_LINE + full, line, fill / sizeof *line);
    full += fill;
    atomic_store_explicit(&state->full, full, memory_order_release);
    atomic_store_explicit(&state->fill, 0, memory_order_release);
    atomic_store_explicit(&state->base, full, memory_order_release);
    s->at = line;
    return full;
}

static bool has_room(const struct gt_stream *s, size_t size)
{
    uint32_t used = atomic_load_explicit(&s->state->full, memory_order_relaxed) +
                    atomic_load_explicit(&s->state->fill, memory_order_relaxed);
    return s->chunk && used + size + sizeof(uint64_t) <= s->body;
}

void gt_stream_put_more(struct gt_stream *s, uint64_t w0, uint64_t w1, const uint64_t *payload,
                        size_t n)
{
    const uint32_t more = (uint32_t)(n * sizeof *payload), size = GT_STREAM_RECORD + more;
    if (!has_room(s, size))
        gt_stream_next_chunk(s);
    if (!s->chunk) { /* out of memory: counted, and lost */
        gt_stream_put(s, w0, w1);
        return;
    }
    struct gt_stream_chunk_state *state = s->state;
    char *body = (char *)(state + 1) + GT_STREAM_LINE;
    uint32_t full = empty_line(s);
    store_words(body + full, (const uint64_t[]){w0, w1}, 2);
    store_words(body + full + GT_STREAM_RECORD, payload, n);
    s->body -= sizeof(uint64_t);
    __atomic_store_n((uint64_t *)(void *)(body + s->body), gt_stream_bound(full, more),
                     __ATOMIC_RELEASE);
    uint32_t marks = atomic_load_explicit(&state->n_more, memory_order_relaxed);
    atomic_store_explicit(&state->n_more, marks + 1, memory_order_release);
    atomic_store_explicit(&state->full, full + size, memory_order_release);
    atomic_store_explicit(&state->base, full + size, memory_order_release);
    uint32_t all = atomic_load_explicit(&state->more, memory_order_relaxed);
    atomic_store_explicit(&state->more, all + more, memory_order_release);
}
