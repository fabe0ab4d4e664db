/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the places of modules that were loaded at the same addresses one after the other.
 *
 * A kernel frees the code of a module's start when it has run, and all of a module that is
 * unloaded; the next module may be loaded there. A recording has one name for an address. So these
 * places are merged into one with the functions of all its modules: functions that begin at the
 * same address get a joined name, "a|b", without those that are known not to have run there.
 */
#ifndef GT_NAMES_PLACEMENT_OVERLAP_H
#define GT_NAMES_PLACEMENT_OVERLAP_H

#include "names/placement/locate.h"

#include <glib.h>

/* Merges overlapping places of modules. `places` (struct gt_place) is sorted by source; afterwards
 * its places do not overlap and are in no particular order. */
void gt_places_share(GArray *places);
void gt_overlap_free(struct gt_place *place);

/* Returns "FILE, FILE: N functions at START-END, loaded at 0x..., 0x... one after the other". The
 * caller frees it (g_free). */
char *gt_shared_place_text(const struct gt_place *place);

#endif
