/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the record streams share (see stream.h): stream.c is the producers' side,
 * pool.c the chunks, writer.c the thread, file.c its files, recover.c
 * what comes after a kill.
 *
 * One lock a set, held for short moments and never during a system call of the writer. Fields say
 * who may touch them: (L) with the lock held, (W) the writer thread only, (P) the stream's
 * producer.
 *
 * A chunk goes round: free list, a stream's current chunk, its file's queue, the writer's batch,
 * free list. Only the writer puts chunks on the free list, and only it frees files; so whatever
 * chunk or file it has seen under the lock stays what it is until the writer itself lets go of it.
 *
 * A chunk's records are a run of bytes, of which the first `full` lie in the chunk's body and those
 * from `base` on, `fill` of them, in its line: one cache line, the producer's. A full line is moved
 * to the body past the caches: the next to touch that memory is the writer, on another processor,
 * and taking it back from there for new records would cost several times the store. Such stores may
 * become visible after the `full` that publishes them, so the writer has all processors fenced
 * (membarrier(2)) between reading that and reading the body. The writer reads a line that its
 * producer may be moving: it copies it, and the copy counts if `full` is still the same.
 *
 * The pool file: slots of GT_CHUNK_SIZE; the first begins with struct gt_ring_head, each other one
 * is a chunk: struct gt_ring_chunk, line and body. What a kill leaves to copy is, in each chunk,
 * the bytes of its run from `written` on. For that to be true at every instant: `written` follows
 * the write; a line that is moved counts twice, at the same place, until fill = 0 and base = full
 * follow; a chunk taken for new records gets fill = 0 and full = 0 first, then base = 0, written =
 * 0, id and offset, and only then a fill. A process's pool file is locked with flock() for as long
 * as the process has it mapped; this tells the live from the dead where process ids come again,
 * belong to another container, or stay the same over an execve().
 */
#ifndef GT_BASE_STREAM_INTERNAL_H
#define GT_BASE_STREAM_INTERNAL_H

#include "base/stream/stream.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum {
    GT_CHUNK_SIZE = 16384,
    GT_CHUNK_HEAD = 64,
    GT_CHUNK_ROOM = GT_CHUNK_SIZE - GT_CHUNK_HEAD,
    GT_BODY_AT = GT_CHUNK_HEAD + GT_STREAM_LINE, /* in the chunk */
    GT_BODY = GT_CHUNK_SIZE - GT_BODY_AT,
    GT_FIRST_SLAB = 8, /* chunks; small, for a run that is short */
    GT_SLAB = 64,
    GT_WAKE_CHUNKS = 16, /* that many full ones wake the writer before its time */
    GT_IOV = 16,         /* chunks a write */
    GT_HASH = 1024,
    GT_RING_MAX_SLOTS = 1 << 20,
};

#define GT_RING_MAGIC  0x31676e6972746721ull
#define GT_CHUNK_MAGIC 0x6b6e6863u

struct gt_ring_head {
    uint64_t magic;
    uint32_t chunk_size;
    uint32_t pid;
    _Atomic uint32_t failed; /* an error is latched: nothing is to be copied any more */
    _Atomic uint32_t partly; /* chunks may be missing: others are elsewhere (want of disk), or a
                              * stream has no file (want of descriptors) */
};

struct gt_ring_chunk {
    uint32_t magic;
    uint32_t id;
    uint64_t offset; /* in the stream's file, of the first record */
    uint8_t unused[32];
    struct gt_chunk_state state; /* stream.h; the line follows */
};

_Static_assert(sizeof(struct gt_ring_chunk) == GT_CHUNK_HEAD, "a chunk's head");
struct gt_chunk {
    struct gt_ring_chunk *head;
    struct gt_stream_file *file;
    struct gt_chunk *next;
    uint64_t offset; /* as head->offset */
    uint32_t done;   /* (W) bytes of the run that are written or dropped */
    /* (W) The run as far as the writer has seen it: what is before `base` is in the body. */
    uint32_t base, end;
    const char *line; /* the rest: in the chunk or, while its producer goes on, the copy */
    uint64_t copy[GT_STREAM_LINE / 8];
};

/* Bytes in the run of a chunk that its producer has handed over. */
static inline uint32_t gt_chunk_fill(const struct gt_chunk *c)
{
    return atomic_load_explicit(&c->head->state.base, memory_order_acquire) +
           atomic_load_explicit(&c->head->state.fill, memory_order_acquire);
}

struct gt_slab {
    struct gt_slab *next;
    char *map;
    size_t size;
    struct gt_chunk chunks[];
};

/* A list that is taken from the front. */
struct gt_queue {
    struct gt_chunk *first, *last;
};

/* A stream and its file. */
struct gt_stream_file {
    struct gt_stream s; /* first: its own cache line, the producer's */
    /* What s points to while it has no chunk: room for none, or (want of memory) one record. Laid
     * out like the end of a chunk's head. */
    struct {
        struct gt_chunk_state state;
        uint64_t record[2];
    } sink;
    struct gt_stream_file *hash_next;     /* (L) */
    struct gt_stream_file *dirty_next;    /* (L) */
    struct gt_queue queue;                /* (L) chunks handed over */
    uint64_t end;                         /* (L) file offset after what was handed over */
    uint32_t slot;                        /* (L) in set->slots while open */
    uint32_t loss;                        /* (L) 1 + its place in set->losses; 0: none */
    bool open;                            /* (L) the caller has the stream */
    bool opening;                         /* (L) the writer has not seen it yet */
    bool dirty;                           /* (L) on set->dirty */
    bool in_batch;                        /* (W) */
    int fd;                               /* (W) -1: not open */
    struct gt_stream_file *newer, *older; /* (W) in set->files while fd is open */
    struct gt_stream_file *batch_next;    /* (W) */
    struct gt_queue batch;                /* (W) */
    struct gt_chunk *partial;             /* (W) the current chunk, with something to write */
    bool refused;                         /* (W) there was no descriptor for it: all else is lost */
};

/* The streams that are open, for the writer's rounds. */
struct gt_slot {
    struct gt_stream_file *file;
    struct gt_chunk *chunk; /* NULL: none */
};

struct gt_streams {
    char *dir;
    size_t max_chunks;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* the writer has something to do */
    pthread_cond_t space; /* a chunk is free, or none will ever be */
    pthread_cond_t reply; /* a flush or an open is done, or the writer rests */
    pthread_t thread;
    pid_t pid; /* (L) of the process the thread is in */
    /* (L) */
    bool started, stop, busy, sleeping, want_space;
    unsigned forking;
    uint64_t flush_want, flush_done;
    struct gt_stream_file *hash[GT_HASH];
    struct gt_stream_file *dirty, *opening;
    struct gt_slot *slots;
    size_t n_slots, slots_room;
    size_t queued; /* chunks in queues */
    uint64_t closed_records, waits, lost;
    uint64_t waits_met; /* the pool has grown for them */
    struct gt_stream_loss *losses;
    size_t n_losses, losses_room;
    int error;           /* the first */
    _Atomic bool failed; /* nothing is written any more; set with the lock held */
    char error_path[512];
    /* (L) the pool */
    struct gt_chunk *free;
    size_t n_free, n_held, n_chunks;
    struct gt_slab *slabs;
    bool no_memory, anonymous, private_files;
    /* (W) */
    bool can_fence;  /* the kernel fences our producers' processors: base/membarrier.h */
    int dirfd, ring; /* dirfd: AT_FDCWD where the thread has a directory of its own; -1: not open */
    char ring_name[64];
    uint64_t ring_size;
    struct gt_ring_head *ring_head;
    struct gt_stream_file *newest, *oldest;
    size_t n_open;
    struct gt_stream_file *batch;
    struct gt_slot *round; /* the slots, copied */
    size_t n_round, round_room;
    uint64_t next_round; /* ns, monotonic */
    uint64_t interval;   /* ns */
    _Atomic uint64_t written;
};

/* The system calls that can fail for lack of disk, for tests that let them. */
struct gt_stream_sys {
    int (*open)(int dirfd, const char *name, int flags, mode_t mode);
    ssize_t (*pwritev)(int fd, const struct iovec *iov, int n, off_t offset);
    int (*ftruncate)(int fd, off_t size);
    int (*fallocate)(int fd, int mode, off_t offset, off_t size);
    void *(*mmap)(void *at, size_t size, int prot, int flags, int fd, off_t offset);
    int (*fstatfs)(int fd, struct statfs *out);
};
extern struct gt_stream_sys gt_stream_sys;

/* pool.c. The writer's side runs without the lock and takes it where it must. */
void gt_pool_start(struct gt_streams *set);
/* Adds a slab; where that fails set->no_memory is set. */
void gt_pool_grow(struct gt_streams *set);
size_t gt_pool_max(const struct gt_streams *set); /* (L) chunks the pool may have now */
/* (L) A free chunk, waiting for one if need be. NULL without memory. */
struct gt_chunk *gt_pool_take(struct gt_streams *set);
void gt_pool_finish(struct gt_streams *set); /* removes the file; the maps stay */
void gt_pool_unmap(struct gt_streams *set);

/* A stream's file in its directory. */
enum { GT_STREAM_NAME = 16 };
void gt_stream_name(uint32_t id, char name[GT_STREAM_NAME]);

/* file.c, the rest of it (W). */
void gt_stream_file_open(struct gt_streams *set, struct gt_stream_file *f);
void gt_stream_file_close(struct gt_streams *set, struct gt_stream_file *f);
/* Writes, or after an error drops, the chunks up to their `end`: all of them are dealt with on
 * return. */
void gt_stream_file_write(struct gt_streams *set, struct gt_chunk **chunks, unsigned n);
void gt_streams_latch(struct gt_streams *set, int errnum, const char *name);
/* Counts lost records of a stream. (L) */
void gt_stream_file_lose(struct gt_streams *set, struct gt_stream_file *f, uint64_t records);

/* writer.c */
void gt_streams_close_files(struct gt_streams *set);
void *gt_streams_writer(void *set);

/* recover.c: the same as gt_streams_recover() over an open directory, which stays open. */
int64_t gt_streams_recover_at(int dirfd, const char *dir, struct gt_error *err);

#endif
