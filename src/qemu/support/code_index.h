/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the function of a code map that begins with given bytes: by the hash of the first ones, or
 * by its pattern; and compares a page of code with the patterns of a module. */
#ifndef GT_QEMU_SUPPORT_CODE_INDEX_H
#define GT_QEMU_SUPPORT_CODE_INDEX_H

#include "recording/code_map/code_map.h"

#include <glib.h>

/* Code of the guest: `before` bytes before `at` can be read, and `left` from there on. All are of
 * one page. */
struct gt_code_page {
    const uint8_t *at;
    size_t before, left;
};

/* Of a pattern: bytes that make it certain together with a second one. */
enum { GT_CODE_INDEX_ENOUGH = 8 };

/* Functions of a module that begin in a page. */
struct gt_code_presence {
    unsigned there, different; /* whose pattern is there, with enough bytes; is not */
};

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
/* 1 + the one whose pattern has the most bytes in common with the code at `pc`, and none that
 * differs; 0: none, or two with as many. *same: how many bytes. */
size_t gt_code_index_by_pattern(const struct gt_code_index *x, uint64_t pc,
                                const struct gt_code_page *bytes, unsigned *same);
/* Compares the code around `pc` with the patterns of a module at that offset. */
struct gt_code_presence gt_code_index_compare(const struct gt_code_index *x,
                                              const struct gt_code_module *module, uint64_t offset,
                                              uint64_t pc, const struct gt_code_page *bytes);

#endif
