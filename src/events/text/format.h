/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vsnprintf() for the formats that trace events have, several times as fast: conversions d i u x X
 * c s p %, flags 0 and #, a width, the lengths hh h l ll z j t; no precision. Whatever else a
 * format asks for is left to vsnprintf().
 */
#ifndef GT_EVENTS_TEXT_FORMAT_H
#define GT_EVENTS_TEXT_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf(): the length of the whole text, of which size - 1 bytes are kept. */
int gt_events_format(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
