/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the programs ran whose code is in an etrace stream.
 *
 * A file whose OFFSET is given ran there, one that is linked for an address ran there. For others,
 * position-independent programs and libraries, kernels and their modules, the whole stream is read
 * once: its notes of mapped files (format/etrace/mapping.h) say where a user-mode guest had them,
 * by build-id, else by name; where there are no such notes, the place is searched for as in
 * `symbols` (locate.h), by what was jumped to. A kernel that is found nowhere ran where it is
 * linked.
 */
#ifndef GT_ANALYSIS_PLACEMENT_MAPPINGS_H
#define GT_ANALYSIS_PLACEMENT_MAPPINGS_H

#include "analysis/placement/locate.h"
#include "analysis/stream/input.h"
#include "base/notice.h"
#include "format/etrace/mapping.h"

/* Adds to *out the places of the n sources. *in is open, nothing of it was read, and nothing is
 * afterwards. What is no file is kept in a temporary one; with `live` it is not, and sources that
 * would have to be searched for have no place yet. Where each was found is told on stderr, and
 * which was not: their number, or with `live` 0, is the result. GT_E_IO, GT_E_NOMEM; GT_E_RANGE: an
 * OFFSET that is not possible. *out needs gt_places_free in any case. */
int gt_etrace_places_find(const struct gt_notices *notices, struct gt_etrace_input *in, bool live,
                          const struct gt_symbol_source *source, size_t n, struct gt_places *out,
                          struct gt_error *err);

/* Where the file of the note is the source, which has to be searched for, and *places have not that
 * place yet: adds it, the last, and true. */
bool gt_etrace_place_mapped(struct gt_places *places, const struct gt_symbol_source *source,
                            const struct gt_etrace_mapping *m);
/* It has to be searched for. */
bool gt_etrace_place_is_open(const struct gt_symbol_source *source);
void gt_etrace_place_tell(const struct gt_notices *notices, const struct gt_place *place);

#endif
