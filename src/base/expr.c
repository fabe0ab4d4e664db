/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of expressions, what combines comparisons, and comparisons of numbers: see expr.h. */
#include "base/expr.h"

#include "base/number.h"

#include <string.h>

static const struct {
    const char *text; /* longer ones first */
    enum gt_base_expr_token token;
} signs[] = {
    {"&&", GT_EXPR_AND},     {"||", GT_EXPR_OR},         {"==", GT_EXPR_EQUAL},
    {"!=", GT_EXPR_UNEQUAL}, {"<=", GT_EXPR_LESS_EQUAL}, {">=", GT_EXPR_MORE_EQUAL},
    {"=~", GT_EXPR_REGEX},   {"!~", GT_EXPR_NO_REGEX},   {"<", GT_EXPR_LESS},
    {">", GT_EXPR_MORE},     {"~", GT_EXPR_GLOB},        {"!", GT_EXPR_NOT},
    {"&", GT_EXPR_BITS},     {"(", GT_EXPR_OPEN},        {")", GT_EXPR_CLOSE},
};

enum { SIGNS = sizeof signs / sizeof *signs };

static int fail(struct gt_base_expr_lexer *l, const char *message)
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

static void set_string(struct gt_base_expr_lexer *l, const char *text, size_t n)
{
    l->string.len = 0;
    gt_text_add(&l->string, text, n);
}

static void take_word(struct gt_base_expr_lexer *l)
{
    const char *start = l->at;
    while (is_word(*l->at) || (*l->at == '.' && l->at > start))
        l->at++;
    set_string(l, start, (size_t)(l->at - start));
}

static int take_number(struct gt_base_expr_lexer *l, bool negative)
{
    const unsigned kinds = GT_QUANTITY_NUMBER | GT_QUANTITY_SIZE | GT_QUANTITY_TIME;
    const char *start = l->at;
    uint64_t v = 0;
    bool hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    if (hex ? hex_value(start[2]) < 0 : !is_digit(*start))
        return fail(l, "expected a number");
    while (is_word(*l->at) || *l->at == '.')
        l->at++;
    int status = gt_text_quantity_parse(start, (size_t)(l->at - start), kinds, &v);
    if (status == GT_E_RANGE || (status > 0 && negative && v > (uint64_t)1 << 63))
        return fail(l, "a number that does not fit in 64 bits");
    if (status < 0)
        return fail(l, "a number with an unknown unit, expected k, M, G, ns, us, ms, s or min");
    l->number = (struct gt_base_expr_number){negative && v, negative ? -v : v};
    return 0;
}

static int take_escape(struct gt_base_expr_lexer *l)
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

static int take_string(struct gt_base_expr_lexer *l)
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

static int take_sign(struct gt_base_expr_lexer *l)
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

static int take(struct gt_base_expr_lexer *l)
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

int gt_base_expr_next(struct gt_base_expr_lexer *l)
{
    while (*l->at && strchr(" \t\r\n", *l->at))
        l->at++;
    l->start = l->at;
    int status = take(l);
    l->size = (size_t)(l->at - l->start);
    return l->string.failed ? gt_error_set(l->err, GT_E_NOMEM, "out of memory") : status;
}

static int order(struct gt_base_expr_number a, struct gt_base_expr_number b)
{
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return (a.bits > b.bits) - (a.bits < b.bits); /* of two negative ones too */
}

bool gt_base_expr_compare(enum gt_base_expr_token comparison, struct gt_base_expr_number a,
                          struct gt_base_expr_number b)
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

/* ---- what combines comparisons ------------------------------------------------------------- */

struct combining {
    struct gt_base_expr_lexer *l;
    const struct gt_base_expr_tree *tree;
    void *self;
    unsigned depth;
};

static void *parse_any(struct combining *c);

static bool next(struct combining *c)
{
    return gt_base_expr_next(c->l) == 0;
}

static void *parse_not(struct combining *c)
{
    enum gt_base_expr_token token = c->l->token;
    const char *start = c->l->start;
    if (token != GT_EXPR_NOT && token != GT_EXPR_OPEN)
        return c->tree->leaf(c->self);
    if (c->depth == c->tree->depth) {
        gt_error_set(c->l->err, GT_E_USAGE, "more than %u levels of parentheses and !",
                     c->tree->depth);
        return NULL;
    }
    c->depth++;
    void *n = !next(c) ? NULL : token == GT_EXPR_NOT ? parse_not(c) : parse_any(c);
    c->depth--;
    if (!n || token == GT_EXPR_NOT)
        return n ? c->tree->join(c->self, GT_EXPR_NOT, n, NULL) : NULL;
    if (c->l->token != GT_EXPR_CLOSE) {
        gt_error_set(c->l->err, GT_E_USAGE, "expected && or ||, or ) for the ( at character %zu",
                     (size_t)(start - c->l->text) + 1);
        return NULL;
    }
    return next(c) ? n : NULL;
}

/* all = not ("&&" not)* */
static void *parse_all(struct combining *c)
{
    void *n = parse_not(c);
    while (n && c->l->token == GT_EXPR_AND) {
        void *right = next(c) ? parse_not(c) : NULL;
        n = right ? c->tree->join(c->self, GT_EXPR_AND, n, right) : NULL;
    }
    return n;
}

/* any = all ("||" all)* */
static void *parse_any(struct combining *c)
{
    void *n = parse_all(c);
    while (n && c->l->token == GT_EXPR_OR) {
        void *right = next(c) ? parse_all(c) : NULL;
        n = right ? c->tree->join(c->self, GT_EXPR_OR, n, right) : NULL;
    }
    return n;
}

void *gt_base_expr_parse(struct gt_base_expr_lexer *l, const struct gt_base_expr_tree *tree,
                         void *self)
{
    struct combining c = {l, tree, self, 0};
    void *root = next(&c) ? parse_any(&c) : NULL;
    if (root && l->token != GT_EXPR_END) {
        gt_error_set(l->err, GT_E_USAGE, "expected && or || here, or the end");
        return NULL;
    }
    return root;
}
