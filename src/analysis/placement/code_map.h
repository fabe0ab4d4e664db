/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code map (format/code_map/code_map.h) of a machine, from the sources of its code. */
#ifndef GT_ANALYSIS_PLACEMENT_CODE_MAP_H
#define GT_ANALYSIS_PLACEMENT_CODE_MAP_H

#include "analysis/image/symbol_source.h"

#include "base/file.h"

/* Appends the map of all parts whose bytes are known, and where the current task is if one of the
 * sources is a Linux kernel that says so (BTF). A file or a kernel that is there twice is taken
 * once. False: there is no such part, and nothing was appended. GT_E_NOMEM is a text that failed.
 */
bool gt_placement_code_map(const struct gt_symbol_source *source, size_t n, struct gt_text *out);

#endif
