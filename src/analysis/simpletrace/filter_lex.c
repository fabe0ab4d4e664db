/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tokens of a filter: see filter.h. */
#include "analysis/simpletrace/filter_nodes.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *text; /* longer ones first */
    enum gt_filter_token token;
} signs[] = {
    {"&&", GT_TOKEN_AND},     {"||", GT_TOKEN_OR},         {"==", GT_TOKEN_EQUAL},
    {"!=", GT_TOKEN_UNEQUAL}, {"<=", GT_TOKEN_LESS_EQUAL}, {">=", GT_TOKEN_MORE_EQUAL},
    {"=~", GT_TOKEN_REGEX},   {"!~", GT_TOKEN_NO_REGEX},   {"<", GT_TOKEN_LESS},
    {">", GT_TOKEN_MORE},     {"~", GT_TOKEN_GLOB},        {"!", GT_TOKEN_NOT},
    {"&", GT_TOKEN_BITS},     {"(", GT_TOKEN_OPEN},        {")", GT_TOKEN_CLOSE},
};

static const struct {
    const char *text;
    uint64_t factor;
} units[] = {
    {"", 1},   {"k", 1 << 10}, {"M", 1 << 20},  {"G", 1 << 30},
    {"ns", 1}, {"us", 1000},   {"ms", 1000000}, {"s", 1000000000},
};

static int fail(struct gt_filter_lexer *l, const char *message)
{
    return gt_error_set(l->err, GT_E_USAGE, "%s", message);
}

static bool is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '*' || c == '?';
}

static void take_word(struct gt_filter_lexer *l)
{
    const char *start = l->at;
    while (is_word(*l->at))
        l->at++;
    g_string_truncate(l->string, 0);
    g_string_append_len(l->string, start, l->at - start);
}

static int take_number(struct gt_filter_lexer *l, bool negative)
{
    char *end;
    bool hex = l->at[0] == '0' && (l->at[1] == 'x' || l->at[1] == 'X');
    const char *digits = l->at + (hex ? 2 : 0);
    if (hex ? !g_ascii_isxdigit(*digits) : !g_ascii_isdigit(*digits))
        return fail(l, "expected a number");
    errno = 0;
    uint64_t v = g_ascii_strtoull(digits, &end, hex ? 16 : 10);
    bool fits = errno == 0;
    l->at = end;
    take_word(l);
    size_t i = 0;
    while (i < G_N_ELEMENTS(units) && strcmp(units[i].text, l->string->str) != 0)
        i++;
    if (i == G_N_ELEMENTS(units))
        return fail(l, "a number with an unknown unit, expected k, M, G, ns, us, ms or s");
    if (!fits || v > UINT64_MAX / units[i].factor ||
        (negative && v * units[i].factor > (uint64_t)1 << 63))
        return fail(l, "a number that does not fit in 64 bits");
    v *= units[i].factor;
    l->number = (struct gt_filter_number){negative && v, negative ? -v : v};
    return 0;
}

static int take_escape(struct gt_filter_lexer *l)
{
    char c = *l->at;
    const char *from = "\\\"'nt", *to = "\\\"'\n\t", *letter = c ? strchr(from, c) : NULL;
    if (letter) {
        g_string_append_c(l->string, to[letter - from]);
        l->at++;
        return 0;
    }
    if (c != 'x' || !g_ascii_isxdigit(l->at[1]) || !g_ascii_isxdigit(l->at[2])) {
        l->start = l->at - 1;
        return fail(l, "no such escape, expected one of \\\\ \\\" \\' \\n \\t \\xHH");
    }
    int byte = g_ascii_xdigit_value(l->at[1]) << 4 | g_ascii_xdigit_value(l->at[2]);
    g_string_append_c(l->string, (char)byte);
    l->at += 3;
    return 0;
}

static int take_string(struct gt_filter_lexer *l)
{
    char quote = *l->at++;
    g_string_truncate(l->string, 0);
    while (*l->at != quote) {
        if (!*l->at)
            return fail(l, "a string without a closing quote");
        if (*l->at++ != '\\')
            g_string_append_c(l->string, l->at[-1]);
        else if (take_escape(l) < 0)
            return GT_E_USAGE;
    }
    l->at++;
    return 0;
}

static int take_sign(struct gt_filter_lexer *l)
{
    for (size_t i = 0; i < G_N_ELEMENTS(signs); i++) {
        if (!g_str_has_prefix(l->at, signs[i].text))
            continue;
        l->token = signs[i].token;
        l->at += strlen(signs[i].text);
        return 0;
    }
    if (*l->at == '=')
        return fail(l, "'=' compares nothing, expected == or =~");
    if (*l->at == '|')
        return fail(l, "expected ||");
    return fail(l, "a character that means nothing here");
}

static int take(struct gt_filter_lexer *l)
{
    char c = *l->at;
    if (!c) {
        l->token = GT_TOKEN_END;
        return 0;
    }
    if (c == '"' || c == '\'') {
        l->token = GT_TOKEN_STRING;
        return take_string(l);
    }
    if (g_ascii_isdigit(c) || c == '-') {
        l->token = GT_TOKEN_NUMBER;
        l->at += c == '-';
        return take_number(l, c == '-');
    }
    if (c == '@' || is_word(c)) {
        l->token = c == '@' ? GT_TOKEN_FIELD : GT_TOKEN_WORD;
        l->at += c == '@';
        take_word(l);
        return 0;
    }
    return take_sign(l);
}

int gt_filter_next(struct gt_filter_lexer *l)
{
    while (*l->at && strchr(" \t\r\n", *l->at))
        l->at++;
    l->start = l->at;
    int status = take(l);
    l->size = (size_t)(l->at - l->start);
    return status;
}
