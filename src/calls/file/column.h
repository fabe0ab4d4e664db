/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: a block's columns. Each is a row of bytes and of numbers: 7 bits a byte,
 * lowest first, the highest bit set where another byte follows; the ninth byte has 8 bits. In the
 * payload stand for each, in order, how many bytes it has, how many packed by zstd (0: it is not
 * packed), and these.
 */
#ifndef GT_CALLS_FILE_COLUMN_H
#define GT_CALLS_FILE_COLUMN_H

#include "calls/file/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* What each holds. */
enum gt_compact_column {
    GT_COLUMN_PIECES, /* tasks, and how many records */
    GT_COLUMN_TASKS,  /* of tasks that appear: id, time, depth, when functions were entered */
    GT_COLUMN_RUNS,   /* records that were predicted, before each that was not */
    GT_COLUMN_MISSES, /* enum gt_compact_miss of each that was not */
    GT_COLUMN_SYMS,   /* what happened, where nothing predicted it */
    GT_COLUMN_WORDS,  /* new words */
    GT_COLUMN_NEAR,   /* times: differences to the prediction */
    GT_COLUMN_FAR,    /* times: steps */
    GT_COLUMN_LOW,    /* times: the lowest 8 bits of long steps */
    GT_COLUMN_STEPS,  /* times: steps, in some columns (clock.h); exact: not there */
    /* Of blocks that have values; in the payload they follow the columns above that it has. */
    GT_COLUMN_CODES = GT_COLUMN_STEPS + GT_CLOCK_COLUMNS, /* enum gt_compact_value_code of each */
    GT_COLUMN_VALUES, /* differences to the prediction; numbers and sizes of texts */
    GT_COLUMN_BYTES,  /* bytes of texts */
    GT_COLUMNS,
};

/* ---- writing ------------------------------------------------------------------------------- */

struct gt_compact_column_out {
    uint8_t *data;
    size_t n, room;
};

enum { GT_NUMBER_MAX = 9 }; /* bytes of one number */

/* Room for that many bytes more. False: no memory. */
bool gt_compact_column_reserve(struct gt_compact_column_out *c, size_t more);

/* With room. */
static inline void gt_compact_column_put(struct gt_compact_column_out *c, uint64_t v)
{
    uint8_t *at = c->data + c->n, *last = at + GT_NUMBER_MAX - 1;
    for (; v > 127 && at < last; v >>= 7)
        *at++ = (uint8_t)(v | 128);
    *at++ = (uint8_t)v;
    c->n = (size_t)(at - c->data);
}

/* Appends a column to a payload, by zstd's level. False: no memory. */
bool gt_compact_column_pack(const struct gt_compact_column_out *c, ZSTD_CCtx *zstd, int level,
                            struct gt_compact_column_out *payload);

/* ---- reading ------------------------------------------------------------------------------- */

struct gt_compact_column_in {
    const uint8_t *at, *end;
    bool bad; /* a read did not fit: each further one gives 0 */
};

/* A column as it stands in the payload. */
struct gt_compact_column_part {
    const uint8_t *from;
    size_t size, packed; /* packed 0: it is not */
};

/* *payload is then after it. GT_E_FORMAT. */
int gt_compact_column_find(struct gt_compact_column_in *payload,
                           struct gt_compact_column_part *out);
/* The column's bytes; `to` has room for them, and is used where they are packed. GT_E_FORMAT. */
int gt_compact_column_unpack(const struct gt_compact_column_part *part, ZSTD_DCtx *zstd,
                             uint8_t *to, struct gt_compact_column_in *out);

/* All columns of a block. */
struct gt_compact_columns {
    struct gt_compact_column_in in[GT_COLUMNS];
    unsigned n;     /* how many are open, not counting values */
    bool values;    /* those are open, too */
    uint8_t *bytes; /* of all; kept for the next block */
    size_t room;
    ZSTD_DCtx *zstd;
};

/* Opens the first n columns, and with `values` the columns of values; the payload must live as long
 * as they are read; they have at most `most` bytes together. GT_E_FORMAT, GT_E_NOMEM. */
int gt_compact_columns_open(struct gt_compact_columns *c, unsigned n, bool values,
                            const void *payload, size_t size, size_t most);
/* Frees its contents; zstd's, too. */
void gt_compact_columns_finish(struct gt_compact_columns *c);
/* True where all have been read to their ends, and none beyond. */
bool gt_compact_columns_are_done(struct gt_compact_columns *c);

/* A number that has more than one byte, or is missing. */
uint64_t gt_compact_column_take_long(struct gt_compact_column_in *c);

static inline uint64_t gt_compact_column_take(struct gt_compact_column_in *c)
{
    if (c->at < c->end && *c->at < 128)
        return *c->at++;
    return gt_compact_column_take_long(c);
}

static inline uint8_t gt_compact_column_take_byte(struct gt_compact_column_in *c)
{
    if (c->at < c->end)
        return *c->at++;
    c->bad = true;
    return 0;
}

#endif
