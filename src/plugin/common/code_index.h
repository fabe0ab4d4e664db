/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the function of a code map that begins with given bytes: by the hash of the first ones, or
 * by its pattern. */
#ifndef GT_PLUGIN_COMMON_CODE_INDEX_H
#define GT_PLUGIN_COMMON_CODE_INDEX_H

#include "format/code_map/code_map.h"

#include <glib.h>

struct gt_code_index {
    const struct gt_code_map *map;
    GHashTable *by_hash; /* -> 1 + index of the function */
    uint64_t *filter;    /* a bit for the lowest bits of each hash: most blocks have none */
    size_t *in_page; /* of each address in a page: 1 + the first function with a pattern there */
    size_t *next_in_page; /* of each function: 1 + the next one */
};

/* The map must outlive the index. */
void gt_code_index_init(struct gt_code_index *x, const struct gt_code_map *map);
void gt_code_index_free(struct gt_code_index *x);

/* 1 + the function that begins with these GT_CODE_HASHED bytes; 0: none does. */
size_t gt_code_index_by_hash(const struct gt_code_index *x, const uint8_t *bytes);
/* 1 + the one whose pattern has the most bytes in common with the `left` bytes of code at `pc`, and
 * none that differs; 0: none, or two with as many. *same: how many bytes. */
size_t gt_code_index_by_pattern(const struct gt_code_index *x, uint64_t pc, const uint8_t *bytes,
                                size_t left, unsigned *same);

#endif
