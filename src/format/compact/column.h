/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: a block's columns. Each is a row of bytes and of numbers: 7 bits a byte,
 * lowest first, the highest bit set where another byte follows; the ninth byte has 8 bits. In the
 * payload stand for each, in order, how many bytes it has, how many packed by zstd (0: it is not
 * packed), and these.
 */
#ifndef GT_FORMAT_COMPACT_COLUMN_H
#define GT_FORMAT_COMPACT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* What each holds. */
enum gt_column {
    GT_COLUMN_PIECES, /* tasks, and how many records */
    GT_COLUMN_TASKS,  /* of tasks that appear: id, time, depth, when functions were entered */
    GT_COLUMN_RUNS,   /* records that were predicted, before each that was not */
    GT_COLUMN_MISSES, /* enum gt_miss of each that was not */
    GT_COLUMN_SYMS,   /* what happened, where nothing predicted it */
    GT_COLUMN_WORDS,  /* new words */
    GT_COLUMN_NEAR,   /* times: differences to what was predicted, or small steps */
    GT_COLUMN_FAR,    /* times: steps */
    GT_COLUMNS,
};

/* ---- writing ------------------------------------------------------------------------------- */

struct gt_column_out {
    uint8_t *data;
    size_t n, room;
};

enum { GT_NUMBER_MAX = 9 }; /* bytes of one number */

/* Room for that many bytes more. False: no memory. */
bool gt_column_reserve(struct gt_column_out *c, size_t more);

/* With room. */
static inline void gt_column_put(struct gt_column_out *c, uint64_t v)
{
    uint8_t *at = c->data + c->n, *last = at + GT_NUMBER_MAX - 1;
    for (; v > 127 && at < last; v >>= 7)
        *at++ = (uint8_t)(v | 128);
    *at++ = (uint8_t)v;
    c->n = (size_t)(at - c->data);
}

/* Appends a column to a payload. False: no memory. */
bool gt_column_pack(const struct gt_column_out *c, ZSTD_CCtx *zstd, struct gt_column_out *payload);

/* ---- reading ------------------------------------------------------------------------------- */

struct gt_column_in {
    const uint8_t *at, *end;
    bool bad; /* a read did not fit: each further one gives 0 */
};

/* All columns of a block. */
struct gt_columns {
    struct gt_column_in in[GT_COLUMNS];
    uint8_t *bytes[GT_COLUMNS]; /* unpacked; kept for the next block */
    size_t room[GT_COLUMNS];
    ZSTD_DCtx *zstd;
};

/* The payload must live as long as the columns are read; none has more than `most` bytes.
 * GT_E_FORMAT, GT_E_NOMEM. */
int gt_columns_open(struct gt_columns *c, const void *payload, size_t size, size_t most);
/* The next column of a payload, as c->in[i]; skip: not unpacked. *payload is then behind it. Errors
 * of gt_columns_open. */
int gt_column_open(struct gt_columns *c, int i, struct gt_column_in *payload, size_t most,
                   bool skip);
/* Frees what is in there; zstd too. */
void gt_columns_finish(struct gt_columns *c);
/* True where all have been read to their ends, and none beyond. */
bool gt_columns_are_done(const struct gt_columns *c);

/* A number that has more than one byte, or is missing. */
uint64_t gt_column_take_long(struct gt_column_in *c);

static inline uint64_t gt_column_take(struct gt_column_in *c)
{
    if (c->at < c->end && *c->at < 128)
        return *c->at++;
    return gt_column_take_long(c);
}

static inline uint8_t gt_column_take_byte(struct gt_column_in *c)
{
    if (c->at < c->end)
        return *c->at++;
    c->bad = true;
    return 0;
}

#endif
