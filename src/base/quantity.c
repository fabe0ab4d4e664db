/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quantities: see quantity.h. */
#include "base/quantity.h"

#include "base/error.h"
#include "base/number.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const struct unit {
    const char *name;
    enum gt_quantity kind;
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

int gt_quantity_parse(const char *text, size_t n, unsigned kinds, uint64_t *out)
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
    int status = gt_number_parse(digits, &whole);
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
