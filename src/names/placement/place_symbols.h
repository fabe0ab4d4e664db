/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of a place for its symbol file: the functions of its file, and further functions that
 * were called there and have no name in the file. */
#ifndef GT_NAMES_PLACEMENT_PLACE_SYMBOLS_H
#define GT_NAMES_PLACEMENT_PLACE_SYMBOLS_H

#include "names/placement/locate.h"
#include "recording/directory/dir.h"

#include <stdbool.h>

struct gt_place_symbols;

/* Starts with the place's own functions; `prefix`: with "FILE:" before their names. The place's
 * source must outlive the result; the place itself need not. */
struct gt_place_symbols *gt_place_symbols_new(const struct gt_place *place, bool prefix);
/* Adds a function that was called at the link address, unless the file has one there. Its name is
 * that of `sym`, or FILE+0xOFFSET if that name was generated or sym is NULL. */
void gt_place_symbols_add(struct gt_place_symbols *s, uint64_t linked,
                          const struct gt_uftrace_symbol *sym);
/* Writes the symbols and the source lines. Errors of gt_uftrace_dir_put_symbols. */
int gt_place_symbols_put(struct gt_place_symbols *s, const struct gt_uftrace_dir *dir,
                         const struct gt_uftrace_module *module, struct gt_error *err);
/* Returns the name of the link address in the written file; NULL: none. */
const char *gt_place_symbols_name(const struct gt_place_symbols *s, uint64_t linked);
/* NULL is fine. */
void gt_place_symbols_free(struct gt_place_symbols *s);

#endif
