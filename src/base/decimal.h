/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in decimal, two digits at a time, put where the caller made room: for writers of tens of
 * millions of them a second. Each function returns where the number ends. */
#ifndef GT_BASE_DECIMAL_H
#define GT_BASE_DECIMAL_H

#include <stdint.h>
#include <string.h>

enum { GT_DECIMAL_SIZE = 22 }; /* bytes of the longest of these numbers */

extern const char gt_decimal_pairs[201]; /* "00" to "99" */

static inline char *gt_decimal_put(char *p, uint64_t v)
{
    char digits[24], *end = digits + sizeof digits, *at = end;
    while (v >= 100) {
        at -= 2;
        memcpy(at, gt_decimal_pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(at, gt_decimal_pairs + 2 * v, 2);
    } else {
        *--at = (char)('0' + v);
    }
    memcpy(p, at, (size_t)(end - at));
    return p + (end - at);
}

static inline char *gt_decimal_put_signed(char *p, int64_t v)
{
    if (v < 0)
        *p++ = '-';
    return gt_decimal_put(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* v / 1000 with three decimals: nanoseconds as microseconds. */
static inline char *gt_decimal_put_thousandths(char *p, uint64_t v)
{
    unsigned fraction = (unsigned)(v % 1000);
    p = gt_decimal_put(p, v / 1000);
    *p++ = '.';
    *p++ = (char)('0' + fraction / 100);
    memcpy(p, gt_decimal_pairs + (size_t)2 * (fraction % 100), 2);
    return p + 2;
}

#endif
