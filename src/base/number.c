/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in texts: see number.h. */
#include "base/number.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') || (hex && c && strchr("abcdefABCDEF", c));
}

int gt_number_parse(const char *text, uint64_t *out)
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

int gt_number_parse_signed(const char *text, uint64_t *out)
{
    int minus = text[0] == '-';
    uint64_t n;
    int status = gt_number_parse(text + (minus || text[0] == '+'), &n);
    if (status == 0)
        *out = minus ? -n : n;
    return status;
}
