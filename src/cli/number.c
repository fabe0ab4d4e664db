/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in texts: see number.h. */
#include "cli/number.h"

#include "base/error.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>

int gt_number_parse(const char *text, uint64_t *out)
{
    int base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    /* strtoull would skip blanks and take a sign or a second 0x. */
    if (!(base == 16 ? g_ascii_isxdigit(text[0]) && text[1] != 'x' && text[1] != 'X'
                     : g_ascii_isdigit(text[0])))
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
