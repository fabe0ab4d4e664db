/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats amounts for people. The caller frees each result that is a char * of its own (g_free). */
#ifndef GT_CLI_AMOUNT_H
#define GT_CLI_AMOUNT_H

#include <stdint.h>

/* "812 ", "12.3 k", "12.3 M", "4.56 G", to be followed by a unit; powers of 1000. */
char *gt_cli_amount_short(uint64_t n);
/* "12,345,678". */
char *gt_cli_amount_exact(uint64_t n);

/* A time of n ns as "2.345 ms", in us, ms, s, m or h. */
char *gt_cli_amount_time(uint64_t ns);
enum { GT_AMOUNT_TIME_WIDTH = 10 };
/* Puts the same right-aligned, in GT_AMOUNT_TIME_WIDTH bytes without a final NUL, where the caller
 * made room; returns their end. */
char *gt_cli_amount_put_time(char *p, uint64_t ns);

#endif
