/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of C declarations: see tokens.h. */
#include "guest/types/tokens.h"

#include <stdlib.h>
#include <string.h>

/* Words that say nothing about where values are. */
static const char *const skipped[] = {
    "const",     "volatile",      "restrict",     "__restrict", "__restrict__", "__const",
    "extern",    "static",        "inline",       "__inline",   "__inline__",   "register",
    "_Noreturn", "__extension__", "__volatile__", "_Atomic",    "__user",       "__iomem",
    "__percpu",  "__rcu",         "__force",      "asmlinkage", "__init",       "auto",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void gt_type_tokens_fail(struct gt_type_tokens *l, const char *what)
{
    int line = 1;
    int n = l->token.n < 40 ? (int)l->token.n : 40;

    if (l->status != GT_OK)
        return;
    for (const char *at = l->text; at < l->token.at; at++)
        line += *at == '\n';
    if (l->token.kind == GT_TOKEN_END)
        l->status =
            gt_error_set(l->err, GT_E_FORMAT, "%s:%d: end of the text: %s", l->name, line, what);
    else
        l->status = gt_error_set(l->err, GT_E_FORMAT, "%s:%d: '%.*s': %s", l->name, line, n,
                                 l->token.at, what);
    l->token.kind = GT_TOKEN_END;
}

/* Past blanks, comments and preprocessor lines. */
static void skip_blanks(struct gt_type_tokens *l)
{
    while (l->at < l->end) {
        size_t left = (size_t)(l->end - l->at);
        const char *to = NULL;
        if (*l->at == ' ' || *l->at == '\t' || *l->at == '\n' || *l->at == '\r') {
            l->at++;
            continue;
        }
        if (*l->at == '#' || (left > 1 && l->at[0] == '/' && l->at[1] == '/')) {
            to = memchr(l->at, '\n', left);
        } else if (left > 1 && l->at[0] == '/' && l->at[1] == '*') {
            to = memmem(l->at + 2, left - 2, "*/", 2);
            to = to ? to + 2 : NULL;
        } else {
            return;
        }
        l->at = to ? to : l->end;
    }
}

static void scan_number(struct gt_type_tokens *l)
{
    char digits[32];
    size_t n = 0;
    char *end;

    while (l->at + n < l->end && (is_letter(l->at[n]) || is_digit(l->at[n])))
        n++;
    l->token.kind = GT_TOKEN_NUMBER;
    l->token.n = n;
    memcpy(digits, l->at, n < sizeof digits ? n : sizeof digits - 1);
    digits[n < sizeof digits ? n : sizeof digits - 1] = '\0';
    l->token.value = strtoull(digits, &end, 0);
    if (end[strspn(end, "uUlL")] || n >= sizeof digits)
        gt_type_tokens_fail(l, "is not a number");
}

static void scan(struct gt_type_tokens *l)
{
    size_t n = 1;

    skip_blanks(l);
    l->token = (struct gt_type_declaration_token){.at = l->at};
    if (l->at >= l->end || l->status != GT_OK) {
        l->token.kind = GT_TOKEN_END;
        return;
    }
    if (is_letter(*l->at)) {
        while (l->at + n < l->end && (is_letter(l->at[n]) || is_digit(l->at[n])))
            n++;
        l->token.kind = GT_TOKEN_NAME;
        l->token.n = n;
    } else if (is_digit(*l->at)) {
        scan_number(l);
    } else {
        if (l->end - l->at >= 3 && !memcmp(l->at, "...", 3))
            n = 3;
        else if (l->end - l->at >= 2 && !memcmp(l->at, "<<", 2))
            n = 2;
        l->token.kind = GT_TOKEN_SIGN;
        l->token.n = n;
    }
    l->at += l->token.n;
}

bool gt_type_tokens_is(const struct gt_type_tokens *l, const char *text)
{
    return l->token.kind != GT_TOKEN_END && l->token.n == strlen(text) &&
           !memcmp(l->token.at, text, l->token.n);
}

static bool is_skipped(const struct gt_type_tokens *l)
{
    for (size_t i = 0; l->token.kind == GT_TOKEN_NAME && i < sizeof skipped / sizeof skipped[0];
         i++)
        if (gt_type_tokens_is(l, skipped[i]))
            return true;
    return false;
}

/* Leaves the current token after the pair of brackets that begins here. */
static void skip_pair(struct gt_type_tokens *l)
{
    int depth = 0;

    do {
        if (gt_type_tokens_is(l, "(") || gt_type_tokens_is(l, "["))
            depth++;
        else if (gt_type_tokens_is(l, ")") || gt_type_tokens_is(l, "]"))
            depth--;
        scan(l);
    } while (depth > 0 && l->token.kind != GT_TOKEN_END);
    if (depth)
        gt_type_tokens_fail(l, "expected ')'");
}

void gt_type_tokens_next(struct gt_type_tokens *l)
{
    scan(l);
    for (;;) {
        bool attribute = gt_type_tokens_is(l, "__attribute__") || gt_type_tokens_is(l, "__asm__") ||
                         gt_type_tokens_is(l, "_Alignas");
        if (!attribute && !is_skipped(l))
            return;
        scan(l);
        if (attribute && gt_type_tokens_is(l, "("))
            skip_pair(l);
    }
}

void gt_type_tokens_skip_pair(struct gt_type_tokens *l)
{
    skip_pair(l);
    if (is_skipped(l))
        gt_type_tokens_next(l);
}

void gt_type_tokens_init(struct gt_type_tokens *l, const char *name, const char *text, size_t size,
                         struct gt_error *err)
{
    *l = (struct gt_type_tokens){
        .name = name, .text = text, .at = text, .end = text + size, .err = err};
    gt_type_tokens_next(l);
}

bool gt_type_tokens_take(struct gt_type_tokens *l, const char *text)
{
    if (!gt_type_tokens_is(l, text))
        return false;
    gt_type_tokens_next(l);
    return true;
}

void gt_type_tokens_expect(struct gt_type_tokens *l, const char *text)
{
    char what[32] = "expected '";

    if (gt_type_tokens_take(l, text))
        return;
    strcat(strncat(what, text, 16), "'");
    gt_type_tokens_fail(l, what);
}

void gt_type_tokens_back(struct gt_type_tokens *l, struct gt_type_declaration_token to)
{
    if (l->status != GT_OK)
        return;
    l->token = to;
    l->at = to.at + to.n;
}
