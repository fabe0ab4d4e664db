/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in texts: see number.h. */
#include "base/number.h"

#include "base/cursor.h"
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') || (hex && c && strchr("abcdefABCDEF", c));
}

int gt_text_number_parse(const char *text, uint64_t *out)
{
    int base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    /* strtoull would skip blanks and take a sign or a second 0x. */
    if (!is_digit(text[0], base == 16) || (base == 16 && (text[1] == 'x' || text[1] == 'X')))
        return GT_E_FORMAT;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, base);
    if (*end)
        return GT_E_FORMAT;
    if (errno == ERANGE)
        return GT_E_RANGE;
    *out = n;
    return 0;
}

int gt_text_number_parse_signed(const char *text, uint64_t *out)
{
    int minus = text[0] == '-';
    uint64_t n;
    int status = gt_text_number_parse(text + (minus || text[0] == '+'), &n);
    if (status == 0)
        *out = minus ? -n : n;
    return status;
}

const char gt_text_decimal_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                        "25262728293031323334353637383940414243444546474849"
                                        "50515253545556575859606162636465666768697071727374"
                                        "75767778798081828384858687888990919293949596979899";

static const struct unit {
    const char *name;
    enum gt_text_quantity kind;
    uint64_t each;
} units[] = {
    {"", GT_QUANTITY_NUMBER, 1},          {"k", GT_QUANTITY_SIZE, 1 << 10},
    {"m", GT_QUANTITY_SIZE, 1 << 20},     {"g", GT_QUANTITY_SIZE, 1 << 30},
    {"ns", GT_QUANTITY_TIME, 1},          {"nsec", GT_QUANTITY_TIME, 1},
    {"us", GT_QUANTITY_TIME, 1000},       {"usec", GT_QUANTITY_TIME, 1000},
    {"ms", GT_QUANTITY_TIME, 1000000},    {"msec", GT_QUANTITY_TIME, 1000000},
    {"s", GT_QUANTITY_TIME, 1000000000},  {"sec", GT_QUANTITY_TIME, 1000000000},
    {"m", GT_QUANTITY_TIME, 60000000000}, {"min", GT_QUANTITY_TIME, 60000000000},
    {"insn", GT_QUANTITY_INSNS, 1},
};

static const struct unit *find_unit(const char *name, unsigned kinds)
{
    const struct unit *found = NULL;
    for (const struct unit *u = units; u < units + sizeof units / sizeof *units; u++) {
        if (!(u->kind & kinds) || strcasecmp(u->name, name) != 0)
            continue;
        if (found && strcmp(name, "M") != 0)
            return NULL; /* size or time */
        if (!found)
            found = u;
    }
    return found;
}

/* "." DIGITS; returns what follows. Digits behind the 18th are nothing of any unit. */
static const char *take_fraction(const char *at, uint64_t each, uint64_t *out)
{
    uint64_t part = 0, whole = 1;
    *out = 0;
    if (*at != '.' || !isdigit((unsigned char)at[1]))
        return at;
    for (at++; isdigit((unsigned char)*at); at++) {
        if (whole == UINT64_C(1000000000000000000))
            continue;
        part = part * 10 + (uint64_t)(*at - '0');
        whole *= 10;
    }
    *out = (uint64_t)((unsigned __int128)part * each / whole);
    return at;
}

int gt_text_quantity_parse(const char *text, size_t n, unsigned kinds, uint64_t *out)
{
    char own[48], digits[24];
    uint64_t whole, fraction;
    if (n >= sizeof own)
        return GT_E_FORMAT;
    memcpy(own, text, n);
    own[n] = 0;
    bool hex = own[0] == '0' && (own[1] | 0x20) == 'x';
    size_t length = hex ? 2 + strspn(own + 2, "0123456789abcdefABCDEF") : strspn(own, "0123456789");
    if (length >= sizeof digits)
        return GT_E_RANGE;
    memcpy(digits, own, length);
    digits[length] = 0;
    int status = gt_text_number_parse(digits, &whole);
    const char *name = hex ? own + length : take_fraction(own + length, 0, &fraction);
    const struct unit *u = find_unit(name, kinds);
    if (status == GT_E_FORMAT || !u || (u->kind == GT_QUANTITY_NUMBER && name != own + length))
        return GT_E_FORMAT;
    take_fraction(own + length, u->each, &fraction);
    if (status < 0 || __builtin_mul_overflow(whole, u->each, &whole) ||
        __builtin_add_overflow(whole, fraction, &whole))
        return GT_E_RANGE;
    *out = whole;
    return (int)u->kind;
}

bool gt_text_address_parse(const char **at, uint64_t *out)
{
    struct gt_text_cursor c = {*at, strlen(*at)};
    if (!gt_text_take(&c, "0x"))
        gt_text_take(&c, "0X");
    if (!gt_text_take_hex(&c, UINT64_MAX, out))
        return false;
    *at = c.at;
    return true;
}

bool gt_text_range_parse(const char *text, uint64_t *lo, uint64_t *last)
{
    uint64_t hi;
    if (!gt_text_address_parse(&text, lo))
        return false;
    *last = *lo;
    if (!*text)
        return true;
    if (*text++ != '-' || !gt_text_address_parse(&text, &hi) || *text || hi <= *lo)
        return false;
    *last = hi - 1;
    return true;
}
