/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to stream/: where records are in the run of a chunk whose records may have payloads.
 *
 * Each record with a payload has a mark, a word: its place in the run, and above 32 bits the bytes
 * of its payload. Marks are in order, the first one in the last word of the chunk, the next one
 * before it. All other records are GT_STREAM_RECORD bytes.
 */
#ifndef GT_BASE_STREAM_BOUNDS_H
#define GT_BASE_STREAM_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct gt_bounds {
    const uint64_t *end; /* after the first mark */
    uint32_t n;
};

static inline uint64_t gt_bound(uint32_t at, uint32_t more)
{
    return (uint64_t)more << 32 | at;
}

/* Records that begin from `from` on, where one begins, and before `to`. */
uint32_t gt_bounds_records(const struct gt_bounds *m, uint32_t from, uint32_t to);
/* Where the record begins of which `at` is a part; `at` itself where a record begins. */
uint32_t gt_bounds_whole(const struct gt_bounds *m, uint32_t at);
/* Where the n-th record after the one at `from` begins. */
uint32_t gt_bounds_skip(const struct gt_bounds *m, uint32_t from, uint32_t n);
/* Makes *m end with the run's. False: these are not marks of a run of that size. */
bool gt_bounds_check(struct gt_bounds *m, uint32_t end);

#endif
