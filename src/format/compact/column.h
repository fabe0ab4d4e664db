/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: a block's columns. Each is a row of bytes and of numbers of 7 bits a byte,
 * lowest first. In the payload stand for each, in order, how many bytes it has, how many packed by
 * zstd (0: it is not packed), and these.
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
    GT_COLUMN_TASKS,  /* of tasks that appear: number, time, depth */
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

enum { GT_NUMBER_MAX = 10 }; /* bytes of one number */

/* Room for that many bytes more. False: no memory. */
bool gt_column_reserve(struct gt_column_out *c, size_t more);

/* With room. */
static inline void gt_column_put(struct gt_column_out *c, uint64_t v)
{
    for (; v > 127; v >>= 7)
        c->data[c->n++] = (uint8_t)(v | 128);
    c->data[c->n++] = (uint8_t)v;
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

/* The payload must live as long as the columns are read. GT_E_FORMAT, GT_E_NOMEM. */
int gt_columns_open(struct gt_columns *c, const void *payload, size_t size);
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
