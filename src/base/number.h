/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in command lines and text files: the whole text, no blanks, no surprise from strtoull. */
#ifndef GT_BASE_NUMBER_H
#define GT_BASE_NUMBER_H

#include <stdint.h>

/* Decimal, or hex after 0x. GT_E_FORMAT: not only digits; GT_E_RANGE: more than 64 bits. */
int gt_number_parse(const char *text, uint64_t *out);

/* The same with an optional sign, modulo 2^64. */
int gt_number_parse_signed(const char *text, uint64_t *out);

#endif
