/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that a report leaves out, from a text file: a line each, FILE, FILE:LINE or
 * FILE:FIRST-LAST. FILE is a source file's path or the end of one, from a '/' on. Empty lines and
 * those that begin with '#' say nothing.
 */
#ifndef GT_ANALYSIS_COVERAGE_EXCLUDE_H
#define GT_ANALYSIS_COVERAGE_EXCLUDE_H

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

/* Adds the file's. GT_E_NOT_FOUND, GT_E_IO; GT_E_FORMAT with the file's line. */
int gt_coverage_exclude_read(const char *path, struct gt_coverage_exclude *x, struct gt_error *err);
void gt_coverage_exclude_clear(struct gt_coverage_exclude *x);

/* The ranges of one source file: struct gt_coverage_excluded, the caller's (g_array_unref). */
GArray *gt_coverage_exclude_of(const struct gt_coverage_exclude *x, const char *file);

#endif
