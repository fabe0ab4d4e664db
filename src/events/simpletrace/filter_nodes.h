/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The structs of a filter, shared by its parser and its evaluation: see filter.h. */
#ifndef GT_EVENTS_SIMPLETRACE_FILTER_NODES_H
#define GT_EVENTS_SIMPLETRACE_FILTER_NODES_H

#include "base/expr.h"
#include "events/simpletrace/filter.h"
#include "filter/regex.h"

#include <glib.h>

enum {
    GT_TRACE_FILTER_DEPTH = 100,  /* nested parentheses and "!" */
    GT_TRACE_FILTER_NODES = 1000, /* nodes, at most; also bounds the depth of the evaluation */
};

enum gt_trace_filter_operand_kind {
    GT_TRACE_OPERAND_ARGUMENT,
    GT_TRACE_OPERAND_NUMBER,
    GT_TRACE_OPERAND_STRING,
    GT_TRACE_OPERAND_EVENT,
    GT_TRACE_OPERAND_PID,
    GT_TRACE_OPERAND_TID,
    GT_TRACE_OPERAND_TIME,
    GT_TRACE_OPERAND_DELTA,
};

struct gt_trace_filter_operand {
    enum gt_trace_filter_operand_kind kind;
    struct gt_expr_number number;
    GString *string;
    int8_t *place; /* ARGUMENT: its index in the arguments of each declaration, or -1 */
    bool masked;
    uint64_t mask;
};

enum gt_trace_filter_op {
    GT_TRACE_FILTER_AND,
    GT_TRACE_FILTER_OR,
    GT_TRACE_FILTER_NOT,
    GT_TRACE_FILTER_EVENTS, /* true if wanted[index of the event] is set */
    GT_TRACE_FILTER_COMPARE,
};

struct gt_trace_filter_node {
    enum gt_trace_filter_op op;
    struct gt_trace_filter_node *left, *right; /* NOT: only left */
    bool *wanted;
    enum gt_expr_token comparison;
    struct gt_trace_filter_operand a, b;
    struct gt_regex *regex;
};

struct gt_trace_filter {
    const struct gt_trace_declarations *declared;
    GPtrArray *nodes; /* owns all nodes */
    struct gt_trace_filter_node *root;
    GString *scratch;
};

/* Evaluates a comparison of two texts. */
bool gt_trace_filter_texts(const struct gt_trace_filter_node *n, GString *scratch, const char *a,
                           size_t a_size, const char *b, size_t b_size);

#endif
