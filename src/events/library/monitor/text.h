/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growing text for the monitor's answers. It latches: a failed allocation, or a text beyond the
 * limit, sets `failed`, and nothing more is added. { 0 } is an empty text. */
#ifndef GT_EVENTS_LIBRARY_MONITOR_TEXT_H
#define GT_EVENTS_LIBRARY_MONITOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { GT_MONITOR_TEXT_LIMIT = 64 << 20 };

struct gt_monitor_text {
    char *data; /* data[n] is 0; NULL until the first addition */
    size_t n, room;
    bool failed;
};

void gt_monitor_add(struct gt_monitor_text *t, const void *data, size_t n);
void gt_monitor_puts(struct gt_monitor_text *t, const char *text);
void gt_monitor_printf(struct gt_monitor_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* How many of n bytes the character at their beginning has; 0: it is not UTF-8. */
size_t gt_monitor_utf8(const char *text, size_t n);
/* Appends a JSON string, with quotes and escapes. Bytes that are no UTF-8, as those of a character
 * that was cut, become '?'. */
void gt_monitor_add_json(struct gt_monitor_text *t, const char *text);
void gt_monitor_free(struct gt_monitor_text *t);

/* Appends this version as QMP has QEMU's: an object with numbers and the package's name. */
void gt_monitor_add_version(struct gt_monitor_text *t);

#endif
