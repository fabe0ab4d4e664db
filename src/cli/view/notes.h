/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a page's bookmarks, `view --notes FILE`: a line "guesttrace notes 1", then a line a
 * bookmark of seven fields with tabs between them:
 *
 *   BEGIN END TASK DEPTH FUNCTION MODULE NOTE
 *
 * BEGIN and END are ns since the first record; TASK is a task's id, and with DEPTH, FUNCTION and
 * MODULE empty for a stretch of time. In a field \\, \t and \n stand for a backslash, a tab and a
 * newline. UTF-8, without other control characters. The text may come from anyone: it is checked
 * whenever it is read or written.
 */
#ifndef GT_CLI_VIEW_NOTES_H
#define GT_CLI_VIEW_NOTES_H

#include "base/error.h"

#include <glib.h>

enum { GT_NOTES_MOST = 64 << 10 }; /* bytes of the file */

struct gt_cli_view_notes;

/* A file that is not there is one without bookmarks. GT_E_IO, GT_E_FORMAT: the file is another one,
 * GT_E_RANGE: it is too large. */
int gt_cli_view_notes_open(const char *path, struct gt_cli_view_notes **out, struct gt_error *err);
void gt_cli_view_notes_close(struct gt_cli_view_notes *n); /* NULL is fine */

/* Thread-safe. The text, which the caller unrefs. */
GBytes *gt_cli_view_notes_get(struct gt_cli_view_notes *n);
/* Replaces the file, at once. GT_E_FORMAT, GT_E_RANGE: of the text, GT_E_IO: then the file stays as
 * it is. */
int gt_cli_view_notes_put(struct gt_cli_view_notes *n, const char *text, size_t size,
                          struct gt_error *err);

#endif
