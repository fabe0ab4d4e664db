/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a machine's code map (recording/code_map/code_map.h) from the sources of its code. */
#ifndef GT_NAMES_PLACEMENT_CODE_MAP_H
#define GT_NAMES_PLACEMENT_CODE_MAP_H

#include "names/image/symbol_source.h"

#include "base/file.h"

/* Appends the map of all parts with known bytes, with `lines` the source lines of their functions,
 * and the location of the current task if one of the sources is a Linux kernel with BTF. A file or
 * kernel that occurs twice is used once. False: there is no such part, and nothing was appended. If
 * memory runs out, out->failed is set. */
bool gt_place_code_map(const struct gt_image_symbol_source *source, size_t n, bool lines,
                       struct gt_text *out);

#endif
