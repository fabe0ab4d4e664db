/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces that are read as one, in order of time: a guest's events and QEMU's own have the host's
 * monotonic clock.
 */
#ifndef GT_EVENTS_SIMPLETRACE_MERGE_H
#define GT_EVENTS_SIMPLETRACE_MERGE_H

#include "base/error.h"

#include <guesttrace/simpletrace.h>

#define GT_TRACE_DECLARATIONS                                                                      \
    ".events" /* what follows a trace's name in that of its declarations */

struct gt_simpletrace_file {
    const char *path;                       /* "-": standard input */
    struct gt_trace_declarations *declared; /* its own; NULL: the declarations of all are its own */
    size_t first;                           /* index of its first declaration among all */
};

/* Traces, and the declarations of all of them: two traces may have events of one name. */
struct gt_simpletrace_files {
    struct gt_trace_declarations *declared;
    struct gt_simpletrace_file *trace;
    size_t n;
};

/* From paths "[EVENTS] TRACE [EVENTS] TRACE...": a file that begins as a trace does, or follows one
 * of declarations, is a trace; without declarations before it TRACE.events has them. The paths must
 * outlive *out, which the caller clears in any case. GT_E_USAGE: a file of declarations without a
 * trace, or no trace; GT_E_FORMAT and others: the declarations cannot be read. */
int gt_simpletrace_files_read(struct gt_simpletrace_files *out, const char *const *paths, size_t n,
                              struct gt_error *err);
void gt_simpletrace_files_clear(struct gt_simpletrace_files *f);

struct gt_simpletrace_merge;

/* Opens all of them. Errors of gt_trace_reader_open. */
int gt_simpletrace_merge_open(struct gt_simpletrace_merge **out,
                              const struct gt_simpletrace_files *files,
                              const struct gt_trace_reader_options *options, struct gt_error *err);
void gt_simpletrace_merge_close(struct gt_simpletrace_merge *m);
/* The next record, of any of them; valid until the next call. NULL: the end. Errors of
 * gt_trace_reader_next are reported. */
const struct gt_trace_record *
gt_simpletrace_merge_next(struct gt_simpletrace_merge *m,
                          void (*report)(void *self, const char *message), void *self);
/* Records that could not be decoded so far. */
uint64_t gt_simpletrace_merge_skipped(const struct gt_simpletrace_merge *m);

#endif
