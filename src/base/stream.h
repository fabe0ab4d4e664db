/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record streams: how records reach the disk.
 *
 * A set of streams (struct gt_streams) has one directory, one writer thread and one pool of chunks; a
 * stream (struct gt_stream) is one file in that directory with one producer at a time. The producer
 * appends 16-byte records to its current chunk: two stores, one compare, one store that publishes the
 * fill; no call, lock, allocation or system call until the chunk is full. The writer thread copies
 * what is published to the files with pwrite() at absolute offsets every few milliseconds, full
 * chunks and partly filled ones alike.
 *
 * The pool lives in a file of the directory (".guesttrace-PID.ring", mapped shared, preallocated slab
 * by slab, removed by gt_streams_finish), so what is not copied yet survives SIGKILL of the process:
 * gt_streams_recover() copies the rest. Where the file system cannot promise the space (no fallocate,
 * copy-on-write), the pool is anonymous memory and a kill loses the last few milliseconds.
 *
 * The writer thread has a file descriptor table of its own (close_range with CLOSE_RANGE_UNSHARE): the
 * process we live in sees none of our descriptors, cannot close them, and gets the numbers it would
 * get without us. It keeps a bounded number of files open (least recently used closed first). It
 * blocks every signal.
 *
 * Errors: the first error of writing (full disk, EIO) is latched with its path and errno; that
 * stream's file is cut back to whole records, all later records of the set are counted and dropped,
 * the producers never notice. If the writer cannot keep up, producers wait for it in
 * gt_stream_next_chunk (the guest is slowed, nothing is dropped).
 */
#ifndef GT_BASE_STREAM_H
#define GT_BASE_STREAM_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_STREAM_RECORD 16

/* In the mapped pool, at the start of each chunk; the layout is private to stream.c but for `fill`. */
struct gt_chunk;

struct gt_stream {
    uint64_t *at;          /* where the next record goes */
    uint64_t *end;         /* end of the current chunk's space; at == end: get another */
    _Atomic uint32_t *fill; /* bytes of the current chunk that the writer may copy */
    uint32_t used;         /* what the producer has put in the current chunk, bytes */
    uint32_t id;           /* file name: "<id>.dat" */
    struct gt_streams *set;
    struct gt_chunk *chunk;
    void *priv;            /* the writer's side */
};

struct gt_streams_stats {
    uint64_t records;      /* put by producers, of streams still open and closed ones */
    uint64_t written;      /* bytes that reached the files */
    uint64_t lost;         /* records dropped after an error */
    uint64_t waits;        /* how often a producer had to wait for the writer */
    int error;             /* first errno, 0: none */
    char error_path[512];  /* the file it happened on */
    bool survives_kill;    /* the pool is in a mapped file */
};

/* Creates the set over an existing directory and starts nothing yet: the writer thread starts with the
 * first stream. `limit` bounds the pool, bytes (0: 64 MiB); every open stream may still have one chunk.
 * GT_E_IO, GT_E_NOMEM. */
int gt_streams_create(const char *dir, size_t limit, struct gt_streams **out, struct gt_error *err);

/* Opens stream `id` (file "<id>.dat", created or, if it exists, continued at its end, cut to whole
 * records). Never fails for lack of disk (that is latched); GT_E_NOMEM otherwise. Thread-safe. */
int gt_stream_open(struct gt_streams *set, uint32_t id, struct gt_stream **out);

/* Hands over what is left; the stream is gone for the caller. Any thread, but not while the producer
 * puts. NULL is fine. */
void gt_stream_close(struct gt_stream *s);

/* Blocks until all that was published before the call is in the files (or dropped after an error). */
void gt_streams_flush(struct gt_streams *set);

/* Flushes, stops the writer, removes the pool file, frees everything, streams still open included.
 * Fills *stats if not NULL. */
void gt_streams_destroy(struct gt_streams *set, struct gt_streams_stats *stats);

void gt_streams_get_stats(struct gt_streams *set, struct gt_streams_stats *stats);

/* fork(): call prepare before (it takes the locks), parent and child after. In the child the set is
 * empty (the parent's streams are the parent's; its struct gt_stream pointers are invalid), has a pool
 * of its own and starts its own writer thread with its first stream; stats start at 0. */
void gt_streams_fork_prepare(struct gt_streams *set);
void gt_streams_fork_parent(struct gt_streams *set);
void gt_streams_fork_child(struct gt_streams *set);

/* After a kill: copies what the pool files found in dir still hold to where it belongs and removes
 * them. Pool files of processes that still run are left alone. Returns the number of records copied,
 * or GT_E_IO, GT_E_FORMAT (a pool file that lies; it is left as it is). Idempotent. */
int64_t gt_streams_recover(const char *dir, struct gt_error *err);

/* The cold side of gt_stream_put. */
void gt_stream_next_chunk(struct gt_stream *s);

/* Appends one record of two little-endian words (the host is little-endian; the format code asserts
 * that at build time). */
static inline void gt_stream_put(struct gt_stream *s, uint64_t w0, uint64_t w1)
{
    if (__builtin_expect(s->at == s->end, 0))
        gt_stream_next_chunk(s);
    s->at[0] = w0;
    s->at[1] = w1;
    s->at += 2;
    s->used += GT_STREAM_RECORD;
    atomic_store_explicit(s->fill, s->used, memory_order_release);
}

#endif
