/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a file may still get: what its disk, the process's limit of file sizes and the
 * recording's own limit leave. With a limit (gt_compact_limits.total) a block is in the file only
 * where all that belongs behind it has room as well: the text files, symbols and source lines of
 * functions that ran, and an index.
 */
#ifndef GT_CALLS_FILE_ROOM_H
#define GT_CALLS_FILE_ROOM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_compact_room {
    const char *file, *dir; /* the file; the directory that has its text files */
    uint64_t total;         /* the limit; 0: none */
    /* What the text files take, when that was measured; measured_words 0: not yet. */
    uint64_t measured, measured_raw, measured_words;
    uint64_t size; /* of the file after the last block; another's block changes it */
};

/* Bytes that the next block should not exceed, so that a full disk or the limit costs few records;
 * UINT64_MAX: any. `words`: functions that the process's records have, at most. */
uint64_t gt_compact_room_for_block(struct gt_compact_room *r, int fd, uint64_t words);
/* Adds the block, with the file locked. 0 or an errno value; EFBIG: it would be beyond the limit.
 * After an error the file is as it was. */
int gt_compact_room_append(struct gt_compact_room *r, int fd, const void *block, size_t size,
                           uint64_t words);

#endif
