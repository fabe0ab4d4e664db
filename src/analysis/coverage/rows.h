/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's line table, made to say what gcov says of the same source. */
#ifndef GT_ANALYSIS_COVERAGE_ROWS_H
#define GT_ANALYSIS_COVERAGE_ROWS_H

#include "analysis/coverage/program.h"

#include <glib.h>

struct gt_coverage_row {
    uint64_t lo, hi; /* run-time addresses, within one piece of the program's code */
    uint32_t file, line;
    uint32_t end; /* of a function's first row: the line that it ends in, 0 not known */
    bool listed;  /* false: code that belongs to no statement */
    bool ends;    /* where counted: a block ends in the line, `count` is how often it was entered */
    bool counted; /* `count` is what ran of the line in this function; else its code says */
    uint64_t count;
};

/* File names and their numbers from 1 on, in the order in which they came. */
struct gt_coverage_names {
    GPtrArray *names; /* char *; the first is "???" */
    GHashTable *number;
};

void gt_coverage_names_init(struct gt_coverage_names *n);
void gt_coverage_names_clear(struct gt_coverage_names *n);

/* The rows sorted by address; c's counts are finished. A function that GCC made without
 * optimisation begins in the line that declares it, as gcov has it, not in that of its '{'; and the
 * code behind its '}' is listed only where the compiler made an instruction for it, which is where
 * gcov counts the line; functions that nobody wrote are not listed. */
GArray *gt_coverage_rows(const struct gt_coverage_program *p, const struct gt_coverage *c,
                         struct gt_coverage_names *names);

#endif
