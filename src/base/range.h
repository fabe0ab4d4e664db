/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and address ranges of command lines: hex, with 0x or without; ADDRESS, or LO-HI, where
 * HI is the first address after the range. */
#ifndef GT_BASE_RANGE_H
#define GT_BASE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The expected form, for error messages. */
#define GT_RANGE_EXPECTED "a hex address, or LO-HI, HI the first one after it"

/* Parses an address of at most 64 bits at *at and moves *at to its end. False: there is no address.
 *
 */
bool gt_address_parse(const char **at, uint64_t *out);
/* Parses the whole text as a range, from *lo to *last, both included. False: it is not a range, or
 * an empty one. */
bool gt_range_parse(const char *text, uint64_t *lo, uint64_t *last);

#endif
