/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of trace records as text: see put.h. */
#include "analysis/simpletrace/put.h"

#include <glib.h>
#include <stdio.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

static inline char *put_pair(char *p, unsigned v)
{
    memcpy(p, pairs + (size_t)2 * v, 2);
    return p + 2;
}

char *gt_put_decimal(char *p, uint64_t v)
{
    char digits[24], *end = digits + sizeof digits, *at = end;
    while (v >= 100) {
        at -= 2;
        memcpy(at, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(at, pairs + 2 * v, 2);
    } else {
        *--at = (char)('0' + v);
    }
    return gt_put_bytes(p, at, (size_t)(end - at));
}

char *gt_put_signed(char *p, int64_t v)
{
    if (v < 0)
        *p++ = '-';
    return gt_put_decimal(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

char *gt_put_us(char *p, uint64_t ns)
{
    unsigned fraction = (unsigned)(ns % 1000);
    p = gt_put_decimal(p, ns / 1000);
    *p++ = '.';
    *p++ = (char)('0' + fraction / 100);
    return put_pair(p, fraction % 100);
}

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
        return gt_put_us(p, ns);
    return p + snprintf(p, GT_PUT_NUMBER - 1, "%.3f", nearest_us(ns));
}

/* The byte stands for itself, whatever the quotes are. */
static inline bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '\\' && c != '\'' && c != '"';
}

/* Whether any of 8 bytes is below ' ', above '~', a quote or a backslash. */
static inline bool any_special(uint64_t v)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
#define HAS_ZERO(x) (((x)-ones) & ~(x))
    uint64_t found = v | (v - ones * ' ') | (v + ones) | HAS_ZERO(v ^ ones * '\\') |
                     HAS_ZERO(v ^ ones * '\'') | HAS_ZERO(v ^ ones * '"');
#undef HAS_ZERO
    return found & tops;
}

/* Copies bytes that stand for themselves; returns how many did.. */
static inline size_t put_plain(char *p, const char *text, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t v;
        memcpy(&v, text + i, 8);
        if (any_special(v))
            break;
        memcpy(p + i, &v, 8);
    }
    for (; i < n && is_plain((unsigned char)text[i]); i++)
        p[i] = text[i];
    return i;
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
    size_t i = put_plain(p, text, n);
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

static char *put_json_escape(char *p, unsigned char c, bool raw)
{
    static const char digits[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        *p++ = '\\';
        *p++ = (char)c;
        return p;
    }
    if (c >= ' ' && c < 0x7f) {
        *p++ = (char)c;
        return p;
    }
    p = gt_put_bytes(p, raw ? "\\udc" : "\\u00", 4);
    *p++ = digits[c >> 4];
    *p++ = digits[c & 15];
    return p;
}

char *gt_put_json_string(char *p, const char *text, size_t n)
{
    *p++ = '"';
    size_t i = put_plain(p, text, n);
    p += i;
    while (i < n) {
        unsigned char c = (unsigned char)text[i];
        gunichar u = c < 0x80 ? c : g_utf8_get_char_validated(text + i, (gssize)(n - i));
        if (c < 0x80 || u >= (gunichar)-2) {
            p = put_json_escape(p, c, c >= 0x80);
            i++;
            continue;
        }
        size_t size = (size_t)(g_utf8_next_char(text + i) - (text + i));
        p = gt_put_bytes(p, text + i, size);
        i += size;
    }
    *p++ = '"';
    return p;
}

size_t gt_put_args_room(const struct gt_trace_record *r)
{
    size_t room = 2;
    for (unsigned i = 0; i < r->n_values; i++) {
        room += strlen(r->arguments[i].name) + 4 + GT_PUT_NUMBER;
        room += r->values[i].text ? 6 * r->values[i].number : 0;
    }
    return room;
}

static char *put_value(char *p, enum gt_trace_kind kind, const struct gt_trace_value *v)
{
    if (v->text)
        return gt_put_json_string(p, v->text, v->number);
    if (kind == GT_TRACE_BOOL && v->number <= 1)
        return gt_put_text(p, v->number ? "true" : "false");
    if (kind == GT_TRACE_SIGNED)
        return gt_put_signed(p, (int64_t)v->number);
    if (kind != GT_TRACE_POINTER)
        return gt_put_decimal(p, v->number);
    p = gt_hex_put(gt_put_bytes(p, "\"0x", 3), v->number);
    *p++ = '"';
    return p;
}

char *gt_put_args(char *p, const struct gt_trace_record *r)
{
    *p++ = '{';
    for (unsigned i = 0; i < r->n_values; i++) {
        if (i)
            *p++ = ',';
        *p++ = '"';
        p = gt_put_text(p, r->arguments[i].name);
        p = gt_put_bytes(p, "\":", 2);
        p = put_value(p, r->arguments[i].kind, &r->values[i]);
    }
    *p++ = '}';
    return p;
}

char *gt_line_begin(struct gt_line *l, size_t room)
{
    if (room <= GT_OUTPUT_SIZE)
        return gt_output_room(l->out, room);
    if (!l->big)
        l->big = g_string_new(NULL);
    g_string_set_size(l->big, room);
    return l->big->str;
}

void gt_line_end(struct gt_line *l, const char *begin, const char *end)
{
    if (l->big && begin == l->big->str)
        gt_output_bytes(l->out, begin, (size_t)(end - begin));
    else
        gt_output_end(l->out, end);
}

void gt_line_free(struct gt_line *l)
{
    if (l->big)
        g_string_free(l->big, TRUE);
}
