/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A faster vsnprintf() for the formats of trace events: conversions d i u x X c s p %, flags 0 and
 * #, a width, the length modifiers hh h l ll z j t; no precision. Any other format is passed to
 * vsnprintf().
 */
#ifndef GT_EVENTS_LIBRARY_TEXT_FORMAT_H
#define GT_EVENTS_LIBRARY_TEXT_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf(): returns the length of the whole text, of which at most size - 1 bytes are stored.
 *
 */
int gt_events_format(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
