/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking a text apart: see cursor.h. */
#include "base/cursor.h"

#include <string.h>

enum { NO_DIGIT = 99 };

bool gt_text_take(struct gt_text_cursor *c, const char *literal)
{
    size_t n = strlen(literal);
    if (c->left < n || memcmp(c->at, literal, n) != 0)
        return false;
    c->at += n;
    c->left -= n;
    return true;
}

bool gt_text_take_line(struct gt_text_cursor *text, struct gt_text_cursor *line, bool *whole)
{
    if (!text->left)
        return false;
    const char *end = memchr(text->at, '\n', text->left);
    *whole = end != NULL;
    *line = (struct gt_text_cursor){text->at, end ? (size_t)(end - text->at) : text->left};
    size_t n = line->left + (end ? 1 : 0);
    text->at += n;
    text->left -= n;
    return true;
}

static unsigned lower_digit(char ch)
{
    return ch >= '0' && ch <= '9'   ? (unsigned)(ch - '0')
           : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a') + 10
                                    : NO_DIGIT;
}

static unsigned any_digit(char ch)
{
    return lower_digit(ch >= 'A' && ch <= 'F' ? (char)(ch + ('a' - 'A')) : ch);
}

static bool take_number(struct gt_text_cursor *c, unsigned (*digit)(char), unsigned base,
                        uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = 0;
    for (unsigned d; n < c->left && (d = digit(c->at[n])) < base; n++) {
        if (d > max || v > (max - d) / base)
            return false;
        v = v * base + d;
    }
    if (!n)
        return false;
    c->at += n;
    c->left -= n;
    *out = v;
    return true;
}

bool gt_text_take_dec(struct gt_text_cursor *c, uint64_t max, uint64_t *out)
{
    return take_number(c, lower_digit, 10, max, out);
}

bool gt_text_take_hex(struct gt_text_cursor *c, uint64_t max, uint64_t *out)
{
    return take_number(c, any_digit, 16, max, out);
}

bool gt_text_take_lower_hex(struct gt_text_cursor *c, uint64_t max, uint64_t *out)
{
    return take_number(c, lower_digit, 16, max, out);
}

bool gt_text_take_word(struct gt_text_cursor *c, struct gt_text_cursor *word)
{
    const char *end = c->left ? memchr(c->at, ' ', c->left) : NULL;
    size_t n = end ? (size_t)(end - c->at) : c->left;
    if (!n)
        return false;
    *word = (struct gt_text_cursor){c->at, n};
    c->at += n;
    c->left -= n;
    return true;
}

const char *gt_text_cursor_show(const struct gt_text_cursor *line, char out[64])
{
    size_t n = line->left < 60 ? line->left : 60;
    for (size_t i = 0; i < n; i++)
        out[i] = line->at[i] < ' ' || line->at[i] > '~' ? '?' : line->at[i];
    out[n] = 0;
    if (line->left > n)
        strcpy(out + n, "...");
    return out;
}

bool gt_text_is_hex(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (any_digit(s[i]) == NO_DIGIT)
            return false;
    return true;
}
