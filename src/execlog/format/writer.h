/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer of a log: define.c has the functions that translations call, pack.c the ones for the
 * packet sink's thread. */
#ifndef GT_EXECLOG_FORMAT_WRITER_H
#define GT_EXECLOG_FORMAT_WRITER_H

#include "execlog/format/events.h"
#include "execlog/format/set.h"

#include <pthread.h>
#include <zstd.h>

/* A growing buffer. A failed allocation sets `failed`, and further additions are lost. */
struct gt_execlog_bytes {
    uint8_t *data;
    size_t n, cap;
    bool failed;
};

/* A block as the packing thread knows it. */
struct gt_execlog_known {
    struct gt_execlog_block block;
    uint32_t seen;   /* number of the newest buffer with an event of the block */
    uint64_t lo, hi; /* lowest and highest address of its instructions */
    size_t end;      /* end of its record in the definitions that it was taken with */
};

struct gt_execlog_register {
    char *name;
    size_t size;
};

/* New definitions, which are not in the log yet. */
struct gt_execlog_pending {
    struct gt_execlog_bytes names, code;
    uint32_t n_names;
    struct gt_execlog_known *blocks;
    size_t n, cap;
};

struct gt_execlog_writer {
    char target[GT_EXECLOG_TARGET];
    uint32_t flags;

    pthread_mutex_t lock; /* guards the members below */
    struct gt_execlog_pending pending;
    uint32_t n_blocks, n_insns;
    char **devices;
    uint32_t n_devices;
    struct gt_execlog_register *registers;
    uint32_t n_registers;

    /* used by the packet sink's thread only */
    ZSTD_CCtx *zstd;
    struct gt_execlog_pending taken;
    struct gt_execlog_known *blocks; /* blocks by id - 1 */
    size_t n_known, cap_known;
    struct gt_execlog_bytes out, index;
    uint64_t offset, line, last_index, index_line;
    uint32_t n_buffers;
    uint8_t *waiting; /* OPEN and COMPLETE of each vCPU (pack.c) */
    /* state of the current buffer */
    uint64_t lines;
    bool open, complete; /* `waiting` of the buffer's vCPU */
    struct gt_execlog_set insns, accesses;
    struct gt_execlog_walk walk;
};

/* Returns room for n more bytes, or NULL. */
uint8_t *gt_execlog_bytes_room(struct gt_execlog_bytes *b, size_t n);
void gt_execlog_bytes_add(struct gt_execlog_bytes *b, const void *data, size_t n);
void gt_execlog_bytes_number(struct gt_execlog_bytes *b, uint64_t v);

#endif
