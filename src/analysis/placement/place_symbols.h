/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of a place as a module's file has them: the functions of its file, and those that
 * were called there and have no name in it. */
#ifndef GT_ANALYSIS_PLACEMENT_PLACE_SYMBOLS_H
#define GT_ANALYSIS_PLACEMENT_PLACE_SYMBOLS_H

#include "analysis/placement/locate.h"
#include "format/uftrace/dir.h"

#include <stdbool.h>

struct gt_place_symbols;

/* The place's own functions; `prefix`: with "FILE:" in front of their names. What it was made from
 * must outlive it; the place itself need not. */
struct gt_place_symbols *gt_place_symbols_new(const struct gt_place *place, bool prefix);
/* Adds a function that was called at the link address, if none of the file's is there: as
 * FILE+0xOFFSET, or by the name that it has, unless that is made up. sym may be NULL. */
void gt_place_symbols_add(struct gt_place_symbols *s, uint64_t linked,
                          const struct gt_uftrace_symbol *sym);
/* Writes them, and the source lines. Errors of gt_uftrace_dir_put_symbols. */
int gt_place_symbols_put(struct gt_place_symbols *s, const struct gt_uftrace_dir *dir,
                         const struct gt_uftrace_module *module, struct gt_error *err);
/* The name that readers see for the link address, after they have been written; NULL: none. */
const char *gt_place_symbols_name(const struct gt_place_symbols *s, uint64_t linked);
/* NULL is fine. */
void gt_place_symbols_free(struct gt_place_symbols *s);

#endif
