/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: the file of a ring of blocks; flight.h has its form. */
#ifndef GT_CALLS_FILE_FLIGHT_RING_H
#define GT_CALLS_FILE_FLIGHT_RING_H

#include "calls/file/file.h"
#include "calls/file/flight.h"

#include <sys/types.h>

/* False: no such path is short enough. */
bool gt_compact_flight_path(const char *dir, uint32_t number, char *path, size_t room);
/* True for the name of a ring; *number: whose. */
bool gt_compact_flight_is_ring(const char *name, uint32_t *number);

/* Opens a ring: the file's list has the blocks that count, in order of their records. *records: how
 * many the packer has made. *seen (may be NULL): the same by all heads, also of damaged blocks,
 * which do not count: these may have been overwritten since their heads were read. Errors of
 * gt_compact_file_scan. */
int gt_compact_flight_open(const char *path, uint32_t number, uint64_t time,
                           struct gt_compact_file *out, uint64_t *records, uint64_t *seen,
                           struct gt_error *err);
/* How many of the blocks, from the first on, are segments all of whose records are older than
 * `time` (0: none) before the last one. */
size_t gt_compact_flight_expired(const struct gt_compact_block *block, size_t n, uint64_t time);
/* Where the segment that block i belongs to ends: the next one's first block, or n. */
size_t gt_compact_flight_segment_end(const struct gt_compact_block *block, size_t n, size_t i);

/* ---- where blocks go ----------------------------------------------------------------------- */

enum { GT_FLIGHT_GROW = 1 << 20 }; /* bytes by which the file grows, if they are there */

struct gt_compact_flight_room {
    struct gt_compact_flight_limit limit;
    int fd; /* -1: not open */
    /* The blocks that count, in order of their records: `n` from `first` on. */
    struct gt_compact_block *block;
    size_t first, n, room;
    uint64_t next, free_end; /* where the next block goes, and where the free space there ends */
    uint64_t size;           /* of the file */
    bool full;               /* it cannot grow any more */
};

/* Puts the next block into the file, in place of the oldest ones where it has to be. 0 or an errno
 * value: EFBIG: the limit is too small for such blocks; ENOSPC; ENOMEM; EIO. */
int gt_compact_flight_put_block(struct gt_compact_flight_room *r,
                                const struct gt_compact_head *head, const uint8_t *block,
                                size_t size);
/* Writes n bytes. 0 or an errno value. */
int gt_compact_flight_write_at(int fd, const uint8_t *data, size_t n, uint64_t at);

/* The system calls that can fail for lack of disk space: tests replace them. */
struct gt_compact_flight_sys {
    ssize_t (*pwrite)(int fd, const void *data, size_t n, off_t at);
    int (*fallocate)(int fd, int mode, off_t at, off_t size);
};
extern struct gt_compact_flight_sys gt_compact_flight_sys;

#endif
