/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls as trace viewers take it: slices of time and instants on the tracks of
 * tasks, in order of time. Slices of a task nest: each begin has its end.
 *
 * Calls are slices; events, lost records and the console's lines are instants.
 */
#ifndef GT_CALLS_EXPORT_SLICES_H
#define GT_CALLS_EXPORT_SLICES_H

#include "base/output.h"
#include "calls/read/calls.h"

/* A value of a call: an argument at its begin, what it has returned at its end; there also how long
 * it ran and slept, if the task was suspended in it ("ran_ns", "slept_ns"), and that it did not
 * return ("open"). */
struct gt_export_slice_value {
    const char *name; /* "file"; where it is not known "arg1", "retval"; letters, digits and _.>- */
    const char *text; /* as replay shows it; NULL: of a number that is not from the guest */
    enum { GT_SLICE_TEXT, GT_SLICE_SIGNED, GT_SLICE_UNSIGNED, GT_SLICE_ADDRESS } kind;
    uint64_t word; /* if it is not text */
};

#define GT_SLICES_CONSOLE UINT32_MAX /* instead of a task: a track of its own */

struct gt_export_slices {
    void *self;
    /* n values; mostly 0. */
    void (*begin)(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                  size_t n);
    void (*end)(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                size_t n);
    void (*instant)(void *self, uint32_t task, uint64_t time, const char *text);
    const bool *stop; /* true ends the reading; NULL: nothing does */
};

/* Reads the window (NULL: all), until `out` fails. Errors of gt_calls_walk. */
int gt_export_slices_read(struct gt_calls *c, const struct gt_calls_window *w,
                          const struct gt_export_slices *s, const struct gt_output *out,
                          struct gt_error *err);

#endif
