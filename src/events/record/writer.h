/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer: the one thread that moves records from the lanes into the trace file, and the only
 * one that touches that file. Others ask it.
 *
 * It runs while an event is on that the simple backend takes. It takes no signals. After a period
 * in which nothing was recorded it sleeps until a record comes.
 */
#ifndef GT_EVENTS_RECORD_WRITER_H
#define GT_EVENTS_RECORD_WRITER_H

#include "guesttrace/control.h"

/* Starts it if it does not run. Call with the registry's lock held. */
void gt_events_writer_start(void);

/* From a thread that records; signal-safe. */
void gt_events_writer_wake(void);
/* The same, where it may be awake. */
void gt_events_writer_hint(void);
bool gt_events_writer_runs(void);

enum gt_events_request {
    GT_EVENTS_SET,   /* another file */
    GT_EVENTS_FLUSH, /* everything into the file; with the policy `overwrite` nothing */
    GT_EVENTS_STATUS,
    GT_EVENTS_DUMP, /* with the policy `overwrite`: everything into the file or another one */
};
/* Has it done by the writer. */
int gt_events_writer_ask(enum gt_events_request what, const char *path,
                         struct gt_trace_error *error);

/* Asks for a flush (dump) and waits for it, but not for ever; signal-safe. */
void gt_events_writer_last_words(void);

#endif
