/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON, ends of messages, answers: see json.h. */
#include "events/library/monitor/json.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *at, *end;
    const char *why; /* NULL: all is well */
    unsigned depth;
};

static bool parse_value(struct parser *p, struct gt_events_monitor_json *out);

static bool fail(struct parser *p, const char *why)
{
    if (!p->why)
        p->why = p->at == p->end ? "the text ends within a value" : why;
    return false;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && memchr(" \t\r\n", *p->at, 4))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool parse_word(struct parser *p, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
        return fail(p, "no JSON value");
    p->at += n;
    return true;
}

static bool parse_digits(struct parser *p)
{
    const char *start = p->at;
    while (p->at < p->end && is_digit(*p->at))
        p->at++;
    return p->at > start || fail(p, "expected a digit");
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static bool parse_number(struct parser *p)
{
    take(p, '-');
    if (!take(p, '0') && !parse_digits(p))
        return false;
    if (take(p, '.') && !parse_digits(p))
        return false;
    if (!take(p, 'e') && !take(p, 'E'))
        return true;
    if (!take(p, '+'))
        take(p, '-');
    return parse_digits(p);
}

static bool parse_escape(struct parser *p)
{
    if (p->at < p->end && *p->at == 'u') {
        p->at++;
        for (int i = 0; i < 4; i++, p->at++)
            if (p->at == p->end || hex_digit(*p->at) < 0)
                return fail(p, "expected four hex digits");
        return true;
    }
    if (p->at == p->end || !memchr("\"\\/bfnrt", *p->at, 8))
        return fail(p, "no such escape");
    p->at++;
    return true;
}

static bool parse_string(struct parser *p)
{
    p->at++;
    for (;;) {
        if (p->at == p->end || (unsigned char)*p->at < ' ')
            return fail(p, "a control character in a string");
        if (take(p, '"'))
            return true;
        if (*p->at++ == '\\' && !parse_escape(p))
            return false;
    }
}

static bool parse_array(struct parser *p)
{
    struct gt_events_monitor_json element;
    p->at++;
    skip_blanks(p);
    if (take(p, ']'))
        return true;
    do {
        if (!parse_value(p, &element))
            return false;
        skip_blanks(p);
    } while (take(p, ','));
    return take(p, ']') || fail(p, "expected ',' or ']'");
}

static bool parse_object(struct parser *p)
{
    struct gt_events_monitor_json value;
    p->at++;
    skip_blanks(p);
    if (take(p, '}'))
        return true;
    do {
        skip_blanks(p);
        if (p->at == p->end || *p->at != '"')
            return fail(p, "expected the name of a member");
        if (!parse_string(p))
            return false;
        skip_blanks(p);
        if (!take(p, ':'))
            return fail(p, "expected ':'");
        if (!parse_value(p, &value))
            return false;
        skip_blanks(p);
    } while (take(p, ','));
    return take(p, '}') || fail(p, "expected ',' or '}'");
}

static bool parse_inner(struct parser *p, struct gt_events_monitor_json *out)
{
    switch (p->at < p->end ? *p->at : '\0') {
    case '{':
        out->type = GT_MONITOR_JSON_OBJECT;
        return parse_object(p);
    case '[':
        out->type = GT_MONITOR_JSON_ARRAY;
        return parse_array(p);
    case '"':
        out->type = GT_MONITOR_JSON_STRING;
        return parse_string(p);
    case 't':
        out->type = GT_MONITOR_JSON_TRUE;
        return parse_word(p, "true");
    case 'f':
        out->type = GT_MONITOR_JSON_FALSE;
        return parse_word(p, "false");
    case 'n':
        out->type = GT_MONITOR_JSON_NULL;
        return parse_word(p, "null");
    default:
        out->type = GT_MONITOR_JSON_NUMBER;
        return parse_number(p);
    }
}

static bool parse_value(struct parser *p, struct gt_events_monitor_json *out)
{
    skip_blanks(p);
    if (p->depth == GT_MONITOR_JSON_DEPTH)
        return fail(p, "too many levels of arrays and objects");
    p->depth++;
    out->at = p->at;
    bool good = parse_inner(p, out);
    out->n = (size_t)(p->at - out->at);
    p->depth--;
    return good;
}

const char *gt_events_monitor_json_parse(const char *text, size_t n,
                                         struct gt_events_monitor_json *out, const char **why,
                                         const char **where)
{
    struct parser p = {.at = text, .end = text + n};
    bool good = parse_value(&p, out);
    *why = p.why;
    *where = p.at;
    return good ? p.at : NULL;
}

bool gt_events_monitor_json_member(const struct gt_events_monitor_json *object, const char **at,
                                   struct gt_events_monitor_json *key,
                                   struct gt_events_monitor_json *value)
{
    struct parser p = {.at = *at, .end = object->at + object->n};
    p.at++; /* the brace or the comma */
    skip_blanks(&p);
    if (p.at == p.end || *p.at != '"' || !parse_value(&p, key))
        return false;
    skip_blanks(&p);
    if (!take(&p, ':') || !parse_value(&p, value))
        return false;
    skip_blanks(&p);
    *at = p.at;
    return true;
}

static uint32_t hex4(const char *at)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v = v << 4 | (uint32_t)hex_digit(at[i]);
    return v;
}

/* The character of an escape after its backslash; *at moves after it. */
static uint32_t unescape(const char **at, const char *end)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    char c = *(*at)++;
    const char *letter = strchr(letters, c);
    if (letter)
        return (uint32_t)controls[letter - letters];
    if (c != 'u')
        return (unsigned char)c;
    uint32_t u = hex4(*at);
    *at += 4;
    if (u >= 0xd800 && u < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = hex4(*at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return u >= 0xd800 && u < 0xe000 ? 0xfffd : u; /* half of a pair */
}

static size_t put_utf8(char *out, uint32_t u)
{
    if (u < 0x80) {
        out[0] = (char)u;
        return 1;
    }
    size_t n = u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i; i--, u >>= 6)
        out[i] = (char)(0x80 | (u & 0x3f));
    out[0] = (char)((0xf00 >> n) | u);
    return n;
}

int gt_events_monitor_json_text(const struct gt_events_monitor_json *string, char *out, size_t size)
{
    const char *at = string->at + 1, *end = string->at + string->n - 1;
    size_t n = 0;
    while (at < end) {
        char c = *at++;
        if (size - n < 5) /* the longest character, and the end */
            return -1;
        if (c != '\\') {
            out[n++] = c;
            continue;
        }
        uint32_t u = unescape(&at, end);
        if (u == 0)
            return -1;
        n += put_utf8(out + n, u);
    }
    out[n] = '\0';
    return (int)n;
}

bool gt_events_monitor_scan_object(struct gt_events_monitor_scan *s, const char *in, size_t fill,
                                   size_t *end)
{
    while (s->scanned < fill) {
        char at = in[s->scanned++];
        if (s->escaped) {
            s->escaped = false;
        } else if (s->quoted) {
            s->escaped = at == '\\';
            s->quoted = at != '"';
        } else if (at == '"') {
            s->quoted = true;
        } else if (at == '{' || at == '[') {
            s->depth++;
        } else if ((at == '}' || at == ']') && --s->depth == 0) {
            *end = s->scanned;
            return true;
        }
    }
    return false;
}

bool gt_events_monitor_scan_line(struct gt_events_monitor_scan *s, const char *in, size_t fill,
                                 size_t *end)
{
    const char *newline = memchr(in + s->scanned, '\n', fill - s->scanned);
    s->scanned = fill;
    *end = newline ? (size_t)(newline - in) + 1 : fill;
    return newline;
}

size_t gt_events_monitor_blanks(const char *in, size_t fill)
{
    size_t n = 0;
    while (n < fill && (in[n] == ' ' || in[n] == '\t' || in[n] == '\r' || in[n] == '\n'))
        n++;
    return n;
}

static bool make_room(struct gt_events_monitor_text *t, size_t n)
{
    if (t->failed || n >= GT_MONITOR_TEXT_LIMIT - t->n) {
        t->failed = true;
        return false;
    }
    if (t->room - t->n > n)
        return true;
    size_t room = 2 * t->room + n + 256;
    char *data = realloc(t->data, room);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->room = room;
    return true;
}

void gt_events_monitor_add(struct gt_events_monitor_text *t, const void *data, size_t n)
{
    if (!make_room(t, n))
        return;
    if (n)
        memcpy(t->data + t->n, data, n);
    t->n += n;
    t->data[t->n] = '\0';
}

void gt_events_monitor_puts(struct gt_events_monitor_text *t, const char *text)
{
    gt_events_monitor_add(t, text, strlen(text));
}

void gt_events_monitor_printf(struct gt_events_monitor_text *t, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    if (n >= 0 && make_room(t, (size_t)n)) {
        vsnprintf(t->data + t->n, (size_t)n + 1, format, again);
        t->n += (size_t)n;
    }
    va_end(again);
    va_end(ap);
}

size_t gt_events_monitor_utf8(const char *text, size_t n)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *c = (const unsigned char *)text;
    for (size_t size = 1; n && size <= 4 && size <= n; size++) {
        uint32_t u = c[0] & (unsigned char)~forms[size - 1].mask;
        if ((c[0] & forms[size - 1].mask) != forms[size - 1].lead)
            continue;
        for (size_t i = 1; i < size; i++) {
            if ((c[i] & 0xc0) != 0x80)
                return 0;
            u = u << 6 | (c[i] & 0x3f);
        }
        return u < forms[size - 1].least || u > 0x10ffff || (u >= 0xd800 && u < 0xe000) ? 0 : size;
    }
    return 0;
}

void gt_events_monitor_add_json(struct gt_events_monitor_text *t, const char *text)
{
    size_t n;
    gt_events_monitor_puts(t, "\"");
    for (const char *c = text; *c; c += n ? n : 1) {
        n = gt_events_monitor_utf8(c, strnlen(c, 4));
        if (*c == '\n')
            gt_events_monitor_puts(t, "\\n");
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            gt_events_monitor_printf(t, "\\u%04x", (unsigned char)*c);
        else if (*c == '"' || *c == '\\')
            gt_events_monitor_printf(t, "\\%c", *c);
        else if (n == 0)
            gt_events_monitor_puts(t, "?");
        else
            gt_events_monitor_add(t, c, n);
    }
    gt_events_monitor_puts(t, "\"");
}

void gt_events_monitor_free(struct gt_events_monitor_text *t)
{
    free(t->data);
    *t = (struct gt_events_monitor_text){0};
}

void gt_events_monitor_add_version(struct gt_events_monitor_text *t)
{
    int major = 0, minor = 0, micro = 0;
    sscanf(GT_VERSION, "%d.%d.%d", &major, &minor, &micro);
    gt_events_monitor_printf(t,
                             "{\"qemu\": {\"micro\": %d, \"minor\": %d, \"major\": %d}, "
                             "\"package\": \"guesttrace\"}",
                             micro, minor, major);
}
