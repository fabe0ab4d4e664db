/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and evaluates conditions: a function for each rule of the grammar in condition.h. */
#include "filter/condition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES = 200, /* comparisons and what combines them, at most; bounds the evaluation, too */
    DEPTH = 50,  /* nested parentheses and "!" */
};

struct value {
    bool named, masked;
    unsigned name;
    struct gt_expr_number number; /* not named: its value */
    uint64_t mask;
};

struct node {
    enum gt_expr_token op; /* AND, OR, NOT, or a comparison */
    const struct node *left, *right;
    struct value a, b;
};

struct gt_condition {
    const struct node *root;
    bool at_return;
    struct node node[];
};

struct parser {
    struct gt_expr_lexer lex;
    const struct gt_condition_name *names;
    struct node node[NODES];
    size_t n;
    unsigned depth;
    bool at_return;
};

static const struct node *parse_any(struct parser *p);

static void *fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void *fail(struct parser *p, const char *format, ...)
{
    char message[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    gt_error_set(p->lex.err, GT_E_USAGE, "%s", message);
    return NULL;
}

static bool next(struct parser *p)
{
    return gt_expr_next(&p->lex) == 0;
}

static struct node *new_node(struct parser *p, enum gt_expr_token op, const struct node *left,
                             const struct node *right)
{
    if (p->n == NODES)
        return fail(p, "more than %d comparisons", NODES / 2);
    struct node *n = &p->node[p->n++];
    *n = (struct node){.op = op, .left = left, .right = right};
    return n;
}

static bool unknown_name(struct parser *p)
{
    struct gt_text known = {0};
    for (const struct gt_condition_name *n = p->names; n->name; n++)
        gt_text_printf(&known, "%s%s%s", known.len ? ", " : "", n->name,
                       n->at_return ? " (at the return)" : "");
    fail(p, "no value '%.60s'; known for now: %.250s", p->lex.string.data,
         known.len ? known.data : "none");
    gt_text_free(&known);
    return false;
}

/* value = NAME ["&" NUMBER] | NUMBER */
static bool parse_value(struct parser *p, struct value *v)
{
    struct gt_expr_lexer *l = &p->lex;
    if (l->token == GT_EXPR_NUMBER) {
        v->number = l->number;
        return next(p);
    }
    if (l->token != GT_EXPR_WORD)
        return fail(p, "expected the name of a value, or a number");
    while (p->names[v->name].name && strcmp(p->names[v->name].name, l->string.data) != 0)
        v->name++;
    if (!p->names[v->name].name)
        return unknown_name(p);
    v->named = true;
    p->at_return |= p->names[v->name].at_return;
    if (!next(p))
        return false;
    if (l->token != GT_EXPR_BITS)
        return true;
    if (!next(p))
        return false;
    if (l->token != GT_EXPR_NUMBER || l->number.negative)
        return fail(p, "expected a mask after &, a number");
    v->masked = true;
    v->mask = l->number.bits;
    return next(p);
}

/* comparison = value [OPERATOR value] */
static const struct node *parse_comparison(struct parser *p)
{
    struct node *n = new_node(p, GT_EXPR_UNEQUAL, NULL, NULL);
    if (!n || !parse_value(p, &n->a))
        return NULL;
    enum gt_expr_token token = p->lex.token;
    if (token < GT_EXPR_EQUAL)
        return n; /* with 0 */
    if (token > GT_EXPR_MORE_EQUAL)
        return fail(p, "numbers are compared by == != < <= > and >=");
    n->op = token;
    return next(p) && parse_value(p, &n->b) ? n : NULL;
}

/* not = "!" not | "(" any ")" | comparison */
static const struct node *parse_not(struct parser *p)
{
    enum gt_expr_token token = p->lex.token;
    const char *start = p->lex.start;
    const struct node *n;
    if (token != GT_EXPR_NOT && token != GT_EXPR_OPEN)
        return parse_comparison(p);
    if (p->depth == DEPTH)
        return fail(p, "more than %d levels of parentheses and !", DEPTH);
    p->depth++;
    n = !next(p) ? NULL : token == GT_EXPR_NOT ? parse_not(p) : parse_any(p);
    p->depth--;
    if (!n || token == GT_EXPR_NOT)
        return n ? new_node(p, GT_EXPR_NOT, n, NULL) : NULL;
    if (p->lex.token != GT_EXPR_CLOSE)
        return fail(p, "expected && or ||, or ) for the ( at character %zu of the condition",
                    (size_t)(start - p->lex.text) + 1);
    return next(p) ? n : NULL;
}

/* all = not ("&&" not)* */
static const struct node *parse_all(struct parser *p)
{
    const struct node *n = parse_not(p);
    while (n && p->lex.token == GT_EXPR_AND) {
        const struct node *right = next(p) ? parse_not(p) : NULL;
        n = right ? new_node(p, GT_EXPR_AND, n, right) : NULL;
    }
    return n;
}

/* any = all ("||" all)* */
static const struct node *parse_any(struct parser *p)
{
    const struct node *n = parse_all(p);
    while (n && p->lex.token == GT_EXPR_OR) {
        const struct node *right = next(p) ? parse_all(p) : NULL;
        n = right ? new_node(p, GT_EXPR_OR, n, right) : NULL;
    }
    return n;
}

/* A copy of the nodes, of their number. */
static int keep(const struct parser *p, const struct node *root, struct gt_condition **out)
{
    struct gt_condition *c = malloc(sizeof *c + p->n * sizeof *c->node);
    if (!c)
        return gt_error_set(p->lex.err, GT_E_NOMEM, "out of memory");
    c->root = c->node + (root - p->node);
    c->at_return = p->at_return;
    for (size_t i = 0; i < p->n; i++) {
        struct node *n = &c->node[i];
        *n = p->node[i];
        n->left = n->left ? c->node + (n->left - p->node) : NULL;
        n->right = n->right ? c->node + (n->right - p->node) : NULL;
    }
    *out = c;
    return 0;
}

int gt_condition_parse(const char *text, const struct gt_condition_name *names,
                       struct gt_condition **out, size_t *at, struct gt_error *err)
{
    struct gt_error own;
    struct parser p = {.lex = {.text = text, .at = text, .start = text, .err = err ? err : &own},
                       .names = names};
    *out = NULL;
    p.lex.err->status = 0;
    const struct node *root = next(&p) ? parse_any(&p) : NULL;
    if (root && p.lex.token != GT_EXPR_END)
        root = fail(&p, "expected && or || here, or the end");
    *at = (size_t)(p.lex.start - text);
    gt_text_free(&p.lex.string);
    return root ? keep(&p, root, out) : p.lex.err->status;
}

void gt_condition_free(struct gt_condition *c)
{
    free(c);
}

bool gt_condition_at_return(const struct gt_condition *c)
{
    return c->at_return;
}

struct values {
    bool (*get)(const void *self, unsigned number, struct gt_expr_number *out);
    const void *self;
};

static bool get(const struct values *from, const struct value *v, struct gt_expr_number *out)
{
    *out = v->number;
    if (v->named && !from->get(from->self, v->name, out))
        return false;
    if (v->masked)
        *out = (struct gt_expr_number){false, out->bits & v->mask};
    return true;
}

static bool eval(const struct node *n, const struct values *from)
{
    struct gt_expr_number a, b;
    switch (n->op) {
    case GT_EXPR_AND:
        return eval(n->left, from) && eval(n->right, from);
    case GT_EXPR_OR:
        return eval(n->left, from) || eval(n->right, from);
    case GT_EXPR_NOT:
        return !eval(n->left, from);
    default:
        return get(from, &n->a, &a) && get(from, &n->b, &b) && gt_expr_compare(n->op, a, b);
    }
}

bool gt_condition_holds(const struct gt_condition *c,
                        bool (*value)(const void *self, unsigned number,
                                      struct gt_expr_number *out),
                        const void *self)
{
    return eval(c->root, &(struct values){value, self});
}
