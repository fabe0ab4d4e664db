/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats amounts for people. The caller frees each result (g_free). */
#ifndef GT_CLI_AMOUNT_H
#define GT_CLI_AMOUNT_H

#include <stdint.h>

/* "812 ", "12.3 k", "12.3 M", "4.56 G", to be followed by a unit; powers of 1000. */
char *gt_amount_short(uint64_t n);
/* "12,345,678". */
char *gt_amount_exact(uint64_t n);

#endif
