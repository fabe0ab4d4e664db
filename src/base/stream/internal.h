/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the parts of the record streams share (see stream.h): stream.c is the
 * producers' side, pool.c the chunks, writer.c the thread, file.c its files, blocks.c the blocks of
 * a backend in place of these, recover.c the recovery after a kill.
 *
 * One lock a set, held briefly and never during a system call of the writer. Members are marked
 * with who may access them: (L) with the lock held, (W) the writer thread only, (P) the stream's
 * producer.
 *
 * A chunk circulates: free list, a stream's current chunk, its file's queue, the writer's batch,
 * free list. Only the writer puts chunks on the free list, and only it frees files; so a chunk or
 * file that the writer has seen under the lock stays valid until the writer itself releases it.
 *
 * A chunk's records are a run of bytes. The first `full` bytes are in the chunk's body; those from
 * `base` on, `fill` bytes, are in its line: one cache line that stays with the producer. A full
 * line is moved to the body with non-temporal stores: the writer, on another processor, reads that
 * memory next, and fetching the line back for new records would cost several times the store. Such
 * stores may become visible after the `full` that publishes them, so the writer fences all
 * processors (membarrier(2)) between reading `full` and reading the body. The writer reads a line
 * that its producer may be moving: it copies the line, and the copy is valid if `full` is unchanged
 * afterwards.
 *
 * A record with a payload is stored in the body at once, after what the line had: so the line
 * always has plain records, and a record's place in it is a multiple of its size. The chunk's end,
 * from the last word down, has a mark for each such record: where it is in the run, and how long
 * its payload (struct gt_stream_bounds). A mark is stored before its record is published.
 *
 * The pool file: slots of GT_CHUNK_SIZE; the first begins with struct gt_stream_ring_head, each
 * other one is a chunk: struct gt_stream_ring_chunk, line and body. After a kill the bytes of each
 * chunk's run from `written` on remain to be copied. For that to hold at every instant: `written`
 * is stored after the write; a line that is being moved counts twice, at the same place, until fill
 * = 0 and base = full are stored; a chunk taken for new records gets fill = 0 and full = 0 first,
 * then base = 0, written = 0, id and offset, and only then a fill.
 *
 * With a backend (packing.h) a block has the runs of many chunks, and is in the file all at once:
 * `packed` says up to where a chunk's run is in the block, and the ring's head has two counts of
 * records of this process. `filed`: for each chunk, its bytes before `written` are in the file.
 * `filing`: once the file has that number, its bytes before `packed` are. So `packed` is stored for
 * all chunks of a block, then filing, then the file grows, then `written` is stored for each, then
 * filed = filing.
 *
 * A process holds an flock() on its pool file while it has the file mapped; so recovery can detect
 * the pool of a running process even if process ids are reused, belong to another container, or
 * stay the same over an execve().
 */
#ifndef GT_BASE_STREAM_INTERNAL_H
#define GT_BASE_STREAM_INTERNAL_H

#include "base/stream/stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

/*
 * Internal to stream/: where records are in the run of a chunk whose records may have payloads.
 *
 * Each record with a payload has a mark, a word: its place in the run, and above 32 bits the bytes
 * of its payload. Marks are in order, the first one in the last word of the chunk, the next one
 * before it. All other records are GT_STREAM_RECORD bytes.
 */

struct gt_stream_bounds {
    const uint64_t *end; /* after the first mark */
    uint32_t n;
};

static inline uint64_t gt_stream_bound(uint32_t at, uint32_t more)
{
    return (uint64_t)more << 32 | at;
}

/* Records that begin from `from` on, where one begins, and before `to`. */
uint32_t gt_stream_bounds_records(const struct gt_stream_bounds *m, uint32_t from, uint32_t to);
/* Where the record begins of which `at` is a part; `at` itself where a record begins. */
uint32_t gt_stream_bounds_whole(const struct gt_stream_bounds *m, uint32_t at);
/* Where the n-th record after the one at `from` begins. */
uint32_t gt_stream_bounds_skip(const struct gt_stream_bounds *m, uint32_t from, uint32_t n);
/* Makes *m end with the run's. False: these are not marks of a run of that size. */
bool gt_stream_bounds_check(struct gt_stream_bounds *m, uint32_t end);

enum {
    GT_CHUNK_SIZE = 16384,
    GT_CHUNK_HEAD = 64,
    GT_CHUNK_ROOM = GT_CHUNK_SIZE - GT_CHUNK_HEAD,
    GT_BODY_AT = GT_CHUNK_HEAD + GT_STREAM_LINE, /* offset of the body in the chunk */
    GT_BODY = GT_CHUNK_SIZE - GT_BODY_AT,
    GT_FIRST_SLAB = 8, /* chunks of the first slab; small, for short runs */
    GT_SLAB = 64,
    GT_WAKE_CHUNKS = 16, /* full chunks that wake the writer before its interval ends */
    GT_IOV = 16,         /* chunks of one write */
    GT_HASH = 1024,
    GT_RING_MAX_SLOTS = 1 << 20,
};

#define GT_RING_MAGIC  0x31676e6972746721ull
#define GT_CHUNK_MAGIC 0x6b6e6863u

struct gt_stream_ring_head {
    uint64_t magic;
    uint32_t chunk_size;
    uint32_t pid;
    _Atomic uint32_t failed; /* an error is latched: recovery must copy nothing */
    _Atomic uint32_t partly; /* chunks may be missing: others are in anonymous memory (no disk
                                space), or a stream has no file (no descriptors) */
    uint32_t number;         /* of the backend's records; 0: there is no backend */
    uint32_t unused;
    _Atomic uint64_t filed, filing; /* see above */
};

struct gt_stream_ring_chunk {
    uint32_t magic;
    uint32_t id;
    uint64_t offset;         /* offset of the first record in the stream's file */
    _Atomic uint32_t packed; /* bytes that the block has which was ended last */
    uint8_t unused[20];
    struct gt_stream_chunk_state state; /* stream.h; the line follows */
};

_Static_assert(sizeof(struct gt_stream_ring_chunk) == GT_CHUNK_HEAD, "a chunk's head");
struct gt_stream_chunk {
    struct gt_stream_ring_chunk *head;
    struct gt_stream_file *file;
    struct gt_stream_chunk *next;
    uint64_t offset; /* as head->offset */
    uint32_t done;   /* (W) bytes of the run that were written or dropped */
    /* (W) The run as far as the writer has seen it: the bytes before `base` are in the body. */
    uint32_t base, end;
    const char *
        line; /* the bytes from `base` on: in the chunk, or the copy while its producer continues */
    uint64_t copy[GT_STREAM_LINE / 8];
    /* (W) with a backend */
    struct gt_stream_chunk *block_next;
    bool in_block; /* the block has some of its records */
    bool whole;    /* its producer is done with it */
};

/* Bytes in the run of a chunk that its producer has released. */
static inline uint32_t gt_stream_chunk_fill(const struct gt_stream_chunk *c)
{
    return atomic_load_explicit(&c->head->state.base, memory_order_acquire) +
           atomic_load_explicit(&c->head->state.fill, memory_order_acquire);
}

/* Records in the run of a chunk that its producer has released. */
static inline uint32_t gt_stream_chunk_records(const struct gt_stream_chunk *c)
{
    uint32_t more = atomic_load_explicit(&c->head->state.more, memory_order_acquire);
    return (gt_stream_chunk_fill(c) - more) / GT_STREAM_RECORD;
}

static inline struct gt_stream_bounds gt_stream_chunk_bounds(const struct gt_stream_chunk *c)
{
    return (struct gt_stream_bounds){
        .end = (const uint64_t *)((const char *)c->head + GT_CHUNK_SIZE),
        .n = atomic_load_explicit(&c->head->state.n_more, memory_order_acquire)};
}

/* The rest of a chunk, as one or two pieces. */
static inline int gt_stream_chunk_pieces(const struct gt_stream_chunk *c, struct iovec iov[2])
{
    int n = 0;
    if (c->done < c->base)
        iov[n++] = (struct iovec){(char *)c->head + GT_BODY_AT + c->done, c->base - c->done};
    uint32_t in_line = c->done > c->base ? c->done - c->base : 0;
    if (c->base + in_line < c->end)
        iov[n++] = (struct iovec){(char *)c->line + in_line, c->end - c->base - in_line};
    return n;
}

struct gt_stream_slab {
    struct gt_stream_slab *next;
    char *map;
    size_t size;
    struct gt_stream_chunk chunks[];
};

/* A FIFO of chunks. */
struct gt_stream_queue {
    struct gt_stream_chunk *first, *last;
};

/* A stream and its file. */
struct gt_stream_file {
    struct gt_stream s; /* first: its own cache line, the producer's */
    /* What `s` points to while it has no chunk: room for no record, or (out of memory) for one.
     * Laid out like the end of a chunk's head. */
    struct {
        struct gt_stream_chunk_state state;
        uint64_t record[2];
    } sink;
    struct gt_stream_file *hash_next;     /* (L) */
    struct gt_stream_file *dirty_next;    /* (L) */
    struct gt_stream_file *opening_next;  /* (L) */
    struct gt_stream_queue queue;         /* (L) chunks handed to the writer */
    uint64_t end;                         /* (L) file offset after those chunks */
    uint32_t slot;                        /* (L) index in set->slots while open */
    uint32_t loss;                        /* (L) 1 + index in set->losses; 0: no loss */
    bool open;                            /* (L) the caller has the stream open */
    bool opening;                         /* (L) the writer has not seen it yet */
    bool is_new;                          /* it has no records yet: no producer waits */
    bool dirty;                           /* (L) linked in set->dirty */
    bool in_batch;                        /* (W) */
    int fd;                               /* (W) -1: not open */
    struct gt_stream_file *newer, *older; /* (W) the list of open files, while fd is open */
    struct gt_stream_file *batch_next;    /* (W) */
    struct gt_stream_queue batch;         /* (W) */
    struct gt_stream_chunk *partial;      /* (W) the current chunk, if it has bytes to write */
    bool refused;      /* (W) there was no descriptor for the file: all further records are lost */
    unsigned in_block; /* (W) its chunks in the block: it is freed after them */
};

/* The block that a backend is given, and what waits for it. */
struct gt_stream_block {
    struct gt_stream_chunk *chunks; /* by block_next */
    uint64_t records, n_whole;      /* n_whole: chunks that are free once it is in the file */
    bool due;                       /* it is full: the next round ends it */
};

/* The streams that are open, for the writer's rounds. */
struct gt_stream_slot {
    struct gt_stream_file *file;
    struct gt_stream_chunk *chunk; /* NULL: none */
};

struct gt_streams {
    char *dir;
    size_t max_chunks;
    const struct gt_stream_packing *backend; /* NULL: TID.dat files */
    void *backend_self;
    uint32_t number;
    bool has_more;   /* records may have payloads */
    bool fresh;      /* (L) the directory has no stream's file that this set has not opened */
    uint64_t *known; /* (L) with `fresh`: a bit for each id that was opened */
    size_t n_known;  /* words */
    pthread_mutex_t lock;
    pthread_cond_t work;  /* the writer has something to do */
    pthread_cond_t space; /* a chunk is free, or none will ever be */
    pthread_cond_t reply; /* a flush or an open is done, or the writer is idle */
    pthread_t thread;
    pid_t pid; /* (L) process that the thread runs in; 0: it has ended */
    /* (L) */
    bool started, stop, busy, sleeping, want_space;
    unsigned forking;
    uint64_t flush_want, flush_done;
    struct gt_stream_file *hash[GT_HASH];
    struct gt_stream_file *dirty, *opening;
    struct gt_stream_slot *slots;
    size_t n_slots, slots_room;
    size_t queued; /* chunks in queues */
    uint64_t closed_records, waits, lost;
    uint64_t waits_met; /* waits for which the pool has grown */
    struct gt_stream_loss *losses;
    size_t n_losses, losses_room;
    int error; /* errno of the first error */
    _Atomic bool
        failed; /* an error is latched, nothing is written any more; set with the lock held */
    char error_path[512];
    /* (L) the pool */
    struct gt_stream_chunk *free;
    size_t n_free, n_held, n_chunks;
    struct gt_stream_slab *slabs;
    bool no_memory, anonymous, private_files;
    /* (W) */
    bool can_fence; /* the kernel can fence the producers' processors: gt_thread_membarrier() */
    int dirfd,
        ring; /* dirfd: AT_FDCWD if the thread has a working directory of its own; -1: not open */
    char ring_name[64];
    uint64_t ring_size;
    struct gt_stream_ring_head *ring_head;
    struct gt_stream_file *newest, *oldest;
    size_t n_open;
    struct gt_stream_file *batch;
    struct gt_stream_slot *round; /* a copy of the slots */
    size_t n_round, round_room;
    uint64_t next_round; /* when the next round is due, monotonic ns */
    uint64_t interval;   /* time between rounds, ns */
    struct gt_stream_block block;
    bool backend_failed; /* the block's records are lost, too */
    uint64_t filed;      /* records of `number` in the backend's file */
    _Atomic uint64_t written, bytes;
};

/* The system calls that can fail for lack of disk space: tests replace them. */
struct gt_stream_sys {
    int (*open)(int dirfd, const char *name, int flags, mode_t mode);
    ssize_t (*pwritev)(int fd, const struct iovec *iov, int n, off_t offset);
    int (*ftruncate)(int fd, off_t size);
    int (*fallocate)(int fd, int mode, off_t offset, off_t size);
    void *(*mmap)(void *at, size_t size, int prot, int flags, int fd, off_t offset);
    int (*fstatfs)(int fd, struct statfs *out);
};
extern struct gt_stream_sys gt_stream_sys;

/* pool.c. The writer calls these without the lock, and they take it where needed. */
void gt_stream_pool_start(struct gt_streams *set);
/* Adds a slab; sets set->no_memory if that fails. */
void gt_stream_pool_grow(struct gt_streams *set);
size_t gt_stream_pool_max(const struct gt_streams *set); /* (L) chunks that the pool may have now */
/* (L) Returns a free chunk; waits until there is one. NULL: out of memory. */
struct gt_stream_chunk *gt_stream_pool_take(struct gt_streams *set);
/* Puts chunks that are dealt with, by `next`, on the free list; the last one comes out first. */
void gt_stream_pool_give(struct gt_streams *set, struct gt_stream_chunk *list);
void gt_stream_pool_finish(struct gt_streams *set); /* removes the file; the maps stay */
void gt_stream_pool_unmap(struct gt_streams *set);

/* The name of a stream's file in its directory. */
enum { GT_STREAM_NAME = 16 };
void gt_stream_name(uint32_t id, char name[GT_STREAM_NAME]);

/* file.c; (W) if not marked otherwise. */
void gt_stream_file_open(struct gt_streams *set, struct gt_stream_file *f);
void gt_stream_file_close(struct gt_streams *set, struct gt_stream_file *f);
/* Writes the chunks up to their `end`, or drops them after an error. On return none of them is
 * pending. */
void gt_stream_file_write(struct gt_streams *set, struct gt_stream_chunk **chunks, unsigned n);
void gt_streams_latch(struct gt_streams *set, int errnum, const char *name);
void gt_streams_latch_path(struct gt_streams *set, int errnum, const char *path);
/* Counts as lost the rest of the chunks, from the first record that is not whole in the file.
 * On return none of them is pending. */
void gt_stream_chunks_drop(struct gt_streams *set, struct gt_stream_chunk **chunks, unsigned n);
/* (L) Frees the file if no stream can add to it any more. */
void gt_stream_file_release(struct gt_streams *set, struct gt_stream_file *f);
/* (L) Counts lost records of a stream. */
void gt_stream_file_lose(struct gt_streams *set, struct gt_stream_file *f, uint64_t records);

/* blocks.c: with a backend; (W) */
void gt_stream_blocks_start(struct gt_streams *set);
/* Puts what a chunk has into the block, up to its `end`; `whole`: no more will come. */
void gt_stream_blocks_put(struct gt_streams *set, struct gt_stream_chunk *c, bool whole);
/* Ends the block, if it has records, and frees its chunks. */
void gt_stream_blocks_end(struct gt_streams *set);

/* writer.c */
void gt_streams_close_files(struct gt_streams *set, bool own);
void *gt_streams_writer(void *set);

/* recover.c: the same as gt_streams_recover() over an open directory, which stays open; backend
 * NULL: records go to TID.dat files. */
int64_t gt_streams_recover_at(int dirfd, const char *dir, const struct gt_stream_packing *backend,
                              void *self, struct gt_streams_missing *missing, struct gt_error *err);

#endif
