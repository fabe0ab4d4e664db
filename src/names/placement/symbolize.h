/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the addresses of a recording, after the run, with files whose places are known.
 *
 * A recording of a machine has one module for all code that was seen, with a generated symbol for
 * each function. Here each place (locate.h) becomes a module of its own, listed first, and its
 * range is cut out of the recorded modules: a piece that begins where the module began keeps its
 * name and symbols, other pieces are modules named NAME+0xOFFSET. Generated symbols between a
 * file's own symbols stay, as FILE+0xOFFSET, counted from the first page of the file's code; so do
 * those inside a symbol of unknown size. A module has the path of its part; a second place of a
 * part has "+0xOFFSET" appended if the offset was given, or "@0xADDRESS" if it was found.
 *
 * The recorded map is kept in sid-SID.map.recorded, so that a file can be given again with another
 * offset: its former places are removed. Files that were given earlier and not now stay.
 */
#ifndef GT_NAMES_PLACEMENT_SYMBOLIZE_H
#define GT_NAMES_PLACEMENT_SYMBOLIZE_H

#include "names/placement/locate.h"
#include "recording/directory/dir.h"

#include <stdbool.h>

/* Adds the places to every map of the directory, and source lines if the files have DWARF.
 * `prefix`: names begin with "FILE:". GT_E_EXISTS: a place overlaps a file of an earlier call;
 * GT_E_NOT_FOUND: there is no recording; GT_E_IO, GT_E_FORMAT, GT_E_NOMEM. A map is replaced last,
 * after its symbol files. */
int gt_place_symbolize(const char *dir, const struct gt_places *places, bool prefix,
                       struct gt_error *err);

/* The symbols of a place for its symbol file: the functions of its file, and further functions that
 * were called there and have no name in the file. */

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
