/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits the output of a console into lines for extern.dat: `S.NNNNNNNNN text`.
 *
 * Escape sequences and control characters are removed, bytes that are not UTF-8 become '?', empty
 * lines are skipped, long ones cut. An unterminated last line counts as a line.
 */
#ifndef GT_CLI_RECORD_CONSOLE_LINES_H
#define GT_CLI_RECORD_CONSOLE_LINES_H

#include "recording/texts/extern_data.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define GT_CONSOLE_LINE_MAX GT_EXTERN_LINE_MAX /* bytes of a line's text */
#define GT_CONSOLE_TEXT_MAX ((size_t)64 << 20) /* bytes of all lines; later lines are left out */

struct gt_record_console_time {
    uint64_t host;  /* CLOCK_MONOTONIC, ns */
    uint64_t guest; /* the trace's newest time; 0: unknown */
};

struct gt_record_console_lines {
    /* Of each line; NULL: nothing. With `part` of each end, even where the line is empty. */
    void (*complete)(void *self, const char *line);
    void (*part)(void *self, const char *line); /* of a line that has no end yet; NULL: nothing */
    void *self;
    bool passes;   /* lines are not kept */
    GArray *line;  /* struct gt_record_console_line */
    GString *text; /* text of all lines, concatenated */
    GString *now;  /* text of the current line */
    struct gt_record_console_time since;
    uint8_t escape; /* in the middle of an escape sequence */
};

struct gt_record_console_line {
    struct gt_record_console_time time;
    size_t at, length; /* place in gt_record_console_lines.text */
};

void gt_record_console_lines_init(struct gt_record_console_lines *l);
/* Adds n bytes that arrived at the given time. */
void gt_record_console_lines_add(struct gt_record_console_lines *l, const char *data, size_t n,
                                 const struct gt_record_console_time *time);
/* Ends the last line. */
void gt_record_console_lines_end(struct gt_record_console_lines *l);
/* Appends all lines with the host's or the guest's times (which never decrease and are at least 1).
 *
 */
void gt_record_console_lines_write(const struct gt_record_console_lines *l, bool guest,
                                   struct gt_text *out);
void gt_record_console_lines_clear(struct gt_record_console_lines *l);

#endif
