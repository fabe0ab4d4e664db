/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of expressions, and comparisons of numbers: see expr.h. */
#include "filter/expr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text; /* longer ones first */
    enum gt_expr_token token;
} signs[] = {
    {"&&", GT_EXPR_AND},     {"||", GT_EXPR_OR},         {"==", GT_EXPR_EQUAL},
    {"!=", GT_EXPR_UNEQUAL}, {"<=", GT_EXPR_LESS_EQUAL}, {">=", GT_EXPR_MORE_EQUAL},
    {"=~", GT_EXPR_REGEX},   {"!~", GT_EXPR_NO_REGEX},   {"<", GT_EXPR_LESS},
    {">", GT_EXPR_MORE},     {"~", GT_EXPR_GLOB},        {"!", GT_EXPR_NOT},
    {"&", GT_EXPR_BITS},     {"(", GT_EXPR_OPEN},        {")", GT_EXPR_CLOSE},
};

static const struct {
    const char *text;
    uint64_t factor;
} units[] = {
    {"", 1},   {"k", 1 << 10}, {"M", 1 << 20},  {"G", 1 << 30},
    {"ns", 1}, {"us", 1000},   {"ms", 1000000}, {"s", 1000000000},
};

enum { SIGNS = sizeof signs / sizeof *signs, UNITS = sizeof units / sizeof *units };

static int fail(struct gt_expr_lexer *l, const char *message)
{
    return gt_error_set(l->err, GT_E_USAGE, "%s", message);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 'a' - 'A';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_word(char c)
{
    char lower = c | ('a' - 'A');
    return is_digit(c) || (lower >= 'a' && lower <= 'z') || c == '_' || c == '*' || c == '?';
}

static void set_string(struct gt_expr_lexer *l, const char *text, size_t n)
{
    l->string.len = 0;
    gt_text_add(&l->string, text, n);
}

static void take_word(struct gt_expr_lexer *l)
{
    const char *start = l->at;
    while (is_word(*l->at) || (*l->at == '.' && l->at > start))
        l->at++;
    set_string(l, start, (size_t)(l->at - start));
}

static int take_number(struct gt_expr_lexer *l, bool negative)
{
    char *end;
    bool hex = l->at[0] == '0' && (l->at[1] == 'x' || l->at[1] == 'X');
    const char *digits = l->at + (hex ? 2 : 0);
    if (hex ? hex_value(*digits) < 0 : !is_digit(*digits))
        return fail(l, "expected a number");
    errno = 0;
    uint64_t v = strtoull(digits, &end, hex ? 16 : 10);
    bool fits = errno == 0;
    l->at = end;
    take_word(l);
    size_t i = 0;
    while (i < UNITS && !l->string.failed && strcmp(units[i].text, l->string.data) != 0)
        i++;
    if (i == UNITS)
        return fail(l, "a number with an unknown unit, expected k, M, G, ns, us, ms or s");
    if (!fits || v > UINT64_MAX / units[i].factor ||
        (negative && v * units[i].factor > (uint64_t)1 << 63))
        return fail(l, "a number that does not fit in 64 bits");
    v *= units[i].factor;
    l->number = (struct gt_expr_number){negative && v, negative ? -v : v};
    return 0;
}

static int take_escape(struct gt_expr_lexer *l)
{
    char c = *l->at;
    const char *from = "\\\"'nt", *to = "\\\"'\n\t", *letter = c ? strchr(from, c) : NULL;
    if (letter) {
        gt_text_add(&l->string, &to[letter - from], 1);
        l->at++;
        return 0;
    }
    if (c != 'x' || hex_value(l->at[1]) < 0 || hex_value(l->at[2]) < 0) {
        l->start = l->at - 1;
        return fail(l, "no such escape, expected one of \\\\ \\\" \\' \\n \\t \\xHH");
    }
    char byte = (char)(hex_value(l->at[1]) << 4 | hex_value(l->at[2]));
    gt_text_add(&l->string, &byte, 1);
    l->at += 3;
    return 0;
}

static int take_string(struct gt_expr_lexer *l)
{
    char quote = *l->at++;
    set_string(l, "", 0);
    while (*l->at != quote) {
        if (!*l->at)
            return fail(l, "a string without a closing quote");
        if (*l->at++ != '\\')
            gt_text_add(&l->string, &l->at[-1], 1);
        else if (take_escape(l) < 0)
            return GT_E_USAGE;
    }
    l->at++;
    return 0;
}

static int take_sign(struct gt_expr_lexer *l)
{
    for (size_t i = 0; i < SIGNS; i++) {
        size_t n = strlen(signs[i].text);
        if (strncmp(l->at, signs[i].text, n) != 0)
            continue;
        l->token = signs[i].token;
        l->at += n;
        return 0;
    }
    if (*l->at == '=')
        return fail(l, "'=' compares nothing, expected == or =~");
    if (*l->at == '|')
        return fail(l, "expected ||");
    return fail(l, "a character that means nothing here");
}

static int take(struct gt_expr_lexer *l)
{
    char c = *l->at;
    if (!c) {
        l->token = GT_EXPR_END;
        return 0;
    }
    if (c == '"' || c == '\'') {
        l->token = GT_EXPR_STRING;
        return take_string(l);
    }
    if (is_digit(c) || c == '-') {
        l->token = GT_EXPR_NUMBER;
        l->at += c == '-';
        return take_number(l, c == '-');
    }
    if (c == '@' || is_word(c)) {
        l->token = c == '@' ? GT_EXPR_FIELD : GT_EXPR_WORD;
        l->at += c == '@';
        take_word(l);
        return 0;
    }
    return take_sign(l);
}

int gt_expr_next(struct gt_expr_lexer *l)
{
    while (*l->at && strchr(" \t\r\n", *l->at))
        l->at++;
    l->start = l->at;
    int status = take(l);
    l->size = (size_t)(l->at - l->start);
    return l->string.failed ? gt_error_set(l->err, GT_E_NOMEM, "out of memory") : status;
}

static int order(struct gt_expr_number a, struct gt_expr_number b)
{
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return (a.bits > b.bits) - (a.bits < b.bits); /* of two negative ones too */
}

bool gt_expr_compare(enum gt_expr_token comparison, struct gt_expr_number a,
                     struct gt_expr_number b)
{
    switch (comparison) {
    case GT_EXPR_EQUAL:
        return order(a, b) == 0;
    case GT_EXPR_UNEQUAL:
        return order(a, b) != 0;
    case GT_EXPR_LESS:
        return order(a, b) < 0;
    case GT_EXPR_LESS_EQUAL:
        return order(a, b) <= 0;
    case GT_EXPR_MORE:
        return order(a, b) > 0;
    default:
        return order(a, b) >= 0;
    }
}
