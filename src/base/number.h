/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses numbers of command lines and text files: the whole text must be the number, without
 * blanks. */
#ifndef GT_BASE_NUMBER_H
#define GT_BASE_NUMBER_H

#include <stdint.h>

/* Decimal, or hex after 0x. GT_E_FORMAT: not only digits; GT_E_RANGE: more than 64 bits. */
int gt_number_parse(const char *text, uint64_t *out);

/* Parses a number with an optional sign; the result is modulo 2^64. */
int gt_number_parse_signed(const char *text, uint64_t *out);

#endif
