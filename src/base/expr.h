/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions that users write: comparisons of names, numbers and strings, combined by && || ! and
 * parentheses:
 *
 *     any = all ("||" all)*
 *     all = not ("&&" not)*
 *     not = "!" not | "(" any ")" | leaf
 *
 * The owner parses the leaves, of the tokens here, and says what names there are.
 *
 * A number is decimal, or hex after 0x, with an optional unit of sizes or times: number.h. A
 * string stands between " or ', with the escapes \\ \" \' \n \t \xHH.
 */
#ifndef GT_BASE_EXPR_H
#define GT_BASE_EXPR_H

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum gt_base_expr_token {
    GT_EXPR_END,
    GT_EXPR_WORD,  /* a name, or a pattern with * and ? */
    GT_EXPR_FIELD, /* the name after the @ */
    GT_EXPR_NUMBER,
    GT_EXPR_STRING,
    GT_EXPR_OPEN,
    GT_EXPR_CLOSE,
    GT_EXPR_AND,
    GT_EXPR_OR,
    GT_EXPR_NOT,
    GT_EXPR_BITS,  /* & */
    GT_EXPR_EQUAL, /* this and the tokens below are comparisons */
    GT_EXPR_UNEQUAL,
    GT_EXPR_LESS,
    GT_EXPR_LESS_EQUAL,
    GT_EXPR_MORE,
    GT_EXPR_MORE_EQUAL,
    GT_EXPR_GLOB,
    GT_EXPR_REGEX,
    GT_EXPR_NO_REGEX,
};

/* A number from -2^63 to 2^64 - 1. */
struct gt_base_expr_number {
    bool negative; /* `bits` is a negative number in two's complement */
    uint64_t bits;
};

struct gt_base_expr_lexer {
    const char *text, *at; /* at: after the token */
    enum gt_base_expr_token token;
    const char *start; /* start of the token */
    size_t size;       /* bytes of the token */
    struct gt_base_expr_number number;
    struct gt_text string; /* a STRING's text, or a FIELD's or WORD's name; the owner frees it */
    struct gt_error *err;
};

/* Reads the next token. GT_E_USAGE: l->start is at the error. GT_E_NOMEM. */
int gt_base_expr_next(struct gt_base_expr_lexer *l);

/* How an expression becomes a tree of the owner's nodes. Each returns a node; NULL: it has failed,
 * l->err says why. */
struct gt_base_expr_tree {
    /* From l->token on, up to the token that follows. */
    void *(*leaf)(void *self);
    /* AND, OR; or NOT, with a NULL `right`. */
    void *(*join)(void *self, enum gt_base_expr_token op, void *left, void *right);
    unsigned depth; /* levels of parentheses and "!", at most */
};

/* Parses all of l->text. NULL: l->start is at the error, where a leaf did not say otherwise. */
void *gt_base_expr_parse(struct gt_base_expr_lexer *l, const struct gt_base_expr_tree *tree,
                         void *self);

/* True: "a COMPARISON b", one of EQUAL to MORE_EQUAL. */
bool gt_base_expr_compare(enum gt_base_expr_token comparison, struct gt_base_expr_number a,
                          struct gt_base_expr_number b);

#endif
