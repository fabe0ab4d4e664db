/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structs of a filter, shared by its parser and its evaluation: see filter.h. */
#ifndef GT_ANALYSIS_SIMPLETRACE_FILTER_NODES_H
#define GT_ANALYSIS_SIMPLETRACE_FILTER_NODES_H

#include "analysis/simpletrace/filter.h"

#include <glib.h>

enum {
    GT_FILTER_DEPTH = 100,  /* nested parentheses and "!" */
    GT_FILTER_NODES = 1000, /* nodes, at most; also bounds the depth of the evaluation */
};

enum gt_filter_token {
    GT_TOKEN_END,
    GT_TOKEN_WORD,  /* a name, or a pattern with * and ? */
    GT_TOKEN_FIELD, /* the name after the @ */
    GT_TOKEN_NUMBER,
    GT_TOKEN_STRING,
    GT_TOKEN_OPEN,
    GT_TOKEN_CLOSE,
    GT_TOKEN_AND,
    GT_TOKEN_OR,
    GT_TOKEN_NOT,
    GT_TOKEN_BITS,  /* & */
    GT_TOKEN_EQUAL, /* this and the tokens below are comparisons */
    GT_TOKEN_UNEQUAL,
    GT_TOKEN_LESS,
    GT_TOKEN_LESS_EQUAL,
    GT_TOKEN_MORE,
    GT_TOKEN_MORE_EQUAL,
    GT_TOKEN_GLOB,
    GT_TOKEN_REGEX,
    GT_TOKEN_NO_REGEX,
};

/* A number from -2^63 to 2^64 - 1. */
struct gt_filter_number {
    bool negative; /* `bits` is a negative number in two's complement */
    uint64_t bits;
};

struct gt_filter_lexer {
    const char *text, *at; /* at: after the token */
    enum gt_filter_token token;
    const char *start; /* start of the token */
    size_t size;       /* bytes of the token */
    struct gt_filter_number number;
    GString *string; /* a STRING's text, or a FIELD's or WORD's name */
    struct gt_error *err;
};

/* Reads the next token. GT_E_USAGE: l->start is at the error. */
int gt_filter_next(struct gt_filter_lexer *l);

enum gt_filter_operand_kind {
    GT_OPERAND_ARGUMENT,
    GT_OPERAND_NUMBER,
    GT_OPERAND_STRING,
    GT_OPERAND_EVENT,
    GT_OPERAND_PID,
    GT_OPERAND_TID,
    GT_OPERAND_TIME,
    GT_OPERAND_DELTA,
};

struct gt_filter_operand {
    enum gt_filter_operand_kind kind;
    struct gt_filter_number number;
    GString *string;
    int8_t *place; /* ARGUMENT: its index in the arguments of each declaration, or -1 */
    bool masked;
    uint64_t mask;
};

enum gt_filter_op {
    GT_FILTER_AND,
    GT_FILTER_OR,
    GT_FILTER_NOT,
    GT_FILTER_EVENTS, /* true if wanted[index of the event] is set */
    GT_FILTER_COMPARE,
};

struct gt_filter_node {
    enum gt_filter_op op;
    struct gt_filter_node *left, *right; /* NOT: only left */
    bool *wanted;
    enum gt_filter_token comparison;
    struct gt_filter_operand a, b;
    GRegex *regex;
};

struct gt_trace_filter {
    const struct gt_trace_declarations *declared;
    GPtrArray *nodes; /* owns all nodes */
    struct gt_filter_node *root;
    GString *scratch;
};

/* Evaluates a comparison of two texts. */
bool gt_filter_texts(const struct gt_filter_node *n, GString *scratch, const char *a, size_t a_size,
                     const char *b, size_t b_size);

#endif
