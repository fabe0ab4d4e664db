/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer: the thread that moves records from the rings into the trace file. Only it accesses
 * the file; other threads send it requests.
 *
 * It runs while an event is on that the simple backend takes. It handles no signals. After a period
 * without records it sleeps until the next record.
 */
#ifndef GT_EVENTS_LIBRARY_RECORD_WRITER_H
#define GT_EVENTS_LIBRARY_RECORD_WRITER_H

#include "guesttrace/control.h"

#include <stdbool.h>

/* Starts the writer if it does not run. Call with the registry's lock held. */
void gt_events_writer_start(void);

/* Wakes the writer, from a recording thread; async-signal-safe. */
void gt_events_writer_wake(void);
/* The same if the writer may be awake already. */
void gt_events_writer_hint(void);
bool gt_events_writer_runs(void);

enum gt_events_request {
    GT_EVENTS_SET,   /* set another file */
    GT_EVENTS_FLUSH, /* write all records to the file; with the policy `overwrite` none */
    GT_EVENTS_STATUS,
    GT_EVENTS_DUMP, /* with the policy `overwrite`: write all records to the file or another one */
};
/* Sends the writer a request and waits for its result. */
int gt_events_writer_ask(enum gt_events_request what, const char *path,
                         struct gt_trace_error *error);

/* Requests a flush (dump) and waits for it for a limited time; async-signal-safe. */
void gt_events_writer_emergency_flush(void);

/* The runtime's own threads: detached, with all signals blocked. */

/* Called first on each such thread: plugins use it to hide the thread from the guest. NULL: no
 * call. */
extern void (*gt_events_thread_begin)(void);

bool gt_events_thread_start(void *(*run)(void *unused));

#endif
