/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls as trace viewers take it: slices of time and instants on the tracks of
 * tasks, in order of time. Slices of a task nest: each begin has its end.
 *
 * Calls are slices; events, lost records and the console's lines are instants.
 */
#ifndef GT_ANALYSIS_EXPORT_SLICES_H
#define GT_ANALYSIS_EXPORT_SLICES_H

#include "analysis/calls/calls.h"
#include "base/output.h"

#define GT_SLICES_CONSOLE UINT32_MAX /* instead of a task: a track of its own */

struct gt_slices {
    void *self;
    void (*begin)(void *self, uint32_t task, uint64_t time, uint32_t function);
    void (*end)(void *self, uint32_t task, uint64_t time);
    void (*instant)(void *self, uint32_t task, uint64_t time, const char *text);
};

/* Reads the window (NULL: all), until `out` fails. Errors of gt_calls_walk. */
int gt_slices_read(struct gt_calls *c, const struct gt_calls_window *w, const struct gt_slices *s,
                   const struct gt_output *out, struct gt_error *err);

#endif
