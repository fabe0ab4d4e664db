/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text: an event's line is formatted once, for all text backends that take it. Lines of usual
 * length are formatted on the stack.
 */
#include "events/library/text/text.h"
#include "events/library/text/format.h"

#include "guesttrace/events.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { USUAL = 2048 };

static void send_line(unsigned on, char *line, size_t size)
{
    if (on & GT_TRACE_LOG)
        gt_events_log_line(line, size);
    if (on & GT_TRACE_FTRACE)
        gt_events_ftrace_line(line, size);
    if (on & GT_TRACE_SYSLOG)
        gt_events_syslog_line(line, size);
}

/* Without memory for all of it: as much as there is room for. */
static __attribute__((format(printf, 4, 0))) void send_long(unsigned on, char *usual, size_t size,
                                                            const char *format, va_list args)
{
    char *line = malloc(GT_EVENTS_LOG_PREFIX + size + 1);
    if (line) {
        gt_events_format(line + GT_EVENTS_LOG_PREFIX, size + 1, format, args);
        send_line(on, line + GT_EVENTS_LOG_PREFIX, size);
        free(line);
        return;
    }
    usual[USUAL - 2] = '\n';
    send_line(on, usual, USUAL - 1);
}

void gt_trace_text(unsigned on, const char *format, ...)
{
    int e = errno;
    char buffer[GT_EVENTS_LOG_PREFIX + USUAL], *line = buffer + GT_EVENTS_LOG_PREFIX;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = gt_events_format(line, USUAL, format, args);
    if (n >= USUAL)
        send_long(on, line, (size_t)n, format, again);
    else if (n > 0)
        send_line(on, line, (size_t)n);
    va_end(again);
    va_end(args);
    errno = e;
}

uint32_t gt_trace_string_length(const char *s)
{
    return s ? (uint32_t)strnlen(s, GT_TRACE_STRING_MAX) : 0;
}
