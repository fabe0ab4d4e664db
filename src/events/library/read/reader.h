/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The structs of a reader of simpletrace files: see guesttrace/simpletrace.h. */
#ifndef GT_EVENTS_LIBRARY_READ_READER_H
#define GT_EVENTS_LIBRARY_READ_READER_H

#include "events/library/read/ids.h"
#include "events/library/read/input.h"
#include "events/library/read/simpletrace.h"

#include <guesttrace/simpletrace.h>

/* The callbacks of events: a list for each declaration. */
struct gt_events_call {
    gt_trace_callback callback;
    void *self;
    size_t next; /* index of the next one in `calls`, from 1; 0: none */
};

struct gt_events_calls {
    struct gt_events_call *calls;
    size_t n, room;
    size_t *first; /* first callback of each declaration, from 1; 0: none; NULL: there are no
                      callbacks at all */
    size_t *last;
};

struct gt_trace_reader {
    const struct gt_trace_declarations *declared;
    struct gt_events_input in;
    struct gt_simpletrace_order order;
    struct gt_events_ids ids;
    struct gt_events_ids unmapped; /* ids without a mapping that were reported */
    struct gt_events_id dropped;
    struct gt_trace_record record;
    struct gt_trace_value values[GT_TRACE_VALUES_MAX];
    struct gt_events_calls calls;
    uint64_t skipped;
    bool ended;
};

#endif
