/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records a model as a recorder with filters does. */
#ifndef GT_TESTS_UNIT_ANALYSIS_CALLS_FILTERED_H
#define GT_TESTS_UNIT_ANALYSIS_CALLS_FILTERED_H

#include "calls_model.h"
#include "filter/filter.h"

/* Writes the directory filtered.dir. Both recordings end with an event of each task at `last`, so
 * that they know how long they are. */
struct gt_uftrace_dir filtered_record(struct model *m, const struct gt_filter_set *set,
                                      uint64_t last);

#endif
