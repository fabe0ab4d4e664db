/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of `record` on standard error: see recording.h. */
#include "cli/record/recording.h"

#include <stdarg.h>
#include <stdio.h>

void gt_record_say(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("guesttrace record: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}
