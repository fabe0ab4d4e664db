/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last records of a process, in a ring of packed blocks: what a flight recorder keeps.
 *
 * A process's ring is a file in a compact file's working directory (work.h),
 * ".guesttrace-NUMBER.last": a compact file's head, then blocks of records of one packer, in any
 * order, and the rest of older ones. New blocks overwrite the oldest ones, whole segments of
 * them. What counts follows from the blocks alone: of those that are whole (checksums), the row
 * that leads to the last one without a hole in the numbers of records, from the first one on that
 * begins a segment. So a kill at any moment leaves a ring, and a reader needs no lock.
 *
 * The directory's file GT_COMPACT_FLIGHT_FILE says how much is kept; it is what makes a directory
 * one of a flight recorder: "bytes=N" and "time=N", a line each.
 */
#ifndef GT_CALLS_FILE_FLIGHT_H
#define GT_CALLS_FILE_FLIGHT_H

#include "base/error.h"
#include "base/stream/packing.h"

#define GT_COMPACT_FLIGHT_FILE  ".guesttrace.last"
#define GT_COMPACT_FLIGHT_LEAST (1ull << 20) /* bytes of a ring that may be asked for */
#define GT_COMPACT_FLIGHT_MOST  (1ull << 30)

/* How much is kept. */
struct gt_compact_flight_limit {
    uint64_t bytes; /* of a ring, at most; at least 15/16 of them are kept */
    uint64_t time;  /* ns before the last record: older segments are not kept; 0: no limit */
};

/* "64M" (K, M, G: powers of 1024) or "10s" (ms, s, m): then as many bytes as that needs, up to
 * GT_COMPACT_FLIGHT_MOST. GT_E_USAGE: err has the expected form. */
int gt_compact_flight_parse(const char *text, struct gt_compact_flight_limit *out,
                            struct gt_error *err);
/* True if the directory is a flight recorder's. */
bool gt_compact_flight_is(const char *dir);
/* GT_COMPACT_FLIGHT_FILE of a directory. GT_E_NOT_FOUND: the directory is not a flight recorder's;
 * GT_E_FORMAT, GT_E_IO. */
int gt_compact_flight_read(const char *dir, struct gt_compact_flight_limit *out,
                           struct gt_error *err);
/* Errors of gt_file_replace. */
int gt_compact_flight_write(const char *dir, const struct gt_compact_flight_limit *limit,
                            struct gt_error *err);

/* ---- recording ----------------------------------------------------------------------------- */

struct gt_compact_flight;

struct gt_compact_flight_options {
    const char *dir;
    struct gt_compact_flight_limit limit;
    /* True where times repeat; asked when a block begins. NULL: they do. */
    bool (*exact)(const void *self);
    const void *self;
};

/* Texts are copied. GT_E_NOMEM. */
int gt_compact_flight_create(const struct gt_compact_flight_options *o,
                             struct gt_compact_flight **out);
void gt_compact_flight_destroy(struct gt_compact_flight *f); /* NULL is fine */

/* While it is not open: the time of the task's last record in the ring of that number; 0: there is
 * none. */
uint64_t gt_compact_flight_last_time(struct gt_compact_flight *f, uint32_t number, uint32_t task);

/* Its functions' `self` is a flight recorder. A ring that cannot grow, because the disk is full,
 * goes on in the space that it has. */
extern const struct gt_stream_packing gt_compact_flight_packing;

/* ---- kept blocks -------------------------------------------------------------------------- */

/* Appends what the directory's rings have to a compact file. Their processes may record meanwhile:
 * what they overwrite before it is copied is missing at the beginning. Returns the number of
 * records. GT_E_IO, GT_E_NOMEM. */
int64_t gt_compact_flight_copy(const char *dir, const char *path, struct gt_error *err);

#endif
