/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simple backend's settings; the first record makes them final. */
#ifndef GT_EVENTS_LIBRARY_RECORD_SIMPLE_H
#define GT_EVENTS_LIBRARY_RECORD_SIMPLE_H

#include "guesttrace/control.h"

#include <stdatomic.h>

struct gt_events_simple {
    _Atomic int policy;   /* enum gt_trace_policy */
    _Atomic bool threads; /* records carry a thread id */
    _Atomic bool paused;
    _Atomic bool fixed;
};
extern struct gt_events_simple gt_events_simple;
/* Lost events of threads without a ring, which no record can report. */
extern _Atomic uint64_t gt_events_lost;

/* Of a record that is not the calling thread's. */
struct gt_events_task {
    uint32_t pid;
    uint64_t tid;
};

/* gt_trace_simple_begin for a record of `task`; NULL: of the calling thread. */
bool gt_events_simple_begin(struct gt_trace_slot *slot, const struct gt_trace_event *event,
                            uint32_t payload, const struct gt_events_task *task);

#endif
