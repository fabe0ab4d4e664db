/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's line table, adjusted to match gcov for the same source. */
#ifndef GT_ANALYSIS_COVERAGE_ROWS_H
#define GT_ANALYSIS_COVERAGE_ROWS_H

#include "analysis/coverage/program.h"

#include <glib.h>

struct gt_coverage_row {
    uint64_t lo, hi; /* run-time addresses, within one piece of the program's code */
    uint32_t file, line;
    uint32_t end; /* in a function's first row: the line that it ends in; 0: unknown */
    bool listed;  /* false: code that belongs to no statement */
    bool ends;    /* if counted: a block ends in the line, and `count` is how often the line was
                     entered */
    bool counted; /* `count` is the count of the line in this function; else the counts of its code
                     are used */
    uint64_t count;
};

/* File names and their numbers from 1 on, in the order of their addition. */
struct gt_coverage_names {
    GPtrArray *names; /* char *; the first is "???" */
    GHashTable *number;
};

void gt_coverage_names_init(struct gt_coverage_names *n);
void gt_coverage_names_clear(struct gt_coverage_names *n);

/* Returns the rows sorted by address; c must be finished. As in gcov, a function that GCC compiled
 * without optimisation begins in the line that declares it, not in that of its '{'; the code after
 * its '}' is listed only if the compiler generated an instruction for it; functions that the
 * compiler generated are not listed. */
GArray *gt_coverage_rows(const struct gt_coverage_program *p, const struct gt_coverage *c,
                         struct gt_coverage_names *names);

#endif
