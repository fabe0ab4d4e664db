/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in one file: what it has, and adding to it.
 *
 * The file begins with GT_COMPACT_FILE_HEAD bytes, then come blocks (compact.h). Besides records it
 * has the text files of a uftrace directory: of each name the last one counts; and indexes, each of
 * which lists the blocks before it, so that readers need not read their heads. Blocks are only ever
 * added, each whole or not at all, by one process at a time (flock): so several processes may
 * record into one file, and earlier blocks stay readable whatever happens. Bytes that are not a
 * block (a process was killed while it wrote, a head is damaged) are skipped up to the next one.
 */
#ifndef GT_CALLS_FILE_FILE_H
#define GT_CALLS_FILE_FILE_H

#include "calls/file/compact.h"

#include <inttypes.h>

#define GT_COMPACT_FILE_HEAD 16
/* Of the format: a reader refuses another major version, and skips what a newer minor one has more:
 * types of blocks. */
#define GT_COMPACT_MAJOR 1
#define GT_COMPACT_MINOR 1
/* A text file is not longer, its name neither. */
#define GT_COMPACT_MAX_TEXT (256u << 20)
#define GT_COMPACT_MAX_NAME 255

struct gt_compact_block {
    uint64_t at; /* offset of its head in the file */
    struct gt_compact_head head;
};

/* The notice of one: path, offset, bytes. */
#define GT_COMPACT_GAP_NOTICE                                                                      \
    "%s: offset %" PRIu64 ": %" PRIu64 " bytes are not a whole block; they are left out"

/* Bytes that are not a block, or an index whose checksum does not hold. */
struct gt_compact_gap {
    uint64_t at, size;
};

/* Which of a recording's files this one is: set.h. */
struct gt_compact_part {
    uint64_t set;
    uint32_t number; /* from 1; 0: the recording is in one file */
    uint64_t limit;  /* bytes of all files; 0: none */
};

/* One of the files that have been opened as one. */
struct gt_compact_member {
    char *path;
    uint32_t number;
    uint64_t begin; /* offset at which its bytes are counted */
};

/* Memory for a payload, {0} at first: a thread's own. */
struct gt_compact_buffer {
    uint8_t *data;
    size_t room;
};

struct gt_compact_file {
    int fd;
    char *path;
    uint16_t minor; /* of the file's version */
    uint64_t size;  /* of the file, when it was opened */
    uint64_t whole; /* bytes up to the end of its last whole block; less than `size`: it was cut, or
                     * is being written */
    struct gt_compact_block *block; /* of all types, also those that are not known */
    size_t n, room;
    struct gt_compact_gap *gap; /* in order; the last one may be the file's end */
    size_t n_gaps, gaps_room;
    /* The last index, if it was used, and what it covers. */
    uint64_t index_at; /* 0: none; the heads were read one by one */
    size_t index_blocks, index_gaps;
    struct gt_compact_buffer buffer; /* gt_compact_file_payload's */
    /* set.h: a file that is made of several, in order; `fd` is the last one's. */
    struct gt_compact_part part;
    struct gt_compact_member *member;
    size_t n_members, members_room;
    size_t own; /* the first block that may be a text file which counts */
};

/* Finds all blocks, by the index where it is valid. GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM;
 * GT_E_FORMAT: no such file; GT_E_UNSUPPORTED: of another major version. */
int gt_compact_file_open(const char *path, struct gt_compact_file *out, struct gt_error *err);
/* The same without an index: by the heads alone. */
int gt_compact_file_scan(const char *path, struct gt_compact_file *out, struct gt_error *err);
void gt_compact_file_close(struct gt_compact_file *f);
/* The file that has the offset, and *own, the offset in it: for messages. */
const char *gt_compact_file_place(const struct gt_compact_file *f, uint64_t at, uint64_t *own);
/* 0: a compact recording of a version that can be read begins at the path. Errors of
 * gt_compact_file_open. */
int gt_compact_file_check(const char *path, struct gt_error *err);
/* Reads a block's payload and checks it; it is in the buffer. Several threads may read. GT_E_IO,
 * GT_E_NOMEM; GT_E_FORMAT: it is damaged, or the index lied; err says at which offset. */
int gt_compact_file_read(const struct gt_compact_file *f, size_t i, struct gt_compact_buffer *b,
                         const uint8_t **payload, struct gt_error *err);
void gt_compact_buffer_free(struct gt_compact_buffer *b);
/* The same with the file's own buffer: valid until the next call. */
int gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                            struct gt_error *err);

/* ---- text files ---------------------------------------------------------------------------- */

/* A text file's name, from its payload (not terminated). False: it has none. */
bool gt_compact_text_name(const struct gt_compact_head *head, const uint8_t *payload,
                          const char **name, size_t *n);
/* Its contents; (*data)[*size] is 0, the caller frees *data. GT_E_FORMAT, GT_E_NOMEM. */
int gt_compact_text_read(const struct gt_compact_head *head, const uint8_t *payload, char **data,
                         size_t *size);
/* The name of block i, a text file, without reading all of it. GT_E_IO; GT_E_FORMAT: it has none.
 */
int gt_compact_file_name(const struct gt_compact_file *f, size_t i,
                         char name[GT_COMPACT_MAX_NAME + 1], struct gt_error *err);
/* The text file of that name. GT_E_NOT_FOUND; errors of gt_compact_file_read. */
int gt_compact_file_text(const struct gt_compact_file *f, const char *name, char **data,
                         size_t *size, struct gt_error *err);

/* ---- records ------------------------------------------------------------------------------- */

/* Blocks that are unpacked one after the other, by an unpacker of their own. */
struct gt_compact_segment {
    uint32_t packer;
    const size_t *block; /* which of the file's, in order */
    size_t n;
    uint64_t first_time, last_time; /* the lowest and the highest of its records */
    uint64_t records;
};

struct gt_compact_segments {
    struct gt_compact_segment *segment; /* in order of their first blocks in the file */
    size_t n;
    size_t *block;
    /* RECORDS blocks of no segment, because one before them is lost. */
    size_t orphans;
    uint64_t orphan_records;
};

/* GT_E_NOMEM. */
int gt_compact_segments_find(const struct gt_compact_file *f, struct gt_compact_segments *out);
void gt_compact_segments_free(struct gt_compact_segments *s);
/* Unpacks a segment's blocks in order: see gt_compact_unpacker_block. Errors of that and of
 * gt_compact_file_read; err names the file and the block's offset. */
int gt_compact_segment_unpack(const struct gt_compact_file *f, const struct gt_compact_segment *s,
                              struct gt_compact_unpacker *u,
                              int (*piece)(void *self, const struct gt_compact_piece *p),
                              void *self, struct gt_error *err);
/* Calls `word` once for each function address, event id and odd word that the records have, without
 * unpacking these. What it returns below 0 ends the call and is returned. Damaged blocks are
 * skipped. GT_E_IO, GT_E_NOMEM. */
int gt_compact_file_words(const struct gt_compact_file *f, int (*word)(void *self, uint64_t word),
                          void *self, struct gt_error *err);

/* ---- writing ------------------------------------------------------------------------------- */

/* Makes the file, with no blocks yet. GT_E_EXISTS; GT_E_IO, GT_E_NOT_FOUND (its directory). */
int gt_compact_file_create(const char *path, struct gt_error *err);
/* Appends a block: head and payload. Where it does not fit the file stays as it was. GT_E_IO,
 * GT_E_NOT_FOUND. */
int gt_compact_file_append(const char *path, const void *block, size_t size, struct gt_error *err);
/* Appends an index of all blocks that no index has yet; nothing where the file ends with one.
 * Errors of gt_compact_file_open and gt_compact_file_append; GT_E_RANGE: too many blocks. */
int gt_compact_index_append(const char *path, struct gt_error *err);
/* A text file's block; the caller frees *block. GT_E_RANGE: its name or contents are too long;
 * GT_E_NOMEM. */
int gt_compact_text_pack(const char *name, const void *data, size_t n, uint8_t **block,
                         size_t *size);

#endif
