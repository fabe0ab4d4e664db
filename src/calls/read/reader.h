/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to calls/: reads a row's blocks, and feeds their records to stacks. One row at a time,
 * one thread. */
#ifndef GT_CALLS_READ_READER_H
#define GT_CALLS_READ_READER_H

#include "calls/read/feed.h"

struct gt_calls_reader_kind {
    int (*create)(struct gt_calls_feed *feed, void **out, struct gt_error *err);
    void (*destroy)(void *reader);
    /* Begins a part. */
    int (*begin)(void *reader, const struct gt_calls_part *part, struct gt_error *err);
    /* Reads a block, a part's in order; the row's next part may follow. 0; GT_E_IO,
     * GT_E_FORMAT, GT_E_NOMEM; what the feed returned, which is not 0. */
    int (*block)(void *reader, size_t block, struct gt_error *err);
    /* A time before which no record of the row comes from this block on: the part's first one may
     * be asked for before it begins. */
    uint64_t (*least)(const void *reader, const struct gt_calls_part *part, size_t block);
};

extern const struct gt_calls_reader_kind gt_calls_reader_of_file, gt_calls_reader_of_directory;

static inline const struct gt_calls_reader_kind *gt_calls_reader_kind_of(const struct gt_calls *c)
{
    return gt_calls_is_file(c) ? &gt_calls_reader_of_file : &gt_calls_reader_of_directory;
}

#endif
