/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that several modules had, one after the other.
 *
 * A kernel frees the code of a module's start when it has run, and all of a module that is
 * unloaded; the next one is loaded there. A recording has one name for an address. So these places
 * become one, whose functions are those of all its modules: where two begin at the same address the
 * name is both names, "a|b", but for those that are known not to have run there.
 */
#ifndef GT_ANALYSIS_PLACEMENT_OVERLAP_H
#define GT_ANALYSIS_PLACEMENT_OVERLAP_H

#include "analysis/placement/locate.h"

#include <glib.h>

/* Replaces the places of modules that overlap. `places` (struct gt_place) is sorted by source; it
 * becomes the places that do not overlap, in an order of their own. */
void gt_places_share(GArray *places);
void gt_place_tenants_free(struct gt_place *place);

/* "FILE, FILE: N functions at START-END, loaded at 0x..., 0x... one after the other". The caller
 * frees it (g_free). */
char *gt_shared_place_text(const struct gt_place *place);

#endif
