/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of code in an etrace stream: see count.h. */
#include "etrace/format/count.h"

#include "base/cursor.h"
#include "base/hex.h"

#include <string.h>

void gt_etrace_count_name(char name[GT_ETRACE_COUNT_NAME], uint64_t start, uint64_t end)
{
    char *at = gt_hex_put(stpcpy(name, "0x"), start);
    *gt_hex_put(stpcpy(at, "-0x"), end) = '\0';
}

/* "0x" and 1 to 16 hex digits of either case. */
static bool take_address(struct gt_cursor *c, uint64_t *out)
{
    enum { DIGITS = 16 };
    if (!gt_take(c, "0x"))
        return false;
    size_t before = c->left;
    return gt_take_hex(c, UINT64_MAX, out) && before - c->left <= DIGITS;
}

bool gt_etrace_count_parse(const char *name, uint64_t *start, uint64_t *end)
{
    struct gt_cursor c = {name, strlen(name)};
    return take_address(&c, start) && gt_take(&c, "-") && take_address(&c, end) && !c.left &&
           *start <= *end;
}
