/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that were given, of a limited size together: the least recently used goes first.
 * Thread-safe. */
#ifndef GT_CLI_VIEW_CACHE_H
#define GT_CLI_VIEW_CACHE_H

#include <glib.h>

struct gt_cli_view_answers;

struct gt_cli_view_answers *gt_cli_view_answers_create(void);
void gt_cli_view_answers_destroy(struct gt_cli_view_answers *a);
/* The answer, which the caller unrefs, and its media type; NULL: it is not there. */
GBytes *gt_cli_view_answers_get(struct gt_cli_view_answers *a, const char *question,
                                const char **type);
/* Keeps it; `bytes` stays the caller's, too; `type` lives on. */
void gt_cli_view_answers_put(struct gt_cli_view_answers *a, const char *question, const char *type,
                             GBytes *bytes);

#endif
