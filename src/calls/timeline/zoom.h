/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to timeline/: what lies below the finest level, from the calls themselves. */
#ifndef GT_CALLS_TIMELINE_ZOOM_H
#define GT_CALLS_TIMELINE_ZOOM_H

#include "calls/timeline/sums.h"

/* Makes a level of the part's calls that are shorter than 2^short_exp. The caller clears it after
 * success. Errors of gt_calls_scan. */
int gt_timeline_zoom_make(struct gt_calls *c, const struct gt_timeline_part *p, unsigned short_exp,
                          struct gt_timeline_bins *out, struct gt_error *err);

#endif
