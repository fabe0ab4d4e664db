/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text backends: each function takes one complete line with its newline; and their vsnprintf().
 */
#ifndef GT_EVENTS_LIBRARY_TEXT_TEXT_H
#define GT_EVENTS_LIBRARY_TEXT_TEXT_H

#include <stdarg.h>
#include <stddef.h>

enum { GT_EVENTS_LOG_PREFIX = 64 }; /* bytes before a line that the log backend may overwrite */

void gt_events_log_line(char *line, size_t size);
void gt_events_ftrace_line(const char *line, size_t size);
/* In a forked child whose events are written with a descriptor table of their own: the next line
 * looks for trace_marker again. */
void gt_events_ftrace_forget(void);
void gt_events_syslog_line(const char *line, size_t size);

/*
 * A faster vsnprintf() for the formats of trace events: conversions d i u x X c s p %, flags 0 and
 * #, a width, the length modifiers hh h l ll z j t; no precision. Any other format is passed to
 * vsnprintf().
 */

/* As vsnprintf(): returns the length of the whole text, of which at most size - 1 bytes are stored.
 *
 */
int gt_events_format(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
