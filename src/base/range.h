/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and ranges of them as people write them, everywhere by one rule: in hex, with 0x or
 * without; ADDRESS, or LO-HI, from LO to before HI. */
#ifndef GT_BASE_RANGE_H
#define GT_BASE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* What a message says that it expected. */
#define GT_RANGE_EXPECTED "a hex address, or LO-HI, HI the first one after it"

/* True where *at begins an address of at most 64 bits; *at is where it ends. */
bool gt_address_parse(const char **at, uint64_t *out);
/* True where the whole text is a range that is not empty: from *lo to *last, both included. */
bool gt_range_parse(const char *text, uint64_t *lo, uint64_t *last);

#endif
