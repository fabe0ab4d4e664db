/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a client's message ends: one that begins with a brace where its brackets close, as in QMP,
 * any other at the newline. */
#ifndef GT_EVENTS_LIBRARY_MONITOR_SCAN_H
#define GT_EVENTS_LIBRARY_MONITOR_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* The search in a message that has not come whole yet. Zero: at its beginning. */
struct gt_monitor_scan {
    size_t scanned;       /* bytes that were searched */
    unsigned depth;       /* open brackets there */
    bool quoted, escaped; /* it is in a string, after a backslash */
};

/* True: the brackets close, *end is after them. `in` has `fill` bytes of the message. */
bool gt_monitor_scan_object(struct gt_monitor_scan *s, const char *in, size_t fill, size_t *end);
/* True: there is a newline, *end is after it; else after all there is. */
bool gt_monitor_scan_line(struct gt_monitor_scan *s, const char *in, size_t fill, size_t *end);
/* The number of blanks and newlines at the beginning. */
size_t gt_monitor_blanks(const char *in, size_t fill);

#endif
