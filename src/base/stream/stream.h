/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record streams: how records reach the disk.
 *
 * A set of streams (struct gt_streams) has one directory, one writer thread and one pool of chunks;
 * a stream (struct gt_stream) is one file in that directory with one producer at a time. The
 * producer appends 16-byte records to its current chunk: two stores, one compare, one store that
 * publishes the fill; no call, lock, allocation or system call until the chunk is full. Every few
 * milliseconds the writer thread writes the published records to the files with pwritev() at
 * absolute offsets, from full chunks and partly filled ones alike. A stream without records holds
 * no chunk.
 *
 * The pool lives in a file of the directory (".guesttrace-PID.ring", mapped shared, preallocated
 * slab by slab, removed by gt_streams_finish), so records that are not written yet survive SIGKILL
 * of the process: gt_streams_recover() writes them. The next set that is opened in the directory
 * recovers them as well; so a process that replaces itself with execve() continues its own files.
 * If the file system cannot reserve the space (no fallocate, copy-on-write), the pool is anonymous
 * memory and a kill loses the last few milliseconds.
 *
 * The writer thread has a file descriptor table of its own and takes no signals (see
 * base/thread.h). It keeps a bounded number of files open, least recently used closed first.
 *
 * In place of a file for each stream, the writer can give all records to a backend that packs them
 * into one file (packing.h). What follows holds for both.
 *
 * A record may have a payload: words that follow it (gt_stream_put_more). The two are never split
 * over two chunks, and are published at once; whoever takes published bytes takes whole records
 * with their payloads. Files are cut to these, too, and losses counted in records.
 *
 * Errors: the first write error (full disk, EIO) is latched with its path and errno; that stream's
 * file is cut back to whole records, and all later records of the set are counted and dropped
 * without any effect on the producers. If the writer cannot keep up, producers wait for it in
 * gt_stream_next_chunk (the guest is slowed, nothing is dropped). Running out of memory is an error
 * too. Running out of descriptors (a guest may lower its limit) ends only the streams whose file
 * cannot be opened; the others continue.
 */
#ifndef GT_BASE_STREAM_STREAM_H
#define GT_BASE_STREAM_STREAM_H

#include "base/error.h"
#include "base/stream/packing.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define GT_STREAM_RECORD 16
enum { GT_STREAM_MORE_MOST = 8192 }; /* bytes that follow one record, at most */

struct gt_stream_chunk;

/* A producer writes records into one cache line of the chunk, which stays in its cache; a full line
 * is moved to the chunk's body with non-temporal stores. */
#define GT_STREAM_LINE 64

/* The last part of a chunk's head, followed by the line and the body. See internal.h. */
struct gt_stream_chunk_state {
    _Atomic uint32_t n_more;  /* records with a payload: internal.h */
    _Atomic uint32_t more;    /* bytes of their payloads; stored after they are published */
    _Atomic uint32_t full;    /* bytes in the body */
    _Atomic uint32_t base;    /* offset of the line in the chunk's run of bytes */
    _Atomic uint32_t written; /* bytes that the writer has written; set by the writer */
    _Atomic uint32_t fill;    /* bytes in the line */
};

struct gt_stream {
    uint64_t *at;  /* place of the next record in the line */
    uint64_t *end; /* end of the line; at == end: another chunk is needed */
    struct gt_stream_chunk_state *state;
    uint32_t body;   /* bytes that the chunk's body can hold, before the marks */
    uint32_t id;     /* file name: "<id>.dat" */
    uint64_t before; /* records put before the current chunk */
    struct gt_streams *set;
    struct gt_stream_chunk *chunk; /* the current chunk; NULL: none yet */
};

struct gt_streams_stats {
    uint64_t records;     /* records put by producers of all streams, open and closed */
    uint64_t written;     /* bytes of records that reached the files */
    uint64_t bytes;       /* that the files have grown by: as `written`, less if packed */
    uint64_t lost;        /* records dropped after an error */
    uint64_t waits;       /* how often a producer had to wait for the writer */
    int error;            /* errno of the first error; 0: none */
    char error_path[512]; /* the file of that error */
    bool survives_kill;   /* the whole pool is in a mapped file */
    bool private_files;   /* the writer has a file descriptor table of its own */
};

/* Records of a stream that were dropped after an error. */
struct gt_stream_loss {
    uint32_t id;
    uint64_t records;
};

/* Creates a set for an existing writable directory. The writer thread starts with the first stream.
 * The directory's absolute path is determined now. `limit` bounds the pool, bytes (0: 64 MiB, at
 * most 4 GiB); every open stream may have one chunk in any case. GT_E_NOT_FOUND, GT_E_IO,
 * GT_E_NOMEM. */
int gt_streams_create(const char *dir, size_t limit, struct gt_streams **out, struct gt_error *err);

/* Before the first stream is opened: records go to a backend in place of TID.dat files; to it this
 * set is `number`, not 0; the pool file stays in the directory. Backend and self live as long as
 * the set. */
void gt_streams_pack(struct gt_streams *set, const struct gt_stream_packing *backend, void *self,
                     uint32_t number);

/* Before the first stream is opened: records may have payloads. A file that is continued is then
 * cut to a multiple of 8, where recovery has made its last record whole. */
void gt_streams_expect_more(struct gt_streams *set);

/* Opens stream `id` (file "<id>.dat", created or, if it exists, continued at its end, cut to whole
 * records). The file exists when this returns. Thread-safe. Lack of disk space is latched, not
 * returned. GT_E_EXISTS: the stream is open already; GT_E_NOMEM: no memory or no thread. */
int gt_stream_open(struct gt_streams *set, uint32_t id, struct gt_stream **out);

/* Queues the last chunk and closes the stream, which is invalid afterwards. Any thread may call it,
 * but not while the producer puts records. NULL is fine. */
void gt_stream_close(struct gt_stream *s);

/* Blocks until all records published before the call are in the files (or dropped after an error).
 *
 */
void gt_streams_flush(struct gt_streams *set);

/* Before the first stream is opened: the directory has no stream's file yet, and no other process
 * makes one before a fork of this one. So it is known where a file ends that was not opened before,
 * and gt_stream_open need not wait for the writer. */
void gt_streams_begin_fresh(struct gt_streams *set);

/* Flushes, stops the writer and removes the pool file. Memory stays: a producer that does not know
 * may still put records, which go nowhere, as long as its chunk has room. Fills *stats if not NULL.
 */
void gt_streams_finish(struct gt_streams *set, struct gt_streams_stats *stats);
/* The same, and frees everything, streams still open included. */
void gt_streams_destroy(struct gt_streams *set, struct gt_streams_stats *stats);

void gt_streams_get_stats(struct gt_streams *set, struct gt_streams_stats *stats);

/* Returns the number of entries in *out: the streams that have lost records. The list is complete
 * after the streams are closed and flushed. A stream that was reopened may be listed twice; one is
 * missing if there was no memory to note it. *out is valid until the set is destroyed or loses more
 * records. */
size_t gt_streams_get_losses(struct gt_streams *set, const struct gt_stream_loss **out);

/* fork(): call prepare before it (prepare waits until the writer is idle, and holds the lock),
 * parent and child after it. In the child the set is empty (the parent's streams are the parent's;
 * its struct gt_stream pointers are invalid), has a pool of its own and starts its own writer
 * thread with its first stream; stats start at 0. */
void gt_streams_fork_prepare(struct gt_streams *set);
/* In the child: starts the writer thread, and returns when it has begun. */
void gt_streams_begin(struct gt_streams *set);
void gt_streams_fork_parent(struct gt_streams *set);
void gt_streams_fork_child(struct gt_streams *set);

/* After a kill: copies the records that the pool files in dir still hold to their stream files, and
 * removes the pool files. Pool files of running processes are left alone. Returns the number of
 * records copied, or, after all pool files were handled, the first error: GT_E_NOT_FOUND (dir),
 * GT_E_NOMEM, GT_E_IO, GT_E_FORMAT (a pool file is inconsistent; it is left unchanged, and no
 * stream file is changed for it). Idempotent. */
int64_t gt_streams_recover(const char *dir, struct gt_error *err);

/* What a recovery could not copy, though no pool file is damaged. */
struct gt_streams_missing {
    uint64_t pools;   /* pools of which a part was in memory only, and went with the process */
    uint64_t records; /* records in their files that follow such a part, and were left out */
};

/* The same where records go to a backend, which must not be open. It stays as it is where there is
 * nothing to copy. NULL: files of streams. *missing, which may be NULL, is added to. */
int64_t gt_streams_recover_packed(const char *dir, const struct gt_stream_packing *backend,
                                  void *self, struct gt_streams_missing *missing,
                                  struct gt_error *err);

/* The slow path of gt_stream_put: queues the current chunk and takes another. */
void gt_stream_next_chunk(struct gt_stream *s) __attribute__((cold));
/* Called for each chunk that a producer has filled, on the producer's thread; NULL: no call. */
extern void (*gt_stream_chunk_full)(const struct gt_stream *s);

/* True if the current chunk has room for another record. */
static inline bool gt_stream_has_room(const struct gt_stream *s)
{
    return s->at != s->end;
}

/* Moves the full line to the body. A kill between any two of these stores loses nothing. */
static inline void gt_stream_move_line(struct gt_stream *s)
{
    struct gt_stream_chunk_state *state = s->state;
    uint32_t full = atomic_load_explicit(&state->full, memory_order_relaxed);
    if (s->body - full < GT_STREAM_LINE)
        return;
    char *line = (char *)(state + 1), *to = line + GT_STREAM_LINE + full;
#ifdef __x86_64__
    /* Loads of the same width as the stores: a wider load would wait until the stored words are in
     * the cache. */
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

/* Publishes the records in the line before `at`. */
static inline void gt_stream_publish(struct gt_stream *s, uint64_t *at)
{
    struct gt_stream_chunk_state *state = s->state;
    s->at = at;
    atomic_store_explicit(&state->fill, (uint32_t)((char *)at - (char *)(state + 1)),
                          memory_order_release);
    if (at == s->end)
        gt_stream_move_line(s);
}

/* Stores a record at `at`, between the publication of the empty line and of the filled one. */
static inline uint64_t *gt_stream_store(uint64_t *at, uint64_t w0, uint64_t w1)
{
    __atomic_store_n(&at[0], w0, __ATOMIC_RELEASE);
    __atomic_store_n(&at[1], w1, __ATOMIC_RELEASE);
    return at + 2;
}

/* gt_stream_put for a caller that has checked for room: calls no function. */
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

/* Appends a record that a payload of n words follows, at least one and at most GT_STREAM_MORE_MOST
 * bytes. `w1` says so to readers. Out of memory, the record is counted as lost. */
void gt_stream_put_more(struct gt_stream *s, uint64_t w0, uint64_t w1, const uint64_t *payload,
                        size_t n);

/* Number of records put so far, lost ones included. For the stream's producer, or while it is idle.
 *
 */
static inline uint64_t gt_stream_records(const struct gt_stream *s)
{
    const struct gt_stream_chunk_state *state = s->state;
    return s->before + (atomic_load_explicit(&state->base, memory_order_relaxed) +
                        atomic_load_explicit(&state->fill, memory_order_relaxed) -
                        atomic_load_explicit(&state->more, memory_order_relaxed)) /
                           GT_STREAM_RECORD;
}

#endif
