/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notices of libraries: see notice.h. */
#include "base/notice.h"

#include <stdarg.h>
#include <stdio.h>

void gt_notice(const struct gt_notices *to, const char *format, ...)
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
