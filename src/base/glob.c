/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Globs over bytes: see glob.h. */
#include "base/glob.h"

#include <stddef.h>

/* When the rest does not fit, the last star takes a byte more; those before it need not: what they
 * have let through is settled. */
bool gt_glob_fits(const char *glob, const char *text)
{
    const char *after_star = NULL, *taken = NULL;
    for (;;) {
        if (*glob == '*') {
            after_star = ++glob;
            taken = text;
        } else if (*text && (*glob == '?' || *glob == *text)) {
            glob++;
            text++;
        } else if (!*text) {
            return !*glob;
        } else if (after_star) {
            glob = after_star;
            text = ++taken;
        } else {
            return false;
        }
    }
}
