/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of guests and of recordings as they are printed, with their control characters visible; and
 * screens of ncurses with texts on them, which may be a guest's. */
#ifndef GT_CLI_TERMINAL_TEXT_H
#define GT_CLI_TERMINAL_TEXT_H

#include "base/error.h"
#include "base/output.h"

/* The caller frees it (g_free). */
char *gt_cli_shown(const char *text);
/* Prints a text so. */
void gt_cli_shown_put(struct gt_output *out, const char *text);

/* Begins to use the terminal, with all keys; the result is for gt_cli_terminal_close. NULL:
 * GT_E_UNSUPPORTED, TERM is not known. */
void *gt_cli_terminal_open(struct gt_error *err);
void gt_cli_terminal_close(void *terminal);

/* As much of a text as fits. A character that may turn the direction of text, or is not seen, is a
 * '?'. */
void gt_cli_terminal_put(int columns, const char *text);
/* The same of a name, whose control characters are escaped. */
void gt_cli_terminal_put_name(int columns, const char *name);

#endif
