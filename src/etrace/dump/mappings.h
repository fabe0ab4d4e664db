/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where the programs of an etrace stream ran.
 *
 * A file with an OFFSET ran there, and a file that is linked for an address ran at it. For others
 * (position-independent programs and libraries, kernels and their modules) the whole stream is read
 * once: its notes of mapped files (etrace/format/mapping.h) have the addresses in a user-mode
 * guest, matched by build-id, else by name; without such notes the load offset is searched as in
 * `symbols` (locate.h), with the addresses that were jumped to. A kernel that is not found ran at
 * its link address.
 */
#ifndef GT_ETRACE_DUMP_MAPPINGS_H
#define GT_ETRACE_DUMP_MAPPINGS_H

#include "base/notice.h"
#include "etrace/format/etrace.h"
#include "etrace/format/mapping.h"
#include "names/placement/locate.h"
#include "recording/input.h"

/* Adds the places of the n sources to *out. *in is open, and is at its start before and after.
 * Input that is not a regular file is copied to a temporary file; with `live` it is not, and
 * sources that must be searched have no place yet. Each result is a notice. Returns the number of
 * sources that were not found; 0 with `live`. GT_E_IO, GT_E_NOMEM; GT_E_RANGE: an OFFSET is
 * impossible. *out needs gt_places_free in any case. */
int gt_etrace_places_find(const struct gt_notices *notices, struct gt_input *in, bool live,
                          const struct gt_symbol_source *source, size_t n, struct gt_places *out,
                          struct gt_error *err);

/* If the note's file is the source, the source must be searched, and *places does not have this
 * place yet: adds it as the last one and returns true. */
bool gt_etrace_place_mapped(struct gt_places *places, const struct gt_symbol_source *source,
                            const struct gt_etrace_mapping *m);
/* True if the source must be searched. */
bool gt_etrace_place_is_open(const struct gt_symbol_source *source);
void gt_etrace_place_report(const struct gt_notices *notices, const struct gt_place *place);

#endif
