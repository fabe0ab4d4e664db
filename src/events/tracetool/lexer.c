/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens, and formats as text of SystemTap: see lexer.h. */
#include "events/tracetool/lexer.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* literal = '"' { character | '\' character } '"' */
static const char *literal(const char *p, const char *end, enum gt_tracetool_token_kind *kind)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && end - p > 1)
            p++;
    *kind = p < end ? GT_TOKEN_LITERAL : GT_TOKEN_OPEN_LITERAL;
    return p < end ? p + 1 : end;
}

void gt_tracetool_lexer_next(struct gt_tracetool_lexer *l)
{
    const char *p = l->next, *end = l->end;
    while (p < end && is_blank(*p))
        p++;
    struct gt_tracetool_token *t = &l->token;
    t->at = p;
    if (p == end) {
        t->kind = GT_TOKEN_END;
    } else if (*p == '"') {
        p = literal(p, end, &t->kind);
    } else if (is_word(*p)) {
        t->kind = is_digit(*p) ? GT_TOKEN_NUMBER : GT_TOKEN_WORD;
        while (p < end && is_word(*p))
            p++;
    } else {
        t->kind = GT_TOKEN_OTHER;
        p++;
        while (p < end && ((unsigned char)*p & 0xc0) == 0x80) /* the rest of a character */
            p++;
    }
    t->length = (size_t)(p - t->at);
    l->next = p;
}

void gt_tracetool_lexer_init(struct gt_tracetool_lexer *l, const char *text, const char *end)
{
    *l = (struct gt_tracetool_lexer){.next = text, .end = end};
    gt_tracetool_lexer_next(l);
}

bool gt_tracetool_token_is(const struct gt_tracetool_token *t, char c)
{
    return t->kind == GT_TOKEN_OTHER && t->length == 1 && *t->at == c;
}

bool gt_tracetool_token_is_word(const struct gt_tracetool_token *t, const char *word)
{
    return t->kind == GT_TOKEN_WORD && *t->at == *word && !strncmp(t->at, word, t->length) &&
           !word[t->length];
}

static int digit_of(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

unsigned char gt_tracetool_literal_escape(const char **p, const char *end)
{
    static const char letters[] = "abefnrtv", values[] = "\a\b\033\f\n\r\t\v";
    unsigned value = 0;
    if (**p == 'x') {
        for (; *p + 1 < end && digit_of((*p)[1]) >= 0; ++*p)
            value = value << 4 | (unsigned)digit_of((*p)[1]);
        return (unsigned char)value;
    }
    if (**p >= '0' && **p <= '7') {
        value = (unsigned)(**p - '0');
        for (int i = 0; i < 2 && *p + 1 < end && (*p)[1] >= '0' && (*p)[1] <= '7'; i++)
            value = value << 3 | (unsigned)(*++*p - '0');
        return (unsigned char)value;
    }
    const char *letter = **p ? strchr(letters, **p) : NULL;
    return (unsigned char)(letter ? values[letter - letters] : **p);
}

static void put(GString *out, unsigned char c)
{
    if (c == '"' || c == '\\')
        g_string_append_printf(out, "\\%c", c);
    else if (c == '\n' || c == '\t')
        g_string_append(out, c == '\n' ? "\\n" : "\\t");
    else if (c < 0x20 || c == 0x7f)
        g_string_append_printf(out, "\\%03o", c);
    else
        g_string_append_c(out, (char)c);
}

/* One character of a format; *in_conversion is from '%' to the letter. */
static void convert(GString *out, unsigned char c, bool *in_conversion)
{
    if (!*in_conversion) {
        *in_conversion = c == '%';
        put(out, c);
    } else if (c && strchr("hlLqjzt", c)) {
        return;
    } else if (c && strchr("#0- +'123456789.*", c)) {
        put(out, c);
    } else {
        *in_conversion = false;
        put(out, c);
    }
}

void gt_tracetool_printf_for_stap(GString *out, const char *format)
{
    struct gt_tracetool_lexer l;
    bool in_conversion = false;
    for (gt_tracetool_lexer_init(&l, format, format + strlen(format)); l.token.kind != GT_TOKEN_END;
         gt_tracetool_lexer_next(&l)) {
        if (l.token.kind == GT_TOKEN_WORD) { /* PRIx64 */
            convert(out, (unsigned char)l.token.at[3], &in_conversion);
            continue;
        }
        const char *end = l.token.at + l.token.length - 1;
        for (const char *c = l.token.at + 1; c < end; c++) {
            unsigned char value = (unsigned char)*c;
            if (*c == '\\') {
                c++;
                value = gt_tracetool_literal_escape(&c, end);
            }
            convert(out, value, &in_conversion);
        }
    }
}
