/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packed records of calls: what a recording in one file has instead of TID.dat files.
 *
 * A recording's records are nearly all predictable: after a function was entered or left below a
 * given caller the same thing usually follows, after the same number of instructions. Packer and
 * unpacker keep the same table of such predictions; a record that the table predicts costs one step
 * of a run length. docs/formats/compact.md has the format to the byte.
 *
 * Blocks and segments. The packer makes blocks, each of which says its length, what it holds and
 * its checksum. A segment is a row of blocks of one packer that share the table; it begins with an
 * empty one, so that an unpacker may begin at any segment, and several may work side by side. A
 * block's records are pieces: some records of one task, in the order in which they were put.
 *
 * Records are lossless: any two numbers of 64 bits come back as they were.
 */
#ifndef GT_CALLS_FILE_COMPACT_H
#define GT_CALLS_FILE_COMPACT_H

#include "base/error.h"
#include "recording/values/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record as uftrace has it: see recording/directory/uftrace.h for the word. */
struct gt_compact_record {
    uint64_t time, word;
};

/* ---- a block's head ------------------------------------------------------------------------ */

enum gt_compact_type {
    GT_COMPACT_RECORDS = 1,
    GT_COMPACT_FILE,  /* a text file of the recording: its name, its contents packed by zstd */
    GT_COMPACT_INDEX, /* what the blocks before it are: file.h */
    GT_COMPACT_PART,  /* which part of a recording in several files this one is: set.h */
};

enum gt_compact_flag {
    GT_COMPACT_SEGMENT = 1, /* RECORDS: the first block of a segment */
    GT_COMPACT_EXACT = 2,   /* RECORDS: times repeat, they are predicted as well */
    GT_COMPACT_VALUES = 4,  /* RECORDS: some have values */
};

/* Bytes of a head in front of its payload. */
#define GT_COMPACT_HEAD 64
/* The longest payload; also the most bytes that are packed in one of records. */
#define GT_COMPACT_MAX_PAYLOAD (64u << 20)
/* A block has at most that many records. */
#define GT_COMPACT_MAX_RECORDS (1u << 20)
/* A text among values has at most as many bytes. */
#define GT_COMPACT_MAX_VALUE (1u << 12)
/* In a segment appear at most that many tasks. */
#define GT_COMPACT_MAX_TASKS (1u << 14)

struct gt_compact_head {
    uint8_t type; /* enum gt_compact_type; never 0 */
    uint8_t flags;
    uint32_t size;   /* bytes of the payload */
    uint32_t packer; /* RECORDS: blocks of one packer, in order, belong together: a process id */
    /* RECORDS: */
    uint32_t records;
    uint64_t first_time, last_time; /* the lowest and the highest of its records */
    uint64_t before;                /* records of the same packer in earlier blocks */
};

/* Fills in GT_COMPACT_HEAD bytes: the head has a checksum of itself and one of the payload. */
void gt_compact_head_write(uint8_t out[GT_COMPACT_HEAD], const struct gt_compact_head *head,
                           const void *payload);
/* GT_E_TRUNC: fewer than GT_COMPACT_HEAD bytes. GT_E_FORMAT: no block begins here, or its head is
 * damaged. */
int gt_compact_head_read(const void *data, size_t size, struct gt_compact_head *out);
/* True where the head is whole and the payload is what it was made for; `size` bytes of it are
 * there. */
bool gt_compact_head_fits(const uint8_t head[GT_COMPACT_HEAD], const void *payload, size_t size);

/* ---- packing ------------------------------------------------------------------------------- */

struct gt_compact_packer;

struct gt_compact_packer_options {
    uint32_t packer;  /* struct gt_compact_head.packer */
    bool exact;       /* times repeat: an instruction clock's */
    uint64_t segment; /* records after which a new segment begins; 0: GT_PACKER_SEGMENT */
    uint64_t before;  /* records that an earlier packer of the same number has packed */
};
#define GT_PACKER_SEGMENT (2u << 20)
/* A block has about as many records, or less. */
#define GT_PACKER_BLOCK (256u << 10)

/* Functions that a task may have open; and the most that each of a segment's tasks has had open in
 * it, together. A deeper call is packed as a word that fits nowhere. */
#define GT_PACKER_DEPTH (1u << 20)
#define GT_PACKER_OPEN  (1u << 23)

/* One of them. */
struct gt_compact_packer_frame {
    uint64_t addr, begin;
};

/* GT_E_NOMEM. */
int gt_compact_packer_create(const struct gt_compact_packer_options *o,
                             struct gt_compact_packer **out);
void gt_compact_packer_destroy(struct gt_compact_packer *p); /* NULL is fine */
/* The task goes on where an earlier packer ended: the time of its last record, and the functions
 * that it has open, outermost first. To be called before the task's first record. GT_E_USAGE: the
 * task has records; GT_E_RANGE: the task, or all of them, cannot have as many functions open, and
 * the task is as one that has not been resumed; GT_E_NOMEM. */
int gt_compact_packer_resume(struct gt_compact_packer *p, uint32_t task, uint64_t time,
                             const struct gt_compact_packer_frame *frame, size_t n);
/* The task has ended: its memory is freed. It may come again, as a new one. */
void gt_compact_packer_forget(struct gt_compact_packer *p, uint32_t task);
/* struct gt_compact_packer_options.exact, from the next block on. */
void gt_compact_packer_set_exact(struct gt_compact_packer *p, bool exact);
/* Adds records of a task. GT_E_RANGE: the block must be ended before (it would have more than
 * GT_COMPACT_MAX_RECORDS, or its segment more than GT_COMPACT_MAX_TASKS; does not happen where it
 * is ended when it is full). After GT_E_NOMEM the packer can only be destroyed. */
int gt_compact_packer_put(struct gt_compact_packer *p, uint32_t task,
                          const struct gt_compact_record *r, size_t n);
/* Adds a record of a task with its values. GT_E_USAGE: they are not as payload.h has them, or a
 * text is longer than GT_COMPACT_MAX_VALUE; nothing was added. Else as gt_compact_packer_put. */
int gt_compact_packer_put_valued(struct gt_compact_packer *p, uint32_t task,
                                 const struct gt_compact_record *r,
                                 const struct gt_value_list *list);
/* Adds records of a task as streams have them (base/stream/packing.h): n words; behind a record
 * with `more` stand its values, as words of payload.h. GT_E_RANGE: nothing was added. GT_E_USAGE:
 * values are not of that form, and nothing from them on was added. */
int gt_compact_packer_put_words(struct gt_compact_packer *p, uint32_t task, const uint64_t *words,
                                size_t n);
/* True: as much has been put as a block should have. One may be ended at any time. */
bool gt_compact_packer_is_full(const struct gt_compact_packer *p);
/* Bytes of the block so far, at most. */
uint64_t gt_compact_packer_size(const struct gt_compact_packer *p);
/* Ends the block: its head and payload, to be appended to the file by one write. They are the
 * packer's, until the next call. *size 0: nothing was put. GT_E_NOMEM. */
int gt_compact_packer_end_block(struct gt_compact_packer *p, const uint8_t **data, size_t *size);

/* ---- unpacking ----------------------------------------------------------------------------- */

/* What happened, of one record. */
enum gt_compact_kind {
    GT_COMPACT_EXIT,  /* of the function that was entered last and is open */
    GT_COMPACT_ENTRY, /* of a function, from the one that is open */
    GT_COMPACT_EVENT, /* uftrace's: at the present depth */
    GT_COMPACT_OTHER, /* a word that fits nowhere: it changes no stack */
};

struct gt_compact_event {
    uint64_t time;
    uint32_t sym;   /* number of the function << 2 | enum gt_compact_kind */
    uint32_t depth; /* of the record: an entry's before it, an exit's after it */
};

/* A function that a task has open. */
struct gt_compact_frame {
    uint64_t begin; /* when it was entered */
    uint32_t number;
};

/* Some records of one task. */
struct gt_compact_piece {
    uint32_t task;
    uint32_t index; /* of the task in the segment, from 0, in order of appearance */
    bool first;     /* of the task in the segment */
    const struct gt_compact_event *event;
    size_t n;
    const struct gt_value_list *values; /* of its one record; NULL: none has values */
    /* Where it is the first: what the task has open before it, outermost first, and the time of the
     * record before. */
    const struct gt_compact_frame *open;
    size_t n_open;
    uint64_t time;
};

struct gt_compact_unpacker;

int gt_compact_unpacker_create(struct gt_compact_unpacker **out); /* GT_E_NOMEM */
void gt_compact_unpacker_destroy(struct gt_compact_unpacker *u);  /* NULL is fine */
/* Unpacks a RECORDS block: head and payload, which must fit each other. `piece` is called for all
 * pieces in order, long ones in parts; what it returns below 0 ends the call and is returned.
 * A segment's blocks must come in order, from the first on. GT_E_FORMAT, GT_E_TRUNC (err says what,
 * and at which record), GT_E_NOMEM, GT_E_USAGE: the segment's first block has not come. */
int gt_compact_unpacker_block(struct gt_compact_unpacker *u, const struct gt_compact_head *head,
                              const void *payload,
                              int (*piece)(void *self, const struct gt_compact_piece *p),
                              void *self, struct gt_error *err);
/* In a piece callback: the record that the event was made from. */
struct gt_compact_record gt_compact_unpacker_record(const struct gt_compact_unpacker *u,
                                                    const struct gt_compact_event *e);
/* Functions are numbered in a segment, from 1 on; the address of one that has come (EVENT: the
 * event's id; OTHER: the word). */
uint64_t gt_compact_unpacker_word(const struct gt_compact_unpacker *u, uint32_t number);
/* True: it is uftrace's event of that id, at whatever depth. */
bool gt_compact_unpacker_is_event(const struct gt_compact_unpacker *u,
                                  const struct gt_compact_event *e, uint64_t id);
/* Numbers so far. */
uint32_t gt_compact_unpacker_words(const struct gt_compact_unpacker *u);
/* Tasks that have appeared in the segment so far, and the id of each. */
uint32_t gt_compact_unpacker_tasks(const struct gt_compact_unpacker *u);
uint32_t gt_compact_unpacker_task(const struct gt_compact_unpacker *u, uint32_t index);
/* The functions that a task has open at its present place, outermost first, and the time of its
 * last record; valid until the next call. In a piece callback: as they are after the piece. NULL:
 * no memory. */
const struct gt_compact_frame *gt_compact_unpacker_frames(struct gt_compact_unpacker *u,
                                                          uint32_t index, uint32_t *depth,
                                                          uint64_t *time);

#endif
