/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that a forked child inherits. uftrace's own recordings have a child's records begin in the
 * middle of its parent's calls: it returns from them, but their entries are in the parent's
 * records.
 */
#ifndef GT_CALLS_READ_FORKS_H
#define GT_CALLS_READ_FORKS_H

#include "calls/read/recording.h"

/* The n functions (uint32_t) that the task's parent had open when it forked the task, outermost
 * first; the innermost is `function`, or any (UINT32_MAX). They are; the recording's, and empty
 * where that is not known. Any thread may ask. */
const GArray *gt_calls_forks_inherited(struct gt_calls *c, uint32_t task, size_t n,
                                       uint32_t function);

#endif
