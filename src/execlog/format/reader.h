/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a log in execlog's binary form chunk by chunk, from any source of bytes. If the source can
 * seek, unwanted chunks are skipped. Every field of a log is checked before use. Memory is bounded
 * by the largest chunk, and by GT_EXECLOG_MOST_CODE for definitions.
 */
#ifndef GT_EXECLOG_FORMAT_READER_H
#define GT_EXECLOG_FORMAT_READER_H

#include "base/error.h"
#include "base/refill.h"
#include "execlog/format/chunk.h"
#include "execlog/format/code.h"

struct gt_execlog_source {
    const char *name; /* for messages */
    gt_bytes_refill_fn read;
    /* Sets the offset of the next read. False: not possible. NULL: the source cannot seek. */
    bool (*seek)(void *self, uint64_t offset);
    void *self;
};

struct gt_execlog_about {
    char target[GT_EXECLOG_TARGET];
    uint32_t flags; /* enum gt_execlog_flag */
    uint16_t major, minor;
};

struct gt_execlog_reader;

/* True if a file that begins with these bytes is a log, of any version; 8 bytes are enough. */
bool gt_execlog_is(const void *first, size_t n);

/* Reads the header. The source and its name are copied. GT_E_FORMAT: not a log, or its header is
 * damaged; GT_E_UNSUPPORTED: another version; GT_E_TRUNC, GT_E_IO, GT_E_NOMEM. */
int gt_execlog_reader_create(const struct gt_execlog_source *source, struct gt_execlog_reader **out,
                             struct gt_error *err);
void gt_execlog_reader_destroy(struct gt_execlog_reader *r); /* NULL is fine */
const struct gt_execlog_about *gt_execlog_reader_about(const struct gt_execlog_reader *r);

struct gt_execlog_item {
    struct gt_execlog_chunk chunk;
    uint64_t offset;
    const uint8_t *summary; /* valid until the next call */
};

/* Reads the next chunk's header and summary. Returns 1, or 0 after END or if the source ends after
 * a whole chunk. GT_E_FORMAT: the next bytes are not a chunk, or a damaged one; the message has the
 * offset, and the next call continues at the next valid chunk. GT_E_TRUNC, GT_E_IO: no further
 * chunk can be read. */
int gt_execlog_next(struct gt_execlog_reader *r, struct gt_execlog_item *out, struct gt_error *err);

/* Reads the body of the newest chunk, with GT_EXECLOG_PADDING readable bytes after it, valid until
 * the next call. May be called once for a chunk. GT_E_FORMAT, GT_E_TRUNC, GT_E_IO. */
int gt_execlog_body(struct gt_execlog_reader *r, const struct gt_execlog_item *item,
                    const uint8_t **out, struct gt_error *err);
/* Reads the body and adds its definitions. Errors of gt_execlog_body; GT_E_RANGE, GT_E_NOMEM. */
int gt_execlog_learn(struct gt_execlog_reader *r, const struct gt_execlog_item *item,
                     struct gt_error *err);

/* True if END was read. */
bool gt_execlog_whole(const struct gt_execlog_reader *r);
struct gt_execlog_codes *gt_execlog_reader_codes(struct gt_execlog_reader *r);
const char *gt_execlog_reader_name(const struct gt_execlog_reader *r);

/* ---- out of order, where the source can seek ----------------------------------------------- */

/* Continues with the chunk at the offset. `ahead`: the chunks after it will be read as well;
 * otherwise the reader reads as few bytes as possible. False: the source cannot seek. */
bool gt_execlog_go(struct gt_execlog_reader *r, uint64_t offset, bool ahead);

/* Reads the last GT_EXECLOG_HEAD bytes of a source of `size` bytes. True if they are an END: *out
 * has the offset of the last index and the number of lines. */
bool gt_execlog_find_end(struct gt_execlog_reader *r, uint64_t size, struct gt_execlog_chunk *out);

#endif
