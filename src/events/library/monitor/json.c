/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON: see json.h. */
#include "events/library/monitor/json.h"

#include <stdint.h>
#include <string.h>

struct parser {
    const char *at, *end;
    const char *why; /* NULL: all is well */
    unsigned depth;
};

static bool parse_value(struct parser *p, struct gt_monitor_json *out);

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
    struct gt_monitor_json element;
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
    struct gt_monitor_json value;
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

static bool parse_inner(struct parser *p, struct gt_monitor_json *out)
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

static bool parse_value(struct parser *p, struct gt_monitor_json *out)
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

const char *gt_monitor_json_parse(const char *text, size_t n, struct gt_monitor_json *out,
                                  const char **why, const char **where)
{
    struct parser p = {.at = text, .end = text + n};
    bool good = parse_value(&p, out);
    *why = p.why;
    *where = p.at;
    return good ? p.at : NULL;
}

bool gt_monitor_json_member(const struct gt_monitor_json *object, const char **at,
                            struct gt_monitor_json *key, struct gt_monitor_json *value)
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

int gt_monitor_json_text(const struct gt_monitor_json *string, char *out, size_t size)
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
