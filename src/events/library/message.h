/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages for struct gt_trace_error: see guesttrace/error.h. */
#ifndef GT_EVENTS_LIBRARY_MESSAGE_H
#define GT_EVENTS_LIBRARY_MESSAGE_H

#include <guesttrace/error.h>

/* Fills err (which may be NULL) and returns status. A message longer than the buffer is cut. */
int gt_events_fail(struct gt_trace_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with `: ` and the text of the errno value appended; status is GT_TRACE_E_IO, or
 * GT_TRACE_E_NOT_FOUND for ENOENT. */
int gt_events_fail_errno(struct gt_trace_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
