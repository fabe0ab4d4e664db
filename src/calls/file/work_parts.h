/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to compact/: what the life of a working directory (work.c) and the parts of a split
 * recording (work_set.c) need of each other. */
#ifndef GT_CALLS_FILE_WORK_PARTS_H
#define GT_CALLS_FILE_WORK_PARTS_H

#include "calls/file/work.h"

/* gt_compact_work_open: takes what pools have into the rings, and makes a file of these. GT_E_BUSY.
 */
int gt_compact_work_open_flight(struct gt_compact_work *w, struct gt_error *err);
/* gt_compact_work_close, of the last one: gathers the text files into the file, gives it its name
 * and removes the directory. */
int gt_compact_work_close_flight(struct gt_compact_work *w, struct gt_error *err);
/* Finishes all parts that are not. Errors of gt_compact_work_finish_part. */
int gt_compact_work_finish_parts(const struct gt_compact_work *w, struct gt_error *err);
/* No file but parts of the recording that is there has the name of a part. GT_E_EXISTS, GT_E_IO. */
int gt_compact_work_check_parts(const struct gt_compact_work *w, struct gt_error *err);
/* The parts of the recording that is there get names after that of `old`, where older ones are
 * removed. GT_E_IO, GT_E_NOMEM. */
int gt_compact_work_move_parts(const struct gt_compact_work *w, const struct gt_compact_work *old,
                               struct gt_error *err);
/* Where FILE is missing, and other parts are there: makes an empty one of the set. GT_E_IO,
 * GT_E_RANGE. */
int gt_compact_work_restore(const struct gt_compact_work *w, struct gt_error *err);
/* Removes the directory, for others all at once. */
int gt_compact_work_remove_dir(const struct gt_compact_work *w, struct gt_error *err);

#endif
