/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error messages and notices: see error.h. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gt_error_set(struct gt_error *err, int status, const char *format, ...)
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

int gt_error_errno(struct gt_error *err, int errnum, const char *format, ...)
{
    int status = errnum == ENOENT ? GT_E_NOT_FOUND : GT_E_IO;
    if (!err)
        return status;
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", strerror(errnum));
    err->status = status;
    return status;
}

const char *gt_error_status_text(int status)
{
    switch (status) {
    case GT_OK:
        return "no error";
    case GT_E_USAGE:
        return "bad usage";
    case GT_E_NOMEM:
        return "out of memory";
    case GT_E_TRUNC:
        return "truncated";
    case GT_E_FORMAT:
        return "malformed";
    case GT_E_RANGE:
        return "out of range";
    case GT_E_IO:
        return "input/output error";
    case GT_E_NOT_FOUND:
        return "not found";
    case GT_E_UNSUPPORTED:
        return "not supported";
    case GT_E_EXISTS:
        return "already exists";
    case GT_E_BUSY:
        return "in use";
    default:
        return "unknown error";
    }
}

void gt_error_notice(const struct gt_error_notices *to, const char *format, ...)
{
    char line[8192];
    va_list ap;
    if (!to || !to->put)
        return;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    to->put(to->self, line);
}
