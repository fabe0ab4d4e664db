/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From counts by address to counts by line and function.
 *
 * A line's count within a function is the greatest count of a statement in it: the sum of its
 * copies, where they are known, else the greatest count of its code. A line with code in several
 * functions has the sum of their counts (write.h). docs/etrace.md describes where this differs from
 * gcov.
 */
#ifndef GT_ETRACE_COVERAGE_LINES_H
#define GT_ETRACE_COVERAGE_LINES_H

#include "etrace/coverage/exclude.h"
#include "etrace/coverage/program.h"

#include <glib.h>

struct gt_coverage_function {
    const char *name;
    uint32_t file;    /* file that it begins in: index into files; 0: unknown */
    uint32_t line;    /* 0: unknown */
    uint32_t end;     /* the line of its last '}'; 0: unknown */
    uint64_t calls;   /* of inlined copies, too */
    bool is_inlined;  /* some of those */
    bool shares_line; /* another function begins in its line */
    bool is_placed;   /* file and line are its declaration's, or it has none */
};

/* The part of a line that belongs to one function. */
struct gt_coverage_line {
    uint32_t file, line; /* 0: unknown */
    uint32_t function;
    uint32_t column; /* private */
    bool ends;       /* blocks of the function end in the line (flow.h) */
    bool listed;     /* false: the code belongs to no statement */
    bool strong;     /* a statement begins there; else only what the compiler has moved away from it
                      * may be known */
    bool declares;   /* the function is declared there, of optimised code */
    bool idle;       /* it is only in code that was never entered */
    uint64_t count;  /* how often it ran */
    uint64_t cost;   /* instructions that ran, or their bytes */
};

/* The report; its names point into the programs, which must outlive it. */
struct gt_coverage_report {
    GPtrArray *files;  /* char *, sorted; the first is "???" */
    GArray *functions; /* struct gt_coverage_function */
    GArray
        *lines; /* struct gt_coverage_line, sorted by file, line and function, without duplicates */
    bool in_bytes; /* costs are bytes, since the instructions of some program are unknown */
};

/* Makes the report of `n` programs and their counts. Excluded lines are left out; functions that
 * begin in one have no line. */
void gt_coverage_report_make(struct gt_coverage_program *program, size_t n,
                             const struct gt_coverage *c, const struct gt_coverage_exclude *exclude,
                             struct gt_coverage_report *out);
void gt_coverage_report_clear(struct gt_coverage_report *r);

#endif
