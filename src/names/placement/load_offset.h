/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the load offset of code from the addresses at which functions were entered.
 *
 * An offset is a candidate if it maps a function to an entry and is a multiple of the part's step.
 * The score of a candidate is the number of entries that it explains. The best one is accepted only
 * if chance would hardly score as high, if it explains half of the entries in its range, and if it
 * explains twice as many as any other candidate that overlaps it.
 */
#ifndef GT_NAMES_PLACEMENT_LOAD_OFFSET_H
#define GT_NAMES_PLACEMENT_LOAD_OFFSET_H

#include "names/image/symbol_source.h"
#include "names/placement/entries.h"

struct gt_place_load_offset {
    uint64_t offset; /* modulo 2^48 */
    size_t hits;     /* functions of the part that were entered */
    size_t seen;     /* all entries in the range of the code */
    double chance;   /* if accepted: how many such offsets chance would find, as a power of ten */
    uint64_t first,
        latest; /* link addresses of the lowest and the highest function that was entered */
};

/* Finds the offset of a part. GT_E_NOT_FOUND: no candidate is accepted; err has the details ("no
 * clear place for FILE: ..."); GT_E_NOMEM. */
int gt_place_load_offset_find(const struct gt_place_entries *entries,
                              const struct gt_image_source_part *part,
                              struct gt_place_load_offset *out, struct gt_error *err);

/* Returns the part's link addresses, sorted by the bits that an offset does not change, then by the
 * others; release it with free(). NULL: out of memory. A file that is searched in many processes
 * keeps it in part->order. */
struct gt_place_load_offset_order *
gt_place_load_offset_order(const struct gt_image_source_part *part);

/* True if an offset that is known in advance is accepted: code that is linked for an address runs
 * there or not at all, so it suffices that it explains a quarter of the entries in its range, if
 * these are not few, as in a stripped file with some symbols. *out is set. */
bool gt_place_load_offset_check(const struct gt_place_entries *entries,
                                const struct gt_image_source_part *part, uint64_t offset,
                                struct gt_place_load_offset *out);

/* Sets *out to the score of an offset, whether it is the best or not. */
void gt_place_load_offset_score(const struct gt_place_entries *entries,
                                const struct gt_image_source_part *part, uint64_t offset,
                                struct gt_place_load_offset *out);

#endif
