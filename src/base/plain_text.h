/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text between quotes: the bytes that need no escape there, whatever the language and its quotes:
 * printable ASCII other than the backslash, the quote and the double quote. */
#ifndef GT_BASE_PLAIN_TEXT_H
#define GT_BASE_PLAIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool gt_plain_text_is(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '\\' && c != '\'' && c != '"';
}

/* All of 8 bytes are plain. */
static inline bool gt_plain_text_are(uint64_t v)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
#define HAS_ZERO(x) (((x)-ones) & ~(x))
    uint64_t found = v | (v - ones * ' ') | (v + ones) | HAS_ZERO(v ^ ones * '\\') |
                     HAS_ZERO(v ^ ones * '\'') | HAS_ZERO(v ^ ones * '"');
#undef HAS_ZERO
    return !(found & tops);
}

/* Copies the plain bytes at the start of the text; returns how many it copied. */
static inline size_t gt_plain_text_copy(char *p, const char *text, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t v;
        memcpy(&v, text + i, 8);
        if (!gt_plain_text_are(v))
            break;
        memcpy(p + i, &v, 8);
    }
    for (; i < n && gt_plain_text_is((unsigned char)text[i]); i++)
        p[i] = text[i];
    return i;
}

#endif
