/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: the symbols of a recording that are worth keeping. A kernel has tens of
 * thousands; a compact file gets the symbols of functions that ran, and their source lines.
 */
#ifndef GT_CALLS_FILE_RAN_H
#define GT_CALLS_FILE_RAN_H

#include "base/text.h"
#include "calls/file/file.h"

struct gt_compact_ran;

/* Reads which addresses the file's records have, and where the directory's maps and libraries are.
 * Errors of gt_compact_file_open. */
int gt_compact_ran_read(const char *path, const char *dir, struct gt_compact_ran **out,
                        struct gt_error *err);
void gt_compact_ran_free(struct gt_compact_ran *r); /* NULL is fine */

/* Shortens a text file of the directory: 1, `out` has the rest; 0: it is to be kept as it is,
 * since it has no symbols, or it is not known where its module was. GT_E_NOMEM. */
int gt_compact_ran_shorten(const struct gt_compact_ran *r, const char *name, const char *text,
                           size_t size, struct gt_text *out);

#endif
