/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: a packer's state. pack_state.c has its life, segments and tasks; pack.c its
 * records and blocks. */
#ifndef GT_CALLS_FILE_PACK_H
#define GT_CALLS_FILE_PACK_H

#include "calls/file/column.h"
#include "calls/file/values.h"
#include "calls/file/words.h"

struct gt_compact_packer_task {
    uint32_t id;
    uint32_t segment; /* the one that its index is of; 0: none yet */
    uint32_t index;
    uint32_t depth, room; /* functions that are open, and that there is room for */
    uint64_t time;
    struct gt_compact_model_frame *frame; /* room + 1; the first is not used */
    uint64_t *exit; /* the word that leaves each: it has the address; numbers are a segment's */
};

struct gt_compact_packer {
    struct gt_compact_packer_options o;
    struct gt_compact_prediction *first, *second; /* GT_MODEL_SIZE each */
    /* tasks, by id: open addressing, a power of two */
    struct gt_compact_packer_task **tasks;
    size_t n_tasks, tasks_room;
    size_t stacks; /* room beyond GT_MODEL_ROOM of tasks, those that ended in the segment as well */
    /* the segment */
    uint32_t segment; /* counted from 1 */
    uint32_t n_segment_tasks;
    uint64_t segment_records;
    struct gt_compact_words words;
    bool is_new; /* the word of the record at hand */
    struct gt_compact_value_model values;
    /* the block */
    bool begins; /* the segment */
    bool exact;
    uint32_t layouts; /* of records that have values: each has a step, as a record */
    unsigned shift;   /* not exact: of clock.h */
    struct gt_compact_clock_levels levels;
    struct gt_compact_head head;
    uint64_t run;
    struct gt_compact_column_out column[GT_COLUMNS];
    size_t steps_room; /* records whose steps fit in any of their columns */
    struct gt_compact_column_out out;
    ZSTD_CCtx *zstd;
    uint64_t records; /* put so far */
};

void gt_compact_packer_begin_segment(struct gt_compact_packer *p);
void gt_compact_packer_begin_block(struct gt_compact_packer *p);
/* The next block begins a segment. Between two blocks. */
void gt_compact_packer_end_segment(struct gt_compact_packer *p);
/* The task, which then has appeared in the segment. GT_E_RANGE: too many have; GT_E_NOMEM. */
int gt_compact_packer_task(struct gt_compact_packer *p, uint32_t id,
                           struct gt_compact_packer_task **out);
/* Makes room for that many open functions, where it is less. GT_E_RANGE: no more may be open;
 * GT_E_NOMEM. */
int gt_compact_packer_grow_stack(struct gt_compact_packer *p, struct gt_compact_packer_task *t,
                                 size_t depth);

#endif
