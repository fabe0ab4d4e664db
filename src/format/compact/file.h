/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in one file: what it has, and adding to it.
 *
 * The file begins with GT_COMPACT_FILE_HEAD bytes, then come blocks (compact.h). Besides records it
 * has text files, those of a uftrace directory: of each name the last one counts. Blocks are only
 * ever added, each whole or not at all, by one process at a time (flock): so several processes may
 * record into one file, and what was there stays readable whatever happens. A file that was cut is
 * good up to its last whole block.
 */
#ifndef GT_FORMAT_COMPACT_FILE_H
#define GT_FORMAT_COMPACT_FILE_H

#include "format/compact/compact.h"

#define GT_COMPACT_FILE_HEAD 16
#define GT_COMPACT_VERSION   1
/* A text file is not longer, its name neither. */
#define GT_COMPACT_MAX_TEXT (256u << 20)
#define GT_COMPACT_MAX_NAME 255

struct gt_compact_block {
    uint64_t at; /* offset of its head in the file */
    struct gt_compact_head head;
};

struct gt_compact_file {
    int fd;
    char *path;
    uint64_t size;  /* of the file, when it was opened */
    uint64_t whole; /* bytes up to the end of its last whole block; less than `size`: it was cut, or
                     * something else stands there */
    struct gt_compact_block *block;
    size_t n, room;
    /* a block that was read */
    uint8_t *payload;
    size_t payload_room;
};

/* Reads the heads of all blocks. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM; GT_E_FORMAT: no such file, or
 * of a version that is not known. */
int gt_compact_file_open(const char *path, struct gt_compact_file *out, struct gt_error *err);
void gt_compact_file_close(struct gt_compact_file *f);
/* Reads a block's payload and checks it; it is the file's, until the next call. GT_E_IO,
 * GT_E_NOMEM; GT_E_FORMAT: it is damaged, err says at which offset. */
int gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                            struct gt_error *err);
/* A text file's name, from its payload (not terminated). False: it has none. */
bool gt_compact_text_name(const struct gt_compact_head *head, const uint8_t *payload,
                          const char **name, size_t *n);
/* Its contents; (*data)[*size] is 0, the caller frees *data. GT_E_FORMAT, GT_E_NOMEM. */
int gt_compact_text_read(const struct gt_compact_head *head, const uint8_t *payload, char **data,
                         size_t *size);
/* The text file of that name. GT_E_NOT_FOUND, and those of gt_compact_file_payload. */
int gt_compact_file_text(struct gt_compact_file *f, const char *name, char **data, size_t *size,
                         struct gt_error *err);

/* ---- writing ------------------------------------------------------------------------------- */

/* Makes the file, with no blocks yet. GT_E_EXISTS; GT_E_IO, GT_E_NOT_FOUND (its directory). */
int gt_compact_file_create(const char *path, struct gt_error *err);
/* Appends a block: head and payload. Where it does not fit the file stays as it was. GT_E_IO,
 * GT_E_NOT_FOUND. */
int gt_compact_file_append(const char *path, const void *block, size_t size, struct gt_error *err);
/* A text file's block; the caller frees *block. GT_E_RANGE: its name or contents are too long;
 * GT_E_NOMEM. */
int gt_compact_text_pack(const char *name, const void *data, size_t n, uint8_t **block,
                         size_t *size);

#endif
