/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in texts: see range.h. */
#include "base/range.h"

#include <stddef.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gt_address_parse(const char **at, uint64_t *out)
{
    const char *text = *at;
    size_t n = 0;
    *out = 0;
    if (text[0] == '0' && (text[1] | 0x20) == 'x')
        text += 2;
    for (int digit; (digit = digit_of(text[n])) >= 0; n++) {
        if (*out >> 60)
            return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    *at = text + n;
    return n > 0;
}

bool gt_range_parse(const char *text, uint64_t *lo, uint64_t *last)
{
    uint64_t hi;
    if (!gt_address_parse(&text, lo))
        return false;
    *last = *lo;
    if (!*text)
        return true;
    if (*text++ != '-' || !gt_address_parse(&text, &hi) || *text || hi <= *lo)
        return false;
    *last = hi - 1;
    return true;
}
