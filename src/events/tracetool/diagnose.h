/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors in events files: all are collected and shown together, as
 *
 *     FILE:LINE:COLUMN: message
 *     the line
 *         ^
 *
 * Lines and columns count from 1, columns in characters (UTF-8).
 */
#ifndef GT_EVENTS_TRACETOOL_DIAGNOSE_H
#define GT_EVENTS_TRACETOOL_DIAGNOSE_H

#include "base/file.h"

#include <stdarg.h>
#include <stddef.h>

/* A line of a file, without its newline. */
struct gt_tracetool_line {
    const char *path;
    const char *text, *end;
    unsigned number;
    unsigned file; /* number of the file on the command line: messages are sorted by it */
};

struct gt_tracetool_diagnostic;

/* { 0 } is an empty list. */
struct gt_tracetool_diagnostics {
    struct gt_tracetool_diagnostic *list;
    size_t n, room;
    unsigned files;
};

/* Adds a message about the place `at`, in the line or at its end. */
void gt_tracetool_diagnose(struct gt_tracetool_diagnostics *d, const struct gt_tracetool_line *line,
                           const char *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a message without a place. */
void gt_tracetool_diagnose_plain(struct gt_tracetool_diagnostics *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends all messages to a text, sorted by file, line and column. */
void gt_tracetool_diagnostics_show(struct gt_tracetool_diagnostics *d, struct gt_text *out);
void gt_tracetool_diagnostics_free(struct gt_tracetool_diagnostics *d);

#endif
