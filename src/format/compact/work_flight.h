/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: working directories of flight recorders, for work.c. */
#ifndef GT_FORMAT_COMPACT_WORK_FLIGHT_H
#define GT_FORMAT_COMPACT_WORK_FLIGHT_H

#include "format/compact/work.h"

/* gt_compact_work_open: takes what pools have into the rings, and makes a file of these.
 * GT_E_EXISTS: a process has not ended. */
int gt_compact_work_open_flight(struct gt_compact_work *w, struct gt_error *err);
/* gt_compact_work_close, of the last one: gathers the text files into the file, gives it its name
 * and removes the directory. */
int gt_compact_work_close_flight(struct gt_compact_work *w, struct gt_error *err);
/* Removes the directory, for others all at once. */
int gt_compact_work_remove_dir(const struct gt_compact_work *w, struct gt_error *err);

#endif
