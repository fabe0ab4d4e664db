/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8: see utf8.h. */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

size_t gt_utf8_length(const char *s, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!left)
        return 0;
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return 1;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || left < n)
        return 0;
    uint32_t v = c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | ((unsigned char)s[i] & 0x3f);
    }
    bool bad = v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000);
    return bad ? 0 : n;
}
