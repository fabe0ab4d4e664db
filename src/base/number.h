/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as text: parsed, with units or as addresses too; and put without printf, for callers that
 * write tens of millions of them a second. The whole text must be the number, without blanks. */
#ifndef GT_BASE_NUMBER_H
#define GT_BASE_NUMBER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Decimal, or hex after 0x. GT_E_FORMAT: not only digits; GT_E_RANGE: more than 64 bits. */
int gt_text_number_parse(const char *text, uint64_t *out);

/* Parses a number with an optional sign; the result is modulo 2^64. */
int gt_text_number_parse_signed(const char *text, uint64_t *out);

/* Numbers in decimal, two digits at a time, put where the caller made room: for writers of tens of
 * millions of them a second. Each function returns where the number ends. */

enum { GT_DECIMAL_SIZE = 22 }; /* bytes of the longest of these numbers */

extern const char gt_text_decimal_pairs[201]; /* "00" to "99" */

static inline char *gt_text_decimal_put(char *p, uint64_t v)
{
    char digits[24], *end = digits + sizeof digits, *at = end;
    while (v >= 100) {
        at -= 2;
        memcpy(at, gt_text_decimal_pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(at, gt_text_decimal_pairs + 2 * v, 2);
    } else {
        *--at = (char)('0' + v);
    }
    memcpy(p, at, (size_t)(end - at));
    return p + (end - at);
}

static inline char *gt_text_decimal_put_signed(char *p, int64_t v)
{
    if (v < 0)
        *p++ = '-';
    return gt_text_decimal_put(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* v / 1000 with three decimals: nanoseconds as microseconds. */
static inline char *gt_text_decimal_put_thousandths(char *p, uint64_t v)
{
    unsigned fraction = (unsigned)(v % 1000);
    p = gt_text_decimal_put(p, v / 1000);
    *p++ = '.';
    *p++ = (char)('0' + fraction / 100);
    memcpy(p, gt_text_decimal_pairs + (size_t)2 * (fraction % 100), 2);
    return p + 2;
}

/* Formats numbers in hex without printf, for callers that write tens of millions of them a second.
 *
 */

/* 8 hex digits as 8 bytes, the first one lowest. */
static inline uint64_t gt_text_hex_digits(uint32_t x)
{
    uint64_t v = x;
    v = (v << 32 | v >> 16) & UINT64_C(0x0000ffff0000ffff); /* halves swapped, and so on down */
    v = ((v & UINT64_C(0x000000ff000000ff)) << 16) | ((v >> 8) & UINT64_C(0x000000ff000000ff));
    v = ((v & UINT64_C(0x000f000f000f000f)) << 8) | ((v >> 4) & UINT64_C(0x000f000f000f000f));
    uint64_t letter = ((v + UINT64_C(0x0606060606060606)) >> 4) & UINT64_C(0x0101010101010101);
    return v + UINT64_C(0x3030303030303030) + letter * ('a' - '0' - 10);
}

static inline char *gt_text_hex_put_digits(char *p, uint64_t digits)
{
    digits = htole64(digits);
    memcpy(p, &digits, sizeof digits);
    return p + sizeof digits;
}

static inline char *gt_text_hex_put8(char *p, uint32_t v)
{
    return gt_text_hex_put_digits(p, gt_text_hex_digits(v));
}

/* Writes v without leading zeros, at most 16 digits; 16 bytes of room are needed. Returns the end
 * of the digits. */
static inline char *gt_text_hex_put(char *p, uint64_t v)
{
    uint32_t high = (uint32_t)(v >> 32), first = high ? high : (uint32_t)v;
    unsigned skipped = (unsigned)__builtin_clz(first | 1) / 4;
    p = gt_text_hex_put_digits(p, gt_text_hex_digits(first) >> (8 * skipped)) - skipped;
    return high ? gt_text_hex_put8(p, (uint32_t)v) : p;
}

/* Writes at least 8 digits, as "%08x" does. */
static inline char *gt_text_hex_put_padded(char *p, uint64_t v)
{
    return v >> 32 ? gt_text_hex_put(p, v) : gt_text_hex_put8(p, (uint32_t)v);
}

/*
 * Quantities that users write:
 *
 *     quantity = (DIGITS ["." DIGITS] | "0x" HEX) [unit]
 *
 * Units, in either case: k m g (of 1024) of sizes; ns nsec us usec ms msec s sec m min of times, in
 * ns; insn of instructions. Fractions of a unit's smallest part are cut. "m" alone is refused where
 * both sizes and times may stand.
 */

enum gt_text_quantity {
    GT_QUANTITY_NUMBER = 1, /* without a unit, and without a fraction */
    GT_QUANTITY_SIZE = 2,
    GT_QUANTITY_TIME = 4,
    GT_QUANTITY_INSNS = 8,
};

/* Reads the n bytes at `text`, one of `kinds`, and returns its kind. GT_E_FORMAT: they are
 * something else. GT_E_RANGE: it does not fit. */
int gt_text_quantity_parse(const char *text, size_t n, unsigned kinds, uint64_t *out);

/* Addresses and address ranges of command lines: hex, with 0x or without; ADDRESS, or LO-HI, where
 * HI is the first address after the range. */

/* The expected form, for error messages. */
#define GT_RANGE_EXPECTED "a hex address, or LO-HI, HI the first one after it"

/* Parses an address of at most 64 bits at *at and moves *at to its end. False: there is no address.
 *
 */
bool gt_text_address_parse(const char **at, uint64_t *out);
/* Parses the whole text as a range, from *lo to *last, both included. False: it is not a range, or
 * an empty one. */
bool gt_text_range_parse(const char *text, uint64_t *lo, uint64_t *last);

#endif
