/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log in execlog's binary form, chunk by chunk, from a source of bytes that can be anything;
 * where it can go to any place, chunks that are not wanted are not read. Nothing of a log is
 * believed. Memory is bounded by the largest chunk, and by GT_EXECLOG_MOST_CODE for definitions.
 */
#ifndef GT_FORMAT_EXECLOG_READER_H
#define GT_FORMAT_EXECLOG_READER_H

#include "base/error.h"
#include "base/refill.h"
#include "format/execlog/chunk.h"
#include "format/execlog/code.h"

struct gt_execlog_source {
    const char *name; /* for messages */
    gt_refill_fn read;
    /* What is read next begins there. False: not possible; NULL: never. */
    bool (*seek)(void *self, uint64_t offset);
    void *self;
};

struct gt_execlog_about {
    char target[GT_EXECLOG_TARGET];
    uint32_t flags; /* enum gt_execlog_flag */
    uint16_t major, minor;
};

struct gt_execlog_reader;

/* Whether a file that begins so is a log, of whatever version; 8 bytes are enough. */
bool gt_execlog_is(const void *first, size_t n);

/* Reads the header. The source is copied, its name too. GT_E_FORMAT: no log, or its header is
 * damaged; GT_E_UNSUPPORTED: another version; GT_E_TRUNC, GT_E_IO, GT_E_NOMEM. */
int gt_execlog_reader_create(const struct gt_execlog_source *source, struct gt_execlog_reader **out,
                             struct gt_error *err);
void gt_execlog_reader_destroy(struct gt_execlog_reader *r); /* NULL is fine */
const struct gt_execlog_about *gt_execlog_reader_about(const struct gt_execlog_reader *r);

struct gt_execlog_item {
    struct gt_execlog_chunk chunk;
    uint64_t offset;
    const uint8_t *summary; /* until the next call */
};

/* The next chunk: 1; 0 after END, or where the bytes end after a whole chunk. GT_E_FORMAT: what
 * comes next is no chunk, or a damaged one: told with its offset; the next call goes on with the
 * next chunk that there is. GT_E_TRUNC, GT_E_IO: there is no other one. */
int gt_execlog_next(struct gt_execlog_reader *r, struct gt_execlog_item *out, struct gt_error *err);

/* The body of the chunk that came last, with GT_EXECLOG_PADDING bytes after it; until the next
 * call. Once for a chunk. GT_E_FORMAT, GT_E_TRUNC, GT_E_IO. */
int gt_execlog_body(struct gt_execlog_reader *r, const struct gt_execlog_item *item,
                    const uint8_t **out, struct gt_error *err);
/* Reads it and learns the definitions. The same errors, GT_E_RANGE, GT_E_NOMEM. */
int gt_execlog_learn(struct gt_execlog_reader *r, const struct gt_execlog_item *item,
                     struct gt_error *err);

/* END was seen. */
bool gt_execlog_whole(const struct gt_execlog_reader *r);
struct gt_execlog_codes *gt_execlog_reader_codes(struct gt_execlog_reader *r);
const char *gt_execlog_reader_name(const struct gt_execlog_reader *r);

/* ---- out of order, where the source can seek ----------------------------------------------- */

/* The next chunk is the one there, after which come those that follow it. `ahead`: those will be
 * read, too; else as little as possible is read at once. False: not possible. */
bool gt_execlog_go(struct gt_execlog_reader *r, uint64_t offset, bool ahead);

/* A size that the source has. Its last GT_EXECLOG_HEAD bytes are an END: true, and where the last
 * index is, how many lines the log has. */
bool gt_execlog_find_end(struct gt_execlog_reader *r, uint64_t size, struct gt_execlog_chunk *out);

#endif
