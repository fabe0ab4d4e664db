/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that the plugin recognised while a machine ran: DIR/code.found
 * (recording/texts/code_found.h). */
#ifndef GT_NAMES_PLACEMENT_MATCHES_H
#define GT_NAMES_PLACEMENT_MATCHES_H

#include "recording/code_map/code_map.h"

struct gt_matches {
    struct gt_code_map map;
    struct gt_match {
        size_t module; /* a valid index into the map's modules */
        uint64_t offset;
        uint64_t *seen; /* link addresses of functions that were seen */
        size_t n_seen;
    } * item;
    size_t n;
};

/* Reads DIR/code.map and DIR/code.found. If one is missing *out is empty; if one is damaged *out
 * has the part before the damage. *out needs gt_matches_free. */
void gt_matches_read(const char *dir, struct gt_matches *out);
/* The same of two files, wherever they are. */
void gt_matches_read_files(const char *map, const char *found, struct gt_matches *out);
/* True if the item's module has that path. */
bool gt_matches_is(const struct gt_matches *f, size_t item, const char *path);
void gt_matches_free(struct gt_matches *f);

#endif
