/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates conditions: see condition.h. */
#include "filter/condition_nodes.h"

#include <stdlib.h>
#include <string.h>

void gt_condition_free(struct gt_condition *c)
{
    free(c);
}

bool gt_condition_at_return(const struct gt_condition *c)
{
    return c->at_return;
}

const struct gt_condition_value *gt_condition_values(const struct gt_condition *c, size_t *n)
{
    *n = c->n_values;
    return c->value;
}

struct evaluation {
    struct gt_condition *c;
    const struct gt_condition_source *from;
};

static void note(bool *flag)
{
    if (!__atomic_load_n(flag, __ATOMIC_RELAXED))
        __atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

static bool get_of_call(const struct evaluation *e, unsigned name, struct gt_call_value *out)
{
    struct gt_condition_value *v = &e->c->value[name];
    note(&v->asked);
    if (!e->from->of_call || !e->from->of_call(e->from->self, &v->name, out))
        return false;
    note(&v->known);
    return true;
}

static bool get(const struct evaluation *e, const struct gt_condition_term *v,
                struct gt_call_value *out)
{
    struct gt_expr_number number = v->number;
    *out = (struct gt_call_value){0};
    if (v->kind == GT_CONDITION_STRING) {
        *out = (struct gt_call_value){.kind = GT_CALL_VALUE_TEXT, .text = v->text, .size = v->size};
        return true;
    }
    if (v->kind == GT_CONDITION_OF_CALL && !get_of_call(e, v->name, out))
        return false;
    if (v->kind == GT_CONDITION_NAMED && !e->from->named(e->from->self, v->name, &number))
        return false;
    if (v->kind != GT_CONDITION_OF_CALL)
        *out = (struct gt_call_value){.negative = number.negative, .bits = number.bits};
    if (v->masked && out->kind != GT_CALL_VALUE_NUMBER)
        return false;
    if (v->masked)
        *out = (struct gt_call_value){.bits = out->bits & v->mask};
    return true;
}

static double real_of(const struct gt_call_value *v)
{
    return v->kind == GT_CALL_VALUE_REAL ? v->real
           : v->negative                 ? (double)(int64_t)v->bits
                                         : (double)v->bits;
}

static bool compare_real(enum gt_expr_token op, double a, double b)
{
    switch (op) {
    case GT_EXPR_EQUAL:
        return a >= b && a <= b;
    case GT_EXPR_UNEQUAL:
        return a < b || a > b;
    case GT_EXPR_LESS:
        return a < b;
    case GT_EXPR_LESS_EQUAL:
        return a <= b;
    case GT_EXPR_MORE:
        return a > b;
    default:
        return a >= b;
    }
}

static bool compare_text(enum gt_expr_token op, const struct gt_call_value *a,
                         const struct gt_call_value *b)
{
    bool equal = a->kind == b->kind && a->size == b->size && !a->cut && !b->cut &&
                 (!a->size || memcmp(a->text, b->text, a->size) == 0);
    return op == GT_EXPR_EQUAL ? equal : op == GT_EXPR_UNEQUAL && !equal;
}

static bool compare(enum gt_expr_token op, const struct gt_call_value *a,
                    const struct gt_call_value *b)
{
    if (a->kind == GT_CALL_VALUE_TEXT || b->kind == GT_CALL_VALUE_TEXT)
        return compare_text(op, a, b);
    if (a->kind == GT_CALL_VALUE_REAL || b->kind == GT_CALL_VALUE_REAL)
        return compare_real(op, real_of(a), real_of(b));
    return gt_expr_compare(op, (struct gt_expr_number){a->negative, a->bits},
                           (struct gt_expr_number){b->negative, b->bits});
}

static bool eval(const struct evaluation *e, const struct gt_condition_node *n)
{
    struct gt_call_value a, b;
    switch (n->op) {
    case GT_EXPR_AND:
        return eval(e, n->left) && eval(e, n->right);
    case GT_EXPR_OR:
        return eval(e, n->left) || eval(e, n->right);
    case GT_EXPR_NOT:
        return !eval(e, n->left);
    default:
        return get(e, &n->a, &a) && get(e, &n->b, &b) && compare(n->op, &a, &b);
    }
}

bool gt_condition_holds(struct gt_condition *c, const struct gt_condition_source *source)
{
    return eval(&(struct evaluation){c, source}, c->root);
}
