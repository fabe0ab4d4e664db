/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: an unpacker's state. */
#ifndef GT_CALLS_FILE_UNPACK_H
#define GT_CALLS_FILE_UNPACK_H

#include "calls/file/column.h"
#include "calls/file/values.h"

enum { GT_UNPACKER_EVENTS = 4096 };

struct gt_compact_unpacker_task {
    uint32_t id;
    uint32_t depth, room; /* functions that are open, and that there is room for */
    uint64_t time;
    struct gt_compact_model_frame *frame; /* room + 1; the first is not used */
};

struct gt_compact_unpacker {
    struct gt_compact_prediction *first, *second; /* GT_MODEL_SIZE each */
    struct gt_compact_unpacker_task
        *task; /* those from n_tasks on have memory, for the next segments */
    uint32_t n_tasks, tasks_room;
    size_t stacks;  /* room of all tasks */
    uint64_t *word; /* by number */
    uint32_t n_words, words_room;
    uint64_t last_word;
    bool begun;     /* a segment's first block has come */
    bool exact;     /* the segment's blocks are */
    unsigned shift; /* not exact: of the block */
    struct gt_compact_clock_levels levels;
    struct gt_compact_value_model values;
    /* the block */
    struct gt_compact_columns columns;
    uint64_t run;
    struct gt_compact_event *event; /* EVENTS */
    struct gt_compact_frame *open;  /* for gt_compact_unpacker_frames */
    size_t open_room;
};

static inline uint64_t gt_compact_unpacker_take(struct gt_compact_unpacker *u,
                                                enum gt_compact_column column)
{
    return gt_compact_column_take(&u->columns.in[column]);
}
/* Makes room for that many open functions, where it is less. GT_E_FORMAT: no more can be open;
 * GT_E_NOMEM. */
int gt_compact_unpacker_grow_stack(struct gt_compact_unpacker *u,
                                   struct gt_compact_unpacker_task *t, size_t depth);

#endif
