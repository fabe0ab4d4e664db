/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes the records of a set of streams in place of TID.dat files: one file for all of them,
 * to which blocks are added. The format is the backend's; base/ knows its functions only.
 *
 * The writer puts the records of all streams as they come, each stream's in their order. When
 * the block is full, a second old, or flushed, it puts what the streams' current chunks hold as
 * well, and ends the block. Chunks stay in the pool until the block that has their records is in
 * the file: a kill loses nothing that is in a mapped pool.
 *
 * A file may have blocks of several processes. `number` tells them apart; a process that begins
 * with a number that the file has continues after its last block.
 *
 * All functions are called on one thread at a time, the writer's, or that of
 * gt_streams_recover_packed(). Those that return int return 0 or an errno value.
 */
#ifndef GT_BASE_STREAM_PACKING_H
#define GT_BASE_STREAM_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_stream_packing {
    /* Opens the file. *records: how many of that number are in it. `recover`: what comes goes on
     * where these end, in whatever a stream was doing. Each open has its close. */
    int (*open)(void *self, uint32_t number, bool recover, uint64_t *records);
    /* Adds records of stream `id` to the block, n words of them: two each, and a payload where one
     * was put; never a part of either. EAGAIN: the block must be ended first; it was unchanged. */
    int (*put)(void *self, uint32_t id, const uint64_t *words, size_t n);
    /* True: as much has been put as a block should have. */
    bool (*is_full)(const void *self);
    /* Ends the block, which has records, and adds it to the file: all of it (*bytes), or after an
     * error nothing. Then nothing more is put. */
    int (*end)(void *self, uint64_t *bytes);
    /* The stream is closed: its memory may be freed. It may be opened again. NULL: not wanted. */
    void (*forget)(void *self, uint32_t id);
    /* Closes the file and drops the block. `descriptors` false: they are another process's. */
    void (*close)(void *self, bool descriptors);
    /* The file's path, for messages. */
    const char *(*path)(const void *self);
};

#endif
