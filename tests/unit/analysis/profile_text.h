/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of consumers as text, for recordings that are cut in many ways. */
#ifndef GT_PROFILE_TEXT_H
#define GT_PROFILE_TEXT_H

#include "fake_calls.h"

#include <stdio.h>

static char text[65536];
static size_t len;

static inline void add_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void add_text(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    len += (size_t)vsnprintf(text + len, sizeof text - len, format, ap);
    va_end(ap);
    assert_in_range(len, 0, sizeof text - 1);
}

/* The same answer, however the recording is cut and however many threads read it. */
static inline void check_cuts(const char *(*answer)(struct gt_calls *c, const void *options),
                              const void *options, const char *const *texts, const char *expected)
{
    for (size_t stretch = 0; stretch < 12; stretch++)
        for (size_t shares = 1; shares < 5; shares++)
            for (int outer = 0; outer < 2; outer++) {
                struct gt_calls c = {.text = texts,
                                     .stretch = stretch,
                                     .shares = shares,
                                     .part = stretch % 2 ? 7 : -3,
                                     .outer_first = outer};
                assert_string_equal(answer(&c, options), expected);
            }
}

#endif
