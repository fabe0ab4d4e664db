/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in texts: see range.h. */
#include "base/range.h"

#include "base/cursor.h"

#include <string.h>

bool gt_address_parse(const char **at, uint64_t *out)
{
    struct gt_cursor c = {*at, strlen(*at)};
    if (!gt_take(&c, "0x"))
        gt_take(&c, "0X");
    if (!gt_take_hex(&c, UINT64_MAX, out))
        return false;
    *at = c.at;
    return true;
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
