/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of trace records as text: see put.h. */
#include "events/simpletrace/put.h"

#include "base/decimal.h"
#include "base/plain_text.h"

#include <stdio.h>

/* ns / 1000 as the nearest double, as Python divides: not through the nearest double of ns. */
static double nearest_us(uint64_t ns)
{
    uint64_t divisor = 1000, one = 1;
    while (ns / divisor >> 53)
        divisor *= 2;
    while (ns && ns / 1000 * one < UINT64_C(1) << 52 && divisor == 1000)
        one *= 2;
    uint64_t q = ns * one / divisor, rest = ns * one % divisor;
    if (2 * rest > divisor || (2 * rest == divisor && q % 2))
        q++;
    return (double)q * (double)(divisor / 1000) / (double)one;
}

char *gt_put_delta(char *p, uint64_t before, uint64_t now)
{
    bool back = now < before;
    uint64_t ns = back ? before - now : now - before;
    if (back)
        *p++ = '-';
    /* Up to here a double has more than three decimals, so that its digits are those of ns. */
    if (ns < UINT64_C(1) << 51)
        return gt_decimal_put_thousandths(p, ns);
    return p + snprintf(p, GT_PUT_NUMBER - 1, "%.3f", nearest_us(ns));
}

static char *put_python_escape(char *p, unsigned char c, char quote)
{
    static const char digits[] = "0123456789abcdef";
    char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\0';
    if (c >= ' ' && c < 0x7f) {
        if (c == '\\' || c == (unsigned char)quote)
            *p++ = '\\';
        *p++ = (char)c;
        return p;
    }
    *p++ = '\\';
    *p++ = letter ? letter : 'x';
    if (!letter) {
        *p++ = digits[c >> 4];
        *p++ = digits[c & 15];
    }
    return p;
}

char *gt_put_python_bytes(char *p, const char *text, size_t n)
{
    char *start = p;
    *p++ = 'b';
    *p++ = '\'';
    size_t i = gt_plain_text_copy(p, text, n);
    p += i;
    if (i < n) {
        char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
        start[1] = quote;
        for (; i < n; i++)
            p = put_python_escape(p, (unsigned char)text[i], quote);
    }
    *p++ = start[1];
    return p;
}

char *gt_put_line_begin(struct gt_put_line *l, size_t room)
{
    if (room <= GT_OUTPUT_SIZE)
        return gt_output_room(l->out, room);
    if (!l->big)
        l->big = g_string_new(NULL);
    g_string_set_size(l->big, room);
    return l->big->str;
}

void gt_put_line_end(struct gt_put_line *l, const char *begin, const char *end)
{
    if (l->big && begin == l->big->str)
        gt_output_bytes(l->out, begin, (size_t)(end - begin));
    else
        gt_output_end(l->out, end);
}

void gt_put_line_free(struct gt_put_line *l)
{
    if (l->big)
        g_string_free(l->big, TRUE);
}
