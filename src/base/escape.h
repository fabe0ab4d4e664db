/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from recordings, shown on a terminal or in lines: control characters and bytes that are not
 * UTF-8 appear as \xNN, each byte. So a name cannot end a line, move the cursor or change colours.
 */
#ifndef GT_BASE_ESCAPE_H
#define GT_BASE_ESCAPE_H

#include <stddef.h>

enum { GT_ESCAPE_GROWTH = 4 }; /* bytes that one byte becomes, at most */

/* Puts the text of n bytes at p, which has room for GT_ESCAPE_GROWTH * n; returns its end. */
char *gt_escape_put(char *p, const char *text, size_t n);

#endif
