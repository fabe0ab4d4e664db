/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pool of chunks: see internal.h. The writer's thread makes and grows it, since the pool
 * file's descriptor is in its table.
 */
#include "base/stream/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum {
    RING_NAMES = 1000, /* sets of one process over one directory */
    SLAB_ALIGN = 4,    /* chunks: a mapping starts on a page, which may be 64 KiB */
};

/* True where space that fallocate() gave cannot be wanting when it is written to. */
static bool keeps_its_space(int fd)
{
    struct statfs fs;
    if (gt_stream_sys.fstatfs(fd, &fs) != 0)
        return false;
    return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
           fs.f_type == TMPFS_MAGIC;
}

/* Creates and locks the pool file. The name is free unless another set of this process has it: what
 * an earlier process of the same id left is gone since gt_streams_recover_at(). -1 where that
 * fails. */
static int create_ring(struct gt_streams *set)
{
    for (unsigned i = 0; i < RING_NAMES; i++) {
        if (i == 0)
            snprintf(set->ring_name, sizeof set->ring_name, ".guesttrace-%d.ring", (int)getpid());
        else
            snprintf(set->ring_name, sizeof set->ring_name, ".guesttrace-%d-%u.ring", (int)getpid(),
                     i);
        int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        int fd = gt_stream_sys.open(set->dirfd, set->ring_name, flags, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return -1;
        struct stat st;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        close(fd); /* a recovery came first and has removed it */
    }
    return -1;
}

static void remove_ring(struct gt_streams *set)
{
    unlinkat(set->dirfd, set->ring_name, 0);
    close(set->ring);
    set->ring = -1;
}

/* Faults a new slab in, so that producers need not. False: it cannot be written to. */
static bool populate(char *map, size_t size)
{
    return madvise(map, size, MADV_POPULATE_WRITE) == 0 || errno == EINVAL; /* Linux before 5.14 */
}

/* Maps `size` more bytes of the pool file, all of them backed by disk. NULL where that fails. */
static char *map_ring(struct gt_streams *set, size_t size)
{
    if (set->ring < 0)
        return NULL;
    off_t at = (off_t)set->ring_size;
    int r;
    do {
        r = gt_stream_sys.fallocate(set->ring, 0, at, (off_t)size);
    } while (r != 0 && errno == EINTR);
    if (r != 0)
        return NULL;
    char *map = gt_stream_sys.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, set->ring, at);
    if (map == MAP_FAILED)
        return NULL;
    if (!populate(map, size)) {
        munmap(map, size);
        return NULL;
    }
    set->ring_size += size;
    return map;
}

static char *map_anonymous(size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *map = gt_stream_sys.mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    populate(map, size);
    return map;
}

static void start_ring_head(struct gt_streams *set, char *map)
{
    set->ring_head = (struct gt_stream_ring_head *)map;
    set->ring_head->chunk_size = GT_CHUNK_SIZE;
    set->ring_head->pid = (uint32_t)getpid();
    set->ring_head->number = set->backend ? set->number : 0;
    set->ring_head->filed = set->ring_head->filing = set->filed;
    set->ring_head->failed = set->failed;
    set->ring_head->partly = set->error != 0;
    atomic_signal_fence(memory_order_seq_cst);
    set->ring_head->magic = GT_RING_MAGIC;
}

/* Puts the slab's chunks on the free list, but for `skip` at its front. (L) */
static void add_chunks(struct gt_streams *set, struct gt_stream_slab *slab, size_t n, size_t skip)
{
    slab->next = set->slabs;
    set->slabs = slab;
    for (size_t i = n; i-- > skip;) {
        struct gt_stream_chunk *c = &slab->chunks[i];
        c->head = (struct gt_stream_ring_chunk *)(slab->map + i * GT_CHUNK_SIZE);
        c->next = set->free;
        set->free = c;
    }
    set->n_free += n - skip;
    set->n_chunks += n - skip;
}

/* A slab of n slots; `skip` of them at the front are not chunks. */
static void add_slab(struct gt_streams *set, size_t n, size_t skip)
{
    size_t size = n * GT_CHUNK_SIZE;
    struct gt_stream_slab *slab = calloc(1, sizeof *slab + n * sizeof slab->chunks[0]);
    char *map = slab ? map_ring(set, size) : NULL;
    bool mapped = map;
    if (slab && !map)
        map = map_anonymous(size);
    if (map) {
        slab->map = map;
        slab->size = size;
        if (mapped && !set->ring_head)
            start_ring_head(set, map);
    } else {
        free(slab);
    }
    if (!mapped && set->ring_head)
        atomic_store_explicit(&set->ring_head->partly, 1, memory_order_release);
    pthread_mutex_lock(&set->lock);
    if (map)
        add_chunks(set, slab, n, skip);
    set->no_memory = !map;
    set->anonymous |= !mapped;
    pthread_cond_broadcast(&set->space);
    pthread_mutex_unlock(&set->lock);
}

void gt_stream_pool_start(struct gt_streams *set)
{
    set->ring = create_ring(set);
    if (set->ring >= 0 && !keeps_its_space(set->ring))
        remove_ring(set);
    add_slab(set, GT_FIRST_SLAB, 1);
    if (set->ring >= 0 && !set->ring_head)
        remove_ring(set);
}

size_t gt_stream_pool_max(const struct gt_streams *set)
{
    return set->max_chunks > set->n_slots ? set->max_chunks : set->n_slots;
}

void gt_stream_pool_grow(struct gt_streams *set)
{
    pthread_mutex_lock(&set->lock);
    size_t max = gt_stream_pool_max(set);
    size_t room = max > set->n_chunks ? max - set->n_chunks : 0;
    pthread_mutex_unlock(&set->lock);
    size_t n = room < GT_SLAB ? room : GT_SLAB;
    if (n)
        add_slab(set, (n + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN, 0);
}

/* A free chunk; waits for the writer where there is none. NULL: there is no memory for one, and no
 * chunk under way that could become free. */
struct gt_stream_chunk *gt_stream_pool_take(struct gt_streams *set)
{
    if (!set->free)
        set->waits++;
    while (!set->free) {
        if (set->no_memory && set->n_held == set->n_chunks)
            return NULL;
        set->want_space = true;
        pthread_cond_signal(&set->work);
        pthread_cond_wait(&set->space, &set->lock);
    }
    struct gt_stream_chunk *c = set->free;
    set->free = c->next;
    set->n_free--;
    set->n_held++;
    return c;
}

void gt_stream_pool_give(struct gt_streams *set, struct gt_stream_chunk *list)
{
    size_t n = 0;
    if (!list)
        return;
    pthread_mutex_lock(&set->lock);
    for (struct gt_stream_chunk *c = list, *next; c; c = next, n++) {
        next = c->next;
        c->next = set->free;
        set->free = c;
    }
    set->n_free += n;
    pthread_cond_broadcast(&set->space);
    pthread_mutex_unlock(&set->lock);
}

/* The space of a file that is mapped stays taken, and the writes at the end may need it:
 * memory takes the file's place, at the same addresses. */
void gt_stream_pool_finish(struct gt_streams *set)
{
    if (set->ring < 0)
        return;
    remove_ring(set);
    for (struct gt_stream_slab *slab = set->slabs; slab; slab = slab->next)
        mmap(slab->map, slab->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0); /* where it fails it stays as it is */
}

void gt_stream_pool_unmap(struct gt_streams *set)
{
    for (struct gt_stream_slab *slab = set->slabs, *next; slab; slab = next) {
        next = slab->next;
        munmap(slab->map, slab->size);
        free(slab);
    }
    set->slabs = NULL;
}
