/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a file, a pipe or a socket on their way to a parser: a buffer that holds the part of
 * the source from the parser's place on, as much as the parser asks for, and the bytes read with
 * it. It asks the source only when bytes are missing, and takes what comes, so that a stream can be
 * read while it is written.
 */
#ifndef GT_BASE_REFILL_H
#define GT_BASE_REFILL_H

#include "base/error.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads up to n bytes into out and returns their number; 0: end; -1: error, errno is set. After
 * EINTR the buffer calls it again. */
typedef ssize_t (*gt_bytes_refill_fn)(void *self, void *out, size_t n);

struct gt_bytes_refill {
    gt_bytes_refill_fn read;
    void *self;
    char *name; /* of the source, for messages */
    uint8_t *buf;
    size_t cap;
    size_t pos, end; /* read and not yet taken */
    uint64_t offset; /* of buf[pos] in the source */
    size_t ahead;    /* bytes to ask for at once; may be changed */
    bool ended;      /* the source was at its end */
};

/* The name is copied. GT_E_NOMEM. gt_bytes_refill_free in any case. */
int gt_bytes_refill_init(struct gt_bytes_refill *r, gt_bytes_refill_fn read, void *self,
                         const char *name, size_t ahead, struct gt_error *err);
void gt_bytes_refill_free(struct gt_bytes_refill *r);

/* The source was moved: it continues at that offset. */
void gt_bytes_refill_restart(struct gt_bytes_refill *r, uint64_t offset);

/* The bytes at hand; they stay where they are until the next gt_bytes_refill_need. */
static inline const uint8_t *gt_bytes_refill_at(const struct gt_bytes_refill *r)
{
    return r->buf + r->pos;
}

static inline size_t gt_bytes_refill_left(const struct gt_bytes_refill *r)
{
    return r->end - r->pos;
}

int gt_bytes_refill_more(struct gt_bytes_refill *r, size_t n, struct gt_error *err);

/* Has at least n bytes at hand: 1; 0: the source ends before. GT_E_IO, GT_E_NOMEM, with name and
 * offset. Bytes at hand stay at hand. */
static inline int gt_bytes_refill_need(struct gt_bytes_refill *r, size_t n, struct gt_error *err)
{
    return gt_bytes_refill_left(r) >= n ? 1 : gt_bytes_refill_more(r, n, err);
}

/* The parser is done with n bytes, which are at hand. */
static inline void gt_bytes_refill_take(struct gt_bytes_refill *r, size_t n)
{
    assert(n <= gt_bytes_refill_left(r));
    r->pos += n;
    r->offset += n;
}

#endif
