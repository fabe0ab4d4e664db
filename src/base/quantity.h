/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantities that users write:
 *
 *     quantity = (DIGITS ["." DIGITS] | "0x" HEX) [unit]
 *
 * Units, in either case: k m g (of 1024) of sizes; ns nsec us usec ms msec s sec m min of times, in
 * ns; insn of instructions. What is below 1 of a fraction is left out. "m" alone is refused where
 * both sizes and times may stand.
 */
#ifndef GT_BASE_QUANTITY_H
#define GT_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum gt_quantity {
    GT_QUANTITY_NUMBER = 1, /* without a unit, and without a fraction */
    GT_QUANTITY_SIZE = 2,
    GT_QUANTITY_TIME = 4,
    GT_QUANTITY_INSNS = 8,
};

/* Reads the n bytes at `text`, one of `kinds`, and returns its kind. GT_E_FORMAT: they are
 * something else. GT_E_RANGE: it does not fit. */
int gt_quantity_parse(const char *text, size_t n, unsigned kinds, uint64_t *out);

#endif
