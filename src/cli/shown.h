/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of guests and of recordings as they are printed: with their control characters visible. */
#ifndef GT_CLI_SHOWN_H
#define GT_CLI_SHOWN_H

#include "base/output.h"

/* The caller frees it (g_free). */
char *gt_cli_shown(const char *text);
/* Prints a text so. */
void gt_cli_shown_put(struct gt_output *out, const char *text);

#endif
