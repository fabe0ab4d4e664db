/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of code in an etrace stream: see count.h. */
#include "format/etrace/count.h"

#include "base/hex.h"

#include <string.h>

void gt_etrace_count_name(char name[GT_ETRACE_COUNT_NAME], uint64_t start, uint64_t end)
{
    char *at = gt_hex_put(stpcpy(name, "0x"), start);
    *gt_hex_put(stpcpy(at, "-0x"), end) = '\0';
}

/* "0x" and 1 to 16 hex digits; where they end, or NULL. */
static const char *parse_hex(const char *at, uint64_t *out)
{
    if (at[0] != '0' || at[1] != 'x')
        return NULL;
    const char *begin = at += 2;
    *out = 0;
    for (; at < begin + 16; at++) {
        int c = *at | 0x20;
        bool digit = *at >= '0' && *at <= '9', letter = c >= 'a' && c <= 'f';
        if (!digit && !letter)
            break;
        *out = *out << 4 | (unsigned)(digit ? *at - '0' : c - 'a' + 10);
    }
    return at > begin ? at : NULL;
}

bool gt_etrace_count_parse(const char *name, uint64_t *start, uint64_t *end)
{
    const char *at = parse_hex(name, start);
    at = at && *at == '-' ? parse_hex(at + 1, end) : NULL;
    return at && *at == '\0' && *start <= *end;
}
