/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges what the stacks of several tasks make, by time. Each stack has a queue; events earlier
 * than all that may still come are given to the caller.
 */
#ifndef GT_CALLS_READ_MERGE_H
#define GT_CALLS_READ_MERGE_H

#include "calls/read/stack.h"

/* One event that waits. Its begin and depth are what `open` of its queue says. */
struct gt_calls_merge_event {
    uint64_t time;
    int64_t self;
    uint64_t slept;
    uint32_t function;
    uint8_t kind, flags;
    struct gt_value_list *values; /* NULL: it has none */
};

struct gt_calls_merge_queue {
    uint64_t key; /* of two events of one time that of the lower key comes first */
    struct gt_calls_stack stack;
    struct gt_calls_merge_event *event;
    size_t head, n, room;
    bool listed; /* in the heap */
    /* calls that were given and are open */
    struct gt_call_frame *open;
    size_t n_open, room_open;
};

struct gt_calls_merge_entry {
    uint64_t time;
    struct gt_calls_merge_queue *queue;
};

struct gt_calls_merge {
    const struct gt_calls *c;
    struct gt_calls_merge_entry *heap; /* of queues with events, the earliest first */
    size_t n, room;
    const struct gt_calls_merge_queue *now; /* whose event the caller has */
    const struct gt_value_list *values;     /* of that event; NULL: it has none */
    bool gave;                              /* something */
    uint64_t from;                          /* the window begins: no call is shown as older */
    int (*call)(void *self, const struct gt_call *e);
    void *self;
};

void gt_calls_merge_finish(struct gt_calls_merge *m);
void gt_calls_merge_queue_finish(struct gt_calls_merge_queue *q);
/* Adds an event that was made of a queue. GT_E_NOMEM. */
int gt_calls_merge_put(struct gt_calls_merge *m, struct gt_calls_merge_queue *q,
                       const struct gt_calls_out *out);
/* Gives events that are earlier than `bound`; UINT64_MAX: all. What `call` returned if it is not 0;
 * GT_E_NOMEM. */
int gt_calls_merge_give(struct gt_calls_merge *m, uint64_t bound);

#endif
