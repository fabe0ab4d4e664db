/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: the packer's words of a segment (functions, events, odd records) and their
 * numbers, from 1 on in order of appearance. A word's class is the enum gt_compact_kind that it
 * stands in; that of an exit is an entry's. */
#ifndef GT_CALLS_FILE_WORDS_H
#define GT_CALLS_FILE_WORDS_H

#include "calls/file/column.h"

struct gt_compact_word {
    uint64_t value;
    uint32_t class;
};

struct gt_compact_words {
    struct gt_compact_word *word; /* by number; 0 is not used */
    uint32_t n, room;             /* room: a power of two */
    uint32_t *number;             /* by the word's hash: open addressing, twice `room`; 0: free */
    uint64_t last;
};

bool gt_compact_words_init(struct gt_compact_words *w); /* false: no memory */
void gt_compact_words_finish(struct gt_compact_words *w);
/* A new segment. */
void gt_compact_words_clear(struct gt_compact_words *w);
/* The word's number. A word that has none gets the next (*is_new), and is put in the column, which
 * has room for it. 0: no memory. */
uint32_t gt_compact_words_number(struct gt_compact_words *w, uint64_t value, unsigned class,
                                 struct gt_compact_column_out *column, bool *is_new);

static inline uint32_t gt_compact_words_hash(uint64_t v)
{
    return (uint32_t)((v ^ v >> 31) * 0x9e3779b97f4a7c15u >> 32);
}

#endif
