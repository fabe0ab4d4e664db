/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a row's records to the stacks of its tasks: finds the space of each task and the functions
 * of the records' numbers. One thread, one row at a time.
 */
#ifndef GT_CALLS_READ_FEED_H
#define GT_CALLS_READ_FEED_H

#include "calls/read/recording.h"
#include "calls/read/stack.h"

/* A task in a part. */
struct gt_calls_lane {
    struct gt_calls_stack *stack; /* NULL: it is not shown */
    uint32_t task;
    uint32_t space;
    uint64_t until;       /* the space is another one then */
    guint next;           /* of its task's switches */
    uint64_t next_switch; /* when that is */
};

/* What a task has before its first record in a part. */
struct gt_calls_opening {
    uint32_t task; /* index */
    const struct gt_call_frame *frame;
    size_t n;
    uint64_t time;  /* of the record before; 0: there is none */
    bool forked;    /* it is a forked child, nothing is before */
    uint64_t first; /* of its first record */
    bool enters;    /* the frames are inherited: it enters them now */
};

struct gt_calls_feed {
    struct gt_calls *c;
    const struct gt_calls_rules *rules;
    const bool *shown; /* by task; NULL: all */
    struct gt_calls_out *out;
    /* The stack for a task that appears. NULL: no memory. */
    struct gt_calls_stack *(*open)(void *self, const struct gt_calls_opening *o);
    /* What calls have for the function that is at an address in `task` at `time`, instead of its
     * index; NULL: that. */
    uint32_t (*number)(void *self, const struct gt_calls_feed *f, uint64_t address,
                       uint32_t function);
    void *self;
    /* numbers of the part */
    uint32_t **function; /* by space, then by number; NULL: the space was not met */
    size_t *room;        /* of each */
    size_t n_spaces;
    size_t n_words;
    uint32_t space; /* the one that `resolve` is asked for */
    uint32_t task;  /* whose records they are, and the time of one of them */
    uint64_t time;
    const void *words_self;
    uint64_t (*word)(const void *self, uint32_t number);
    GArray *frames;   /* struct gt_call_frame, for openings */
    uint64_t unknown; /* records of tasks that task.txt does not name */
};

/* False: no memory. */
bool gt_calls_feed_init(struct gt_calls_feed *f);
void gt_calls_feed_finish(struct gt_calls_feed *f);
/* Another part: numbers begin again. */
void gt_calls_feed_clear(struct gt_calls_feed *f);
/* The function of a number in a space. GT_PAIRS_NONE: no memory. */
uint32_t gt_calls_feed_function(struct gt_calls_feed *f, uint32_t space, uint32_t number,
                                uint64_t address);
/* Begins a lane whose task's first record has that time: the space, and with `time`, that of the
 * record before, what it is suspended in (appended to the feed's frames). */
void gt_calls_feed_open(struct gt_calls_feed *f, struct gt_calls_lane *lane, uint64_t first,
                        uint64_t time);
/* A forked child whose first record, a word of uftrace's, lies in calls of its parent's: sets what
 * it inherits. The frames are the feed's. */
void gt_calls_feed_inherit(struct gt_calls_feed *f, struct gt_calls_opening *o, uint32_t space,
                           uint64_t time, uint64_t word);
/* Records of a lane, whose numbers are below n_words. out->status, or GT_E_NOMEM. */
int gt_calls_feed_take(struct gt_calls_feed *f, struct gt_calls_lane *lane,
                       const struct gt_compact_event *event, size_t n);
/* The same with one record that has values. */
int gt_calls_feed_take_valued(struct gt_calls_feed *f, struct gt_calls_lane *lane,
                              const struct gt_compact_event *event,
                              const struct gt_value_list *values);

#endif
