/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts built in memory: see text.h. */
#include "base/text.h"

#include "base/utf8.h"

#include <stdarg.h>
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
