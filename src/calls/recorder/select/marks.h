/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What triggers say about a run, as lines of extern.dat (recording/texts/extern_data.h). A line is
 * in the file when the call returns: a kill loses none. */
#ifndef GT_CALLS_RECORDER_SELECT_MARKS_H
#define GT_CALLS_RECORDER_SELECT_MARKS_H

#include "base/error.h"
#include "filter/state.h"

struct gt_recorder;

struct gt_select_marks {
    uint64_t written, lost; /* atomic */
};

/* The action of a trigger other than trace-on and trace-off. `s` is the state of the call's task;
 * NULL: no task's. On the vCPU's thread, or (of other causes) any; uses the worker. */
void gt_select_marks_act(struct gt_recorder *r, const struct gt_filter_act *a,
                         const struct gt_filter_state *s);

/* Adds a line. Any thread; uses the worker. */
void gt_select_marks_put(struct gt_recorder *r, uint64_t time, const char *text);

/* On the worker, at the end: puts the lines in order. Errors of gt_recording_extern_add. */
int gt_select_marks_finish(struct gt_recorder *r, struct gt_error *err);
/* Prints how many lines could not be written, if any. */
void gt_select_marks_report(const struct gt_recorder *r);

#endif
