/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records into the blocks of a backend: see packing.h, and internal.h for what makes a kill at any
 * moment harmless. The block's chunks are a list: those that their producers are done with are free
 * when it is in the file, the others go on.
 */
#include "base/stream/internal.h"

#include <errno.h>
#include <stdlib.h>

enum { BLOCK_MOST = 1 << 20 }; /* records, however full the backend says that it is */

static void fail(struct gt_streams *set, int errnum)
{
    set->backend_failed = true;
    gt_streams_latch_path(set, errnum, set->backend->path(set->backend_self));
}

static void set_counts(struct gt_streams *set, uint64_t filed, uint64_t filing)
{
    if (!set->ring_head)
        return;
    atomic_store_explicit(&set->ring_head->filing, filing, memory_order_release);
    atomic_store_explicit(&set->ring_head->filed, filed, memory_order_release);
}

void gt_stream_blocks_start(struct gt_streams *set)
{
    int e = set->backend->open(set->backend_self, set->number, false, &set->filed);
    if (e)
        fail(set, e);
}

/* ---- putting ------------------------------------------------------------------------------- */

static void add_to_block(struct gt_streams *set, struct gt_stream_chunk *c)
{
    struct gt_stream_block *b = &set->block;
    if (c->in_block)
        return;
    c->in_block = true;
    c->whole = false;
    c->block_next = b->chunks;
    b->chunks = c;
    c->file->in_block++;
}

static int put_piece(struct gt_streams *set, struct gt_stream_chunk *c, const struct iovec *piece)
{
    const struct gt_stream_bounds marks = gt_stream_chunk_bounds(c);
    uint32_t size = (uint32_t)piece->iov_len;
    size_t words = size / sizeof(uint64_t);
    int e = set->backend->put(set->backend_self, c->file->s.id, piece->iov_base, words);
    if (e == EAGAIN) {
        gt_stream_blocks_end(set);
        e = set->failed
                ? 0
                : set->backend->put(set->backend_self, c->file->s.id, piece->iov_base, words);
    }
    if (e || set->failed)
        return e;
    set->block.records += gt_stream_bounds_records(&marks, c->done, c->done + size);
    c->done += size;
    add_to_block(set, c);
    return 0;
}

static void put_pieces(struct gt_streams *set, struct gt_stream_chunk *c)
{
    struct iovec piece[2];
    int n = gt_stream_chunk_pieces(c, piece), e = 0;
    for (int i = 0; i < n && !e && !set->failed; i++)
        e = put_piece(set, c, &piece[i]);
    if (e) {
        fail(set, e);
        gt_stream_blocks_end(set);
    }
}

static void give_one(struct gt_streams *set, struct gt_stream_chunk *c)
{
    c->next = NULL;
    gt_stream_pool_give(set, c);
}

void gt_stream_blocks_put(struct gt_streams *set, struct gt_stream_chunk *c, bool whole)
{
    struct gt_stream_block *b = &set->block;
    put_pieces(set, c);
    if (set->failed)
        gt_stream_chunks_drop(set, &c, 1);
    if (whole && c->in_block) {
        c->whole = true;
        b->n_whole++;
    } else if (whole) {
        give_one(set, c);
    }
    if (b->records >= BLOCK_MOST)
        gt_stream_blocks_end(set);
    else if (!b->due && b->records && set->backend->is_full(set->backend_self))
        b->due = true;
}

/* ---- ending -------------------------------------------------------------------------------- */

/* What the block has of the chunk is not in the file, and will not be. */
static void lose(struct gt_streams *set, struct gt_stream_chunk *c)
{
    c->done = atomic_load_explicit(&c->head->state.written, memory_order_relaxed);
    gt_stream_chunks_drop(set, &c, 1);
}

/* Releases the block's chunks and, in turn, the files that waited for them. */
static void release(struct gt_streams *set, struct gt_stream_chunk *chunks)
{
    struct gt_stream_chunk *whole = NULL;
    pthread_mutex_lock(&set->lock);
    for (struct gt_stream_chunk *c = chunks, *next; c; c = next) {
        struct gt_stream_file *f = c->file;
        next = c->block_next;
        c->in_block = false;
        if (c->whole) {
            c->next = whole;
            whole = c;
        }
        if (--f->in_block == 0)
            gt_stream_file_release(set, f);
    }
    pthread_mutex_unlock(&set->lock);
    gt_stream_pool_give(set, whole);
}

/* 0 or an errno value. */
static int file_block(struct gt_streams *set, const struct gt_stream_block *b)
{
    uint64_t bytes = 0;
    for (const struct gt_stream_chunk *c = b->chunks; c; c = c->block_next)
        atomic_store_explicit(&c->head->packed, c->done, memory_order_release);
    set_counts(set, set->filed, set->filed + b->records);
    int e = set->backend->end(set->backend_self, &bytes);
    if (e)
        return e;
    for (const struct gt_stream_chunk *c = b->chunks; c; c = c->block_next)
        atomic_store_explicit(&c->head->state.written, c->done, memory_order_release);
    set->filed += b->records;
    set_counts(set, set->filed, set->filed);
    atomic_fetch_add_explicit(&set->written, b->records * GT_STREAM_RECORD, memory_order_relaxed);
    atomic_fetch_add_explicit(&set->bytes, bytes, memory_order_relaxed);
    return 0;
}

void gt_stream_blocks_end(struct gt_streams *set)
{
    struct gt_stream_block b = set->block;
    set->block = (struct gt_stream_block){0};
    int e = b.records && !set->backend_failed ? file_block(set, &b) : 0;
    if (e)
        fail(set, e);
    for (struct gt_stream_chunk *c = b.chunks; c && set->backend_failed; c = c->block_next)
        lose(set, c);
    release(set, b.chunks);
}
