/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Globs: `*` matches any characters, `?` any one character; every other character matches itself.
 *
 */
#include "guesttrace/control.h"

bool gt_trace_is_pattern(const char *name)
{
    return strpbrk(name, "*?") != NULL;
}

/* Only the last `*` is ever tried again: what an earlier one matched can stay as short as it is. */
bool gt_trace_match(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
