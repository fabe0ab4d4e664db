/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source files of a recording's functions, and how often their lines ran.
 *
 * Texts come from one folder that the user names, and from nowhere else. A file's path is that of
 * the recording, which a guest's programs may have made up: its last components are looked for
 * below the folder, as many of them as there are there; what a symbolic link or ".." would lead
 * out is not there. Counts are from lcov's tracefile (guesttrace etrace coverage --format
 * lcov).
 */
#ifndef GT_CALLS_VIEW_SOURCES_H
#define GT_CALLS_VIEW_SOURCES_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_view_sources;

struct gt_view_source_count {
    uint32_t line;
    uint64_t count;
};

/* `folder`, `tracefile`: NULL: none. GT_E_NOT_FOUND, GT_E_IO, GT_E_RANGE (a tracefile is too
 * large), GT_E_FORMAT (err names the line). */
int gt_view_sources_open(const char *folder, const char *tracefile, struct gt_view_sources **out,
                         struct gt_error *err);
void gt_view_sources_close(struct gt_view_sources *s); /* NULL is fine */

/* A file's bytes, which the caller frees (free()). GT_E_NOT_FOUND: it is not below the folder;
 * GT_E_USAGE: no folder is given; errors of gt_file_read. */
int gt_view_sources_read(const struct gt_view_sources *s, const char *file, char **text,
                         size_t *size, struct gt_error *err);
/* struct gt_view_source_count of a file, in order of lines; NULL: none. By its path, or, where the
 * tracefile has no such one, by its base name, where it has one such. */
const GArray *gt_view_sources_counts(const struct gt_view_sources *s, const char *file);

#endif
