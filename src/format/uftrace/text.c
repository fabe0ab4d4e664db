/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text helpers of the uftrace codecs: see text.h. */
#include "format/uftrace/text.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

bool gt_take(struct gt_cursor *c, const char *literal)
{
    size_t n = strlen(literal);
    if (c->left < n || memcmp(c->at, literal, n) != 0)
        return false;
    c->at += n;
    c->left -= n;
    return true;
}

bool gt_take_line(struct gt_cursor *text, struct gt_cursor *line, bool *whole)
{
    if (!text->left)
        return false;
    const char *end = memchr(text->at, '\n', text->left);
    *whole = end != NULL;
    *line = (struct gt_cursor){text->at, end ? (size_t)(end - text->at) : text->left};
    size_t n = line->left + (end ? 1 : 0);
    text->at += n;
    text->left -= n;
    return true;
}

static int digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F')
        return ch - 'A' + 10;
    return 99;
}

static bool take_number(struct gt_cursor *c, uint64_t base, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = 0;
    for (; n < c->left && (uint64_t)digit(c->at[n]) < base; n++) {
        uint64_t d = (uint64_t)digit(c->at[n]);
        if (v > (max - d) / base || d > max)
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

bool gt_take_dec(struct gt_cursor *c, uint64_t max, uint64_t *out)
{
    return take_number(c, 10, max, out);
}

bool gt_take_hex(struct gt_cursor *c, uint64_t max, uint64_t *out)
{
    return take_number(c, 16, max, out);
}

bool gt_take_word(struct gt_cursor *c, struct gt_cursor *word)
{
    const char *end = c->left ? memchr(c->at, ' ', c->left) : NULL;
    size_t n = end ? (size_t)(end - c->at) : c->left;
    if (!n)
        return false;
    *word = (struct gt_cursor){c->at, n};
    c->at += n;
    c->left -= n;
    return true;
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

const char *gt_text_show(const struct gt_cursor *line, char out[64])
{
    size_t n = line->left < 60 ? line->left : 60;
    for (size_t i = 0; i < n; i++)
        out[i] = line->at[i] < ' ' || line->at[i] > '~' ? '?' : line->at[i];
    out[n] = 0;
    if (line->left > n)
        strcpy(out + n, "...");
    return out;
}

void gt_text_add_value(struct gt_text *t, const char *value, size_t limit)
{
    size_t left = strlen(value);
    while (left) {
        size_t n = gt_utf8_length(value, left);
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

bool gt_is_hex(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (digit(s[i]) > 15)
            return false;
    return true;
}
