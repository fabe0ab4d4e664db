/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a machine's console that are in a window. */
#ifndef GT_CALLS_READ_WINDOW_MARKS_H
#define GT_CALLS_READ_WINDOW_MARKS_H

#include "calls/read/calls.h"

/* Marks of the window (NULL: all), in order of time: the first one, and how many. */
const struct gt_calls_mark *gt_calls_marks_in(const struct gt_calls *c,
                                              const struct gt_calls_window *w, size_t *n);

#endif
