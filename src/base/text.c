/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts, escapes, UTF-8, globs: see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gt_text_reserve(struct gt_text *t, size_t n)
{
    if (t->failed)
        return false;
    if (n < t->cap - t->len)
        return true;
    size_t want = t->cap ? t->cap : 256;
    while (want - t->len <= n && want <= SIZE_MAX / 2)
        want *= 2;
    char *data = want - t->len > n ? realloc(t->data, want) : NULL;
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->cap = want;
    return true;
}

void gt_text_printf(struct gt_text *t, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    if (n < 0)
        t->failed = true;
    else if (gt_text_reserve(t, (size_t)n))
        t->len += (size_t)vsnprintf(t->data + t->len, (size_t)n + 1, format, again);
    va_end(again);
    va_end(ap);
}

void gt_text_add(struct gt_text *t, const void *data, size_t n)
{
    if (!gt_text_reserve(t, n))
        return;
    if (n)
        memcpy(t->data + t->len, data, n);
    t->len += n;
    t->data[t->len] = 0;
}

void gt_text_free(struct gt_text *t)
{
    free(t->data);
    *t = (struct gt_text){0};
}

void gt_text_add_value(struct gt_text *t, const char *value, size_t limit)
{
    size_t left = strlen(value);
    while (left) {
        size_t n = gt_text_utf8_length(value, left);
        bool odd = n == 0 || (unsigned char)*value < ' ' || *value == 0x7f;
        if (!n)
            n = 1;
        if (n > limit)
            return;
        gt_text_add(t, odd ? "?" : value, n);
        limit -= n;
        value += n;
        left -= n;
    }
}

char *gt_text_copy_lines(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < size; i++)
        copy[i] = text[i] == '\n' ? 0 : text[i];
    copy[size] = 0;
    return copy;
}

size_t gt_text_count_lines(const char *text, size_t size)
{
    size_t n = size && text[size - 1] != '\n';
    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n';
    return n;
}

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

char *gt_text_escape_put(char *p, const char *text, size_t n)
{
    while (n) {
        size_t length = gt_text_utf8_length(text, n), taken = length ? length : 1;
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

size_t gt_text_utf8_length(const char *s, size_t left)
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

/* When the rest does not fit, the last star takes a byte more; those before it need not: what they
 * have let through is settled. */
bool gt_text_glob_fits(const char *glob, const char *text)
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
