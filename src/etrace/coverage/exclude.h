/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines that a report leaves out, from a text file with a line FILE, FILE:LINE or
 * FILE:FIRST-LAST for each. FILE is a source file's path, or its last components. Empty lines and
 * lines that begin with '#' are ignored.
 */
#ifndef GT_ETRACE_COVERAGE_EXCLUDE_H
#define GT_ETRACE_COVERAGE_EXCLUDE_H

#include "base/error.h"

#include <glib.h>
#include <stdint.h>

struct gt_coverage_excluded {
    char *file;
    uint64_t first, last;
};

struct gt_coverage_exclude {
    GArray *list; /* struct gt_coverage_excluded; NULL: none */
};

/* Adds the lines of the file. GT_E_NOT_FOUND, GT_E_IO; GT_E_FORMAT with the line of the file. */
int gt_coverage_exclude_read(const char *path, struct gt_coverage_exclude *x, struct gt_error *err);
void gt_coverage_exclude_clear(struct gt_coverage_exclude *x);

/* Returns the ranges of one source file: struct gt_coverage_excluded; the caller frees the array
 * (g_array_unref). */
GArray *gt_coverage_exclude_of(const struct gt_coverage_exclude *x, const char *file);

#endif
