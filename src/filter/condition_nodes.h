/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to condition*.c: a parsed condition. */
#ifndef GT_FILTER_CONDITION_NODES_H
#define GT_FILTER_CONDITION_NODES_H

#include "filter/condition.h"

enum {
    GT_CONDITION_NODES =
        200, /* comparisons and what combines them, at most; bounds the evaluation, too */
    GT_CONDITION_DEPTH = 50,  /* nested parentheses and "!" */
    GT_CONDITION_VALUES = 32, /* different values of a call */
    GT_CONDITION_TEXT = 4096, /* bytes of their names, and of strings */
};

enum gt_condition_value_kind {
    GT_CONDITION_NUMBER,
    GT_CONDITION_STRING,
    GT_CONDITION_NAMED,
    GT_CONDITION_OF_CALL,
};

struct gt_condition_term {
    enum gt_condition_value_kind kind;
    bool masked;
    unsigned name;                /* NAMED, OF_CALL: its number */
    struct gt_expr_number number; /* NUMBER */
    const char *text;             /* STRING */
    size_t size;
    uint64_t mask;
};

struct gt_condition_node {
    enum gt_expr_token op; /* AND, OR, NOT, or a comparison */
    const struct gt_condition_node *left, *right;
    struct gt_condition_term a, b;
};

struct gt_condition {
    const struct gt_condition_node *root;
    bool at_return;
    size_t n_values;
    struct gt_condition_value value[GT_CONDITION_VALUES];
    char text[GT_CONDITION_TEXT];
    struct gt_condition_node node[];
};

#endif
