/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the source lines of a place's functions to MODULE.dbg, for readers. */
#ifndef GT_NAMES_IMAGE_SOURCE_LINES_H
#define GT_NAMES_IMAGE_SOURCE_LINES_H

#include "guest/elf/function_lines.h"
#include "names/placement/locate.h"
#include "recording/directory/dir.h"

/* The lines of each function of a part of the source; NULL: it has none that can be read, as images
 * and kernel modules. The caller frees it. */
struct gt_elf_function_lines *
gt_image_source_lines_load(const struct gt_image_symbol_source *source,
                           const struct gt_image_source_part *part);

/* Writes the module's .dbg with the lines of each of the place's functions; writes nothing if
 * the file has no DWARF. The module's symbols must have been written before. Errors of
 * gt_uftrace_dir_put_debug. */
int gt_image_source_lines_put(const struct gt_uftrace_dir *dir,
                              const struct gt_uftrace_module *module, const struct gt_place *place,
                              struct gt_error *err);

#endif
