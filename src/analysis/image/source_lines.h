/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the source lines of a place's functions to MODULE.dbg, for readers. */
#ifndef GT_ANALYSIS_IMAGE_SOURCE_LINES_H
#define GT_ANALYSIS_IMAGE_SOURCE_LINES_H

#include "analysis/placement/locate.h"
#include "format/uftrace/dir.h"

/* Writes the module's .dbg with the first line of each of the place's functions; writes nothing if
 * the file has no DWARF. The module's symbols must have been written before. Errors of
 * gt_uftrace_dir_put_debug. */
int gt_source_lines_put(const struct gt_uftrace_dir *dir, const struct gt_uftrace_module *module,
                        const struct gt_place *place, struct gt_error *err);

#endif
