/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for a machine's addresses while it is recorded: from the files that its code map lists,
 * where the plugin has recognised them so far, or where the entries that are known say so. The
 * names found here are the ones that locate.h finds when the recording ends, as far as they can be
 * known.
 */
#ifndef GT_NAMES_PLACEMENT_LIVE_H
#define GT_NAMES_PLACEMENT_LIVE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct gt_place_live;

/* The map and the recognised code (recording/code_map, recording/texts/code_found.h): files that
 * need not exist. */
struct gt_place_live *gt_place_live_create(const char *map, const char *found);
void gt_place_live_destroy(struct gt_place_live *l); /* NULL is fine */
/* Also a file that the caller names: FILE[:OFFSET]. Errors of gt_image_symbol_source_load. */
int gt_place_live_add(struct gt_place_live *l, const char *argument, struct gt_error *err);

/* Finds places, if there may be new ones: something else was recognised, or there are many more of
 * the n addresses (48 bits) at which functions were entered. */
void gt_place_live_search(struct gt_place_live *l, const uint64_t *address, size_t n);
/* The name of the function at an address of 48 bits, and its file; NULL: not known. They are valid
 * until the next search. */
const char *gt_place_live_find(const struct gt_place_live *l, uint64_t address,
                               const char **module);

#endif
