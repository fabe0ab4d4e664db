/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats numbers in hex without printf, for callers that write tens of millions of them a second.
 *
 */
#ifndef GT_BASE_HEX_H
#define GT_BASE_HEX_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* 8 hex digits as 8 bytes, the first one lowest. */
static inline uint64_t gt_hex_digits(uint32_t x)
{
    uint64_t v = x;
    v = (v << 32 | v >> 16) & UINT64_C(0x0000ffff0000ffff); /* halves swapped, and so on down */
    v = ((v & UINT64_C(0x000000ff000000ff)) << 16) | ((v >> 8) & UINT64_C(0x000000ff000000ff));
    v = ((v & UINT64_C(0x000f000f000f000f)) << 8) | ((v >> 4) & UINT64_C(0x000f000f000f000f));
    uint64_t letter = ((v + UINT64_C(0x0606060606060606)) >> 4) & UINT64_C(0x0101010101010101);
    return v + UINT64_C(0x3030303030303030) + letter * ('a' - '0' - 10);
}

static inline char *gt_hex_put_digits(char *p, uint64_t digits)
{
    digits = htole64(digits);
    memcpy(p, &digits, sizeof digits);
    return p + sizeof digits;
}

static inline char *gt_hex_put8(char *p, uint32_t v)
{
    return gt_hex_put_digits(p, gt_hex_digits(v));
}

/* Writes v without leading zeros, at most 16 digits; 16 bytes of room are needed. Returns the end
 * of the digits. */
static inline char *gt_hex_put(char *p, uint64_t v)
{
    uint32_t high = (uint32_t)(v >> 32), first = high ? high : (uint32_t)v;
    unsigned skipped = (unsigned)__builtin_clz(first | 1) / 4;
    p = gt_hex_put_digits(p, gt_hex_digits(first) >> (8 * skipped)) - skipped;
    return high ? gt_hex_put8(p, (uint32_t)v) : p;
}

/* Writes at least 8 digits, as "%08x" does. */
static inline char *gt_hex_put_padded(char *p, uint64_t v)
{
    return v >> 32 ? gt_hex_put(p, v) : gt_hex_put8(p, (uint32_t)v);
}

#endif
