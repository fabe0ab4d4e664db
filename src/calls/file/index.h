/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: an index's payload.
 *    number: offset of the index before it, 0: none
 *    number: how many entries it has
 *    a column each (column.h) of the entries' numbers, by enum gt_compact_index_field
 *    16 bytes: u64 offset of the index's own head, GT_INDEX_MAGIC
 * An entry is a block, or a gap, all that lies from the end of the index before (or the file's
 * head) to the index itself. So their sizes say where each begins. A file ends with its last index,
 * unless something was added later.
 */
#ifndef GT_CALLS_FILE_INDEX_H
#define GT_CALLS_FILE_INDEX_H

#include "calls/file/column.h"

#define GT_INDEX_MAGIC "gtindex\n"
enum {
    GT_INDEX_MAGIC_SIZE = 8,
    GT_INDEX_TRAILER = 16,
    GT_INDEX_LINK = 2 * GT_NUMBER_MAX, /* most bytes of the two numbers at the beginning */
};

enum gt_compact_index_field {
    GT_INDEX_TYPE, /* 0: a gap, which has a size only */
    GT_INDEX_FLAGS,
    GT_INDEX_SIZE,    /* of the payload; of the gap */
    GT_INDEX_PACKER,  /* signed: more than the block's before; so are FIRST and BEFORE */
    GT_INDEX_RECORDS, /* number of them */
    GT_INDEX_FIRST,   /* first time; more than the last time of the block before */
    GT_INDEX_SPAN,    /* last time; more than the first */
    GT_INDEX_BEFORE,  /* records before; more than those and the records of the block before */
    GT_INDEX_FIELDS,
};

#endif
