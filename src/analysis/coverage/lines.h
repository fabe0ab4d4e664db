/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From counts by address to counts by line and function.
 *
 * A line's count within a function is the greatest of its code's: how often its part that ran most
 * ran. A line that several functions have code of has their sum (write.h).
 * docs/etrace.md tells where this differs from gcov.
 */
#ifndef GT_ANALYSIS_COVERAGE_LINES_H
#define GT_ANALYSIS_COVERAGE_LINES_H

#include "analysis/coverage/exclude.h"
#include "analysis/coverage/program.h"

#include <glib.h>

struct gt_covered_function {
    const char *name;
    uint32_t file; /* that it begins in: index into files; 0: not known */
    uint32_t line; /* 0: not known */
    uint32_t end;  /* the line of its last '}'; 0: not known */
    uint64_t calls;
    bool shares_line; /* another one begins in its line */
};

/* What a function has of a line. */
struct gt_covered_line {
    uint32_t file, line; /* 0: not known */
    uint32_t function;
    bool ends;      /* blocks of the function end in it (flow.h) */
    bool listed;    /* false: code that belongs to no statement */
    uint64_t count; /* how often it ran */
    uint64_t cost;  /* instructions that ran, or bytes of them */
};

/* Names are those of the programs, which must live as long. */
struct gt_coverage_report {
    GPtrArray *files;  /* char *, sorted; the first is "???" */
    GArray *functions; /* struct gt_covered_function */
    GArray *lines;     /* struct gt_covered_line, by file, line and function, one of each */
    bool in_bytes;     /* costs are bytes: of some program we do not know the instructions */
};

/* `n` programs and what ran; lines that are excluded are left out, and functions that begin in one
 * begin nowhere. */
void gt_coverage_report_make(struct gt_coverage_program *program, size_t n,
                             const struct gt_coverage *c, const struct gt_coverage_exclude *exclude,
                             struct gt_coverage_report *out);
void gt_coverage_report_clear(struct gt_coverage_report *r);

#endif
