/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages (message.h), and the globs that name events (guesttrace/control.h). */
#include "events/library/message.h"

#include "guesttrace/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gt_events_fail(struct gt_trace_error *err, int status, const char *format, ...)
{
    if (!err)
        return status;
    va_list ap;
    va_start(ap, format);
    vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    err->status = status;
    return status;
}

int gt_events_fail_errno(struct gt_trace_error *err, int errnum, const char *format, ...)
{
    int status = errnum == ENOENT ? GT_TRACE_E_NOT_FOUND : GT_TRACE_E_IO;
    if (!err)
        return status;
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    char reason[128];
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s",
                 strerror_r(errnum, reason, sizeof reason));
    err->status = status;
    return status;
}

/* Globs: `*` matches any characters, `?` any one character; every other character matches itself.
 *
 */

bool gt_trace_is_pattern(const char *name)
{
    return strpbrk(name, "*?") != NULL;
}

/* Only the last `*` is ever tried again: what an earlier one matched can stay as short as it is. */
bool gt_trace_match(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
