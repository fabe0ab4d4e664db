/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines out of what a console prints, for extern.dat: `S.NNNNNNNNN text`.
 *
 * Escape sequences and control characters are left out, bytes that are not UTF-8 become '?', empty
 * lines are skipped, long ones cut. A line that was not ended when the machine stopped is one, too.
 */
#ifndef GT_CLI_RECORD_CONSOLE_LINES_H
#define GT_CLI_RECORD_CONSOLE_LINES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define GT_CONSOLE_LINE_MAX 500                /* bytes of a line's text */
#define GT_CONSOLE_TEXT_MAX ((size_t)64 << 20) /* of all lines: what comes later is left out */

struct gt_console_time {
    uint64_t host;  /* CLOCK_MONOTONIC, ns */
    uint64_t guest; /* the trace's newest time; 0: not known then */
};

struct gt_console_lines {
    GArray *line;  /* struct gt_console_line */
    GString *text; /* of all lines, one after the other */
    GString *now;  /* of the line that is not ended */
    struct gt_console_time since;
    uint8_t escape; /* in the middle of an escape sequence */
};

struct gt_console_line {
    struct gt_console_time time;
    size_t at, length; /* in text */
};

void gt_console_lines_init(struct gt_console_lines *l);
/* n bytes, all of which arrived at that time. */
void gt_console_lines_add(struct gt_console_lines *l, const char *data, size_t n,
                          const struct gt_console_time *time);
/* Ends the last line. */
void gt_console_lines_end(struct gt_console_lines *l);
/* Appends all lines with the host's times or the guest's (which never fall, and are at least 1). */
void gt_console_lines_write(const struct gt_console_lines *l, bool guest, GString *out);
void gt_console_lines_clear(struct gt_console_lines *l);

#endif
