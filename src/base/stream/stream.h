/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record streams: how records reach the disk.
 *
 * A set of streams (struct gt_streams) has one directory, one writer thread and one pool of chunks;
 * a stream (struct gt_stream) is one file in that directory with one producer at a time. The
 * producer appends 16-byte records to its current chunk: two stores, one compare, one store that
 * publishes the fill; no call, lock, allocation or system call until the chunk is full. The writer
 * thread copies what is published to the files with pwritev() at absolute offsets every few
 * milliseconds, full chunks and partly filled ones alike. A stream without records holds no chunk.
 *
 * The pool lives in a file of the directory (".guesttrace-PID.ring", mapped shared, preallocated
 * slab by slab, removed by gt_streams_destroy), so what is not copied yet survives SIGKILL of the
 * process: gt_streams_recover() copies the rest; so does the next set that is opened in the
 * directory, which is how a process that replaces itself with execve() continues its own files.
 * Where the file system cannot promise the space (no fallocate, copy-on-write), the pool is
 * anonymous memory and a kill loses the last few milliseconds.
 *
 * The writer thread has a file descriptor table of its own and takes no signals (see
 * base/thread.h). It keeps a bounded number of files open, least recently used closed first.
 *
 * Errors: the first error of writing (full disk, EIO) is latched with its path and errno; that
 * stream's file is cut back to whole records, all later records of the set are counted and dropped,
 * the producers never notice. If the writer cannot keep up, producers wait for it in
 * gt_stream_next_chunk (the guest is slowed, nothing is dropped). Want of memory is an error too.
 * Want of descriptors (a guest may lower its limit) is one that ends only the streams whose file
 * cannot be opened; the others go on.
 */
#ifndef GT_BASE_STREAM_STREAM_H
#define GT_BASE_STREAM_STREAM_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define GT_STREAM_RECORD 16

struct gt_chunk;

/* A chunk takes records in one cache line, which stays in the producer's cache; a full line is
 * moved to the chunk's body, past the caches. */
#define GT_STREAM_LINE 64

/* The end of a chunk's head: the line follows, then the body. See internal.h. */
struct gt_chunk_state {
    _Atomic uint32_t full;    /* bytes in the body */
    _Atomic uint32_t base;    /* where in the chunk's run of bytes the line begins */
    _Atomic uint32_t written; /* the writer's */
    _Atomic uint32_t fill;    /* bytes in the line */
};

struct gt_stream {
    uint64_t *at;  /* where the next record goes, in the line */
    uint64_t *end; /* of the line; at == end: another chunk is needed */
    struct gt_chunk_state *state;
    uint32_t body;   /* bytes that the chunk's body takes */
    uint32_t id;     /* file name: "<id>.dat" */
    uint64_t before; /* records put before those of the current chunk */
    struct gt_streams *set;
    struct gt_chunk *chunk; /* NULL: none yet */
};

struct gt_streams_stats {
    uint64_t records;     /* put by producers, of streams still open and closed ones */
    uint64_t written;     /* bytes that reached the files */
    uint64_t lost;        /* records dropped after an error */
    uint64_t waits;       /* how often a producer had to wait for the writer */
    int error;            /* first errno, 0: none */
    char error_path[512]; /* the file it happened on */
    bool survives_kill;   /* the whole pool is in a mapped file */
    bool private_files;   /* the writer has a file descriptor table of its own */
};

/* Records of a stream that were dropped after an error. */
struct gt_stream_loss {
    uint32_t id;
    uint64_t records;
};

/* Creates the set over an existing directory that we may write and starts nothing yet: the writer
 * thread starts with the first stream. The directory's absolute path is taken now. `limit` bounds
 * the pool, bytes (0: 64 MiB, at most 4 GiB); every open stream may still have one chunk.
 * GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM. */
int gt_streams_create(const char *dir, size_t limit, struct gt_streams **out, struct gt_error *err);

/* Opens stream `id` (file "<id>.dat", created or, if it exists, continued at its end, cut to whole
 * records). The file exists when this returns. Thread-safe. Never fails for lack of disk (that is
 * latched). GT_E_EXISTS: the stream is open already; GT_E_NOMEM: no memory or no thread. */
int gt_stream_open(struct gt_streams *set, uint32_t id, struct gt_stream **out);

/* Hands over what is left; the stream is gone for the caller. Any thread, but not while the
 * producer puts. NULL is fine. */
void gt_stream_close(struct gt_stream *s);

/* Blocks until all that was published before the call is in the files (or dropped after an error).
 */
void gt_streams_flush(struct gt_streams *set);

/* Flushes, stops the writer, removes the pool file, frees everything, streams still open included.
 * Fills *stats if not NULL. */
void gt_streams_destroy(struct gt_streams *set, struct gt_streams_stats *stats);

void gt_streams_get_stats(struct gt_streams *set, struct gt_streams_stats *stats);

/* Which streams have lost records: complete when they are closed and a flush has followed. A stream
 * that was opened again may come twice; one is missing where there was no memory to note it. The
 * number; *out lives as long as the set and nobody loses more. */
size_t gt_streams_get_losses(struct gt_streams *set, const struct gt_stream_loss **out);

/* fork(): call prepare before (it waits until the writer rests, and holds the lock), parent and
 * child after. In the child the set is empty (the parent's streams are the parent's; its struct
 * gt_stream pointers are invalid), has a pool of its own and starts its own writer thread with its
 * first stream; stats start at 0. */
void gt_streams_fork_prepare(struct gt_streams *set);
void gt_streams_fork_parent(struct gt_streams *set);
void gt_streams_fork_child(struct gt_streams *set);

/* After a kill: copies what the pool files found in dir still hold to where it belongs and removes
 * them. Pool files of processes that still run are left alone. Returns the number of records
 * copied, or, after the other pool files were treated, the first error: GT_E_NOT_FOUND (dir),
 * GT_E_NOMEM, GT_E_IO, GT_E_FORMAT (a pool file that lies; it is left as it is, and no stream file
 * is touched for it). Idempotent. */
int64_t gt_streams_recover(const char *dir, struct gt_error *err);

/* The cold side of gt_stream_put: hands the current chunk over and takes another. */
void gt_stream_next_chunk(struct gt_stream *s) __attribute__((cold));
/* Told of each chunk that a producer has filled, on its thread; NULL: nobody asks. */
extern void (*gt_stream_chunk_full)(const struct gt_stream *s);

/* True: the current chunk takes another record. */
static inline bool gt_stream_has_room(const struct gt_stream *s)
{
    return s->at != s->end;
}

/* Moves the full line to the body. A kill may come between any two of these stores. */
static inline void gt_stream_move_line(struct gt_stream *s)
{
    struct gt_chunk_state *state = s->state;
    uint32_t full = atomic_load_explicit(&state->full, memory_order_relaxed);
    if (full == s->body)
        return;
    char *line = (char *)(state + 1), *to = line + GT_STREAM_LINE + full;
#ifdef __x86_64__
    /* In the words that were just stored: a wider load would wait until they are in the cache. */
    for (size_t i = 0; i < GT_STREAM_LINE / 8; i++)
        _mm_stream_si64((long long *)to + i, ((const long long *)line)[i]);
#else
    __builtin_memcpy(to, line, GT_STREAM_LINE);
#endif
    atomic_store_explicit(&state->full, full + GT_STREAM_LINE, memory_order_release);
    atomic_store_explicit(&state->fill, 0, memory_order_release);
    atomic_store_explicit(&state->base, full + GT_STREAM_LINE, memory_order_release);
    s->at = (uint64_t *)line;
}

/* What is in the line before `at` counts. */
static inline void gt_stream_publish(struct gt_stream *s, uint64_t *at)
{
    struct gt_chunk_state *state = s->state;
    s->at = at;
    atomic_store_explicit(&state->fill, (uint32_t)((char *)at - (char *)(state + 1)),
                          memory_order_release);
    if (at == s->end)
        gt_stream_move_line(s);
}

/* After the line was published as empty, before it is published as filled. */
static inline uint64_t *gt_stream_store(uint64_t *at, uint64_t w0, uint64_t w1)
{
    __atomic_store_n(&at[0], w0, __ATOMIC_RELEASE);
    __atomic_store_n(&at[1], w1, __ATOMIC_RELEASE);
    return at + 2;
}

/* gt_stream_put for a caller that has seen that there is room: calls nothing. */
static inline void gt_stream_put_here(struct gt_stream *s, uint64_t w0, uint64_t w1)
{
    gt_stream_publish(s, gt_stream_store(s->at, w0, w1));
}

/* Appends one record of two little-endian words (the host is little-endian; the format code asserts
 * that at build time). */
static inline void gt_stream_put(struct gt_stream *s, uint64_t w0, uint64_t w1)
{
    if (__builtin_expect(!gt_stream_has_room(s), 0))
        gt_stream_next_chunk(s);
    gt_stream_put_here(s, w0, w1);
}

/* Records put so far, lost ones included. For the stream's producer, or while it rests. */
static inline uint64_t gt_stream_records(const struct gt_stream *s)
{
    const struct gt_chunk_state *state = s->state;
    return s->before + (atomic_load_explicit(&state->base, memory_order_relaxed) +
                        atomic_load_explicit(&state->fill, memory_order_relaxed)) /
                           GT_STREAM_RECORD;
}

#endif
