/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the addresses of a recording, after the run, from files whose places are known.
 *
 * A recording of a machine has one module for all code that was seen, with a made-up symbol for
 * each function. Here each place (locate.h) becomes a module of its own, put before it, and what it
 * covers is cut out of the recorded ones: a piece that begins where the module began keeps its name
 * and symbols, further ones are modules called NAME+0xOFFSET. Made-up symbols that lie between a
 * file's own stay, as FILE+0xOFFSET, which counts from its first page of code; also those inside a
 * symbol that says no size. A module is called as its part; the second place of one with
 * "+0xOFFSET" behind, where that was given, or "@0xADDRESS", where it was found.
 *
 * The map as it was recorded is kept in sid-SID.map.recorded, so that a file can be given again
 * with another offset: its former places are forgotten. Files given earlier and not now stay.
 */
#ifndef GT_ANALYSIS_PLACEMENT_SYMBOLIZE_H
#define GT_ANALYSIS_PLACEMENT_SYMBOLIZE_H

#include "analysis/placement/locate.h"

#include <stdbool.h>

/* Puts the places into every map of the directory, and source lines beside them where the files
 * have DWARF. `prefix`: names get "FILE:" in front. GT_E_EXISTS: one overlaps a file of an earlier
 * call; GT_E_NOT_FOUND: no recording there; GT_E_IO, GT_E_FORMAT, GT_E_NOMEM. A map is replaced
 * last, after the symbols it names. */
int gt_symbolize(const char *dir, const struct gt_places *places, bool prefix,
                 struct gt_error *err);

#endif
