/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to stream/: recovery after a kill. ring.c reads pool files, recover.c finds them
 * and copies their records to TID.dat files or to a backend's file.
 */
#ifndef GT_BASE_STREAM_RECOVER_H
#define GT_BASE_STREAM_RECOVER_H

#include "base/stream/internal.h"

/* A chunk with something to copy. */
struct gt_stream_rest {
    uint64_t offset;                       /* in the stream's file, of the first record */
    uint64_t at;                           /* of the chunk in the pool file */
    uint64_t time;                         /* to a backend: of the first record to copy */
    uint32_t id, written, base, full, end; /* of the run: see internal.h */
    uint32_t n_more;                       /* marks: see struct gt_stream_bounds */
};

struct gt_stream_ring {
    int dirfd, fd;
    const char *dir, *name;
    const struct gt_stream_packing *backend; /* NULL: TID.dat files */
    void *self;
    struct gt_error *err;
    struct gt_stream_rest *rests;
    size_t n, room;
    bool partly;    /* chunks may be missing */
    bool by_packed; /* what the last block has is in the file */
    uint64_t skip;  /* records that an earlier recovery has copied */
    uint64_t left;  /* records left out: earlier ones are missing */
};

/* Set the error. */
int gt_stream_ring_lies(const struct gt_stream_ring *r, uint64_t at, const char *what,
                        uint64_t value);
int gt_stream_ring_io_error(const struct gt_stream_ring *r, int errnum);
/* n bytes at `at`. GT_E_IO, GT_E_FORMAT (the file has become shorter). */
int gt_stream_ring_read_at(const struct gt_stream_ring *r, void *data, size_t n, uint64_t at);
/* Reads the chunk at `at`, and adds a rest where it has one. GT_E_NOMEM too. */
int gt_stream_ring_read_chunk(struct gt_stream_ring *r, uint64_t at);
/* Reads the rest's run from `from` to `to`. GT_E_IO, GT_E_FORMAT (the file has become shorter). */
int gt_stream_ring_read_run(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                            uint32_t from, uint32_t to, void *data);
/* Reads the rest's marks. As gt_stream_ring_read_run. */
enum { GT_BOUNDS_MOST = GT_BODY / (GT_STREAM_RECORD + 2 * sizeof(uint64_t)) };
int gt_stream_ring_read_bounds(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                               uint64_t words[GT_BOUNDS_MOST], struct gt_stream_bounds *out);
int gt_stream_rest_compare(const void *a, const void *b); /* by id and offset */

/* Copies all rests, which are in order of id and offset: their number of records. GT_E_IO,
 * GT_E_FORMAT, GT_E_NOMEM. */
int64_t gt_stream_ring_to_files(struct gt_stream_ring *r);
int64_t gt_stream_ring_to_blocks(struct gt_stream_ring *r);
/* Before the chunks are read: opens the backend's file, and sees what it has. */
int gt_stream_ring_open_backend(struct gt_stream_ring *r, const struct gt_stream_ring_head *head);

#endif
