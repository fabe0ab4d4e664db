/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names shown on a terminal: see escape.h. */
#include "base/escape.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* U+0000 to U+001F, U+007F to U+009F. */
static bool is_control(const unsigned char *s, size_t length)
{
    return (length == 1 && (*s < ' ' || *s == 0x7f)) ||
           (length == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

static char *put_hex(char *p, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    *p++ = '\\';
    *p++ = 'x';
    *p++ = digits[c >> 4];
    *p++ = digits[c & 15];
    return p;
}

char *gt_escape_put(char *p, const char *text, size_t n)
{
    while (n) {
        size_t length = gt_utf8_length(text, n), taken = length ? length : 1;
        if (length && !is_control((const unsigned char *)text, length)) {
            memcpy(p, text, length);
            p += length;
        } else {
            for (size_t i = 0; i < taken; i++)
                p = put_hex(p, (unsigned char)text[i]);
        }
        text += taken;
        n -= taken;
    }
    return p;
}
