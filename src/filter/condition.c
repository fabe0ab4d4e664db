/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates conditions: see condition.h. */
#include "filter/condition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Internal to condition*.c: a parsed condition. */

enum {
    GT_CONDITION_NODES =
        200, /* comparisons and what combines them, at most; bounds the evaluation, too */
    GT_CONDITION_DEPTH = 50,  /* nested parentheses and "!" */
    GT_CONDITION_VALUES = 32, /* different values of a call */
    GT_CONDITION_TEXT = 4096, /* bytes of their names, and of strings */
};

enum gt_filter_condition_value_kind {
    GT_CONDITION_NUMBER,
    GT_CONDITION_STRING,
    GT_CONDITION_NAMED,
    GT_CONDITION_OF_CALL,
};

struct gt_filter_condition_term {
    enum gt_filter_condition_value_kind kind;
    bool masked;
    unsigned name;                     /* NAMED, OF_CALL: its number */
    struct gt_base_expr_number number; /* NUMBER */
    const char *text;                  /* STRING */
    size_t size;
    uint64_t mask;
};

struct gt_filter_condition_node {
    enum gt_base_expr_token op; /* AND, OR, NOT, or a comparison */
    const struct gt_filter_condition_node *left, *right;
    struct gt_filter_condition_term a, b;
};

struct gt_filter_condition {
    const struct gt_filter_condition_node *root;
    bool at_return;
    size_t n_values;
    struct gt_filter_condition_value value[GT_CONDITION_VALUES];
    char text[GT_CONDITION_TEXT];
    struct gt_filter_condition_node node[];
};

void gt_filter_condition_free(struct gt_filter_condition *c)
{
    free(c);
}

bool gt_filter_condition_at_return(const struct gt_filter_condition *c)
{
    return c->at_return;
}

const struct gt_filter_condition_value *
gt_filter_condition_values(const struct gt_filter_condition *c, size_t *n)
{
    *n = c->n_values;
    return c->value;
}

struct evaluation {
    struct gt_filter_condition *c;
    const struct gt_filter_condition_source *from;
};

static void note(bool *flag)
{
    if (!__atomic_load_n(flag, __ATOMIC_RELAXED))
        __atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

static bool get_of_call(const struct evaluation *e, unsigned name, struct gt_base_call_value *out)
{
    struct gt_filter_condition_value *v = &e->c->value[name];
    note(&v->asked);
    if (!e->from->of_call || !e->from->of_call(e->from->self, &v->name, out))
        return false;
    note(&v->known);
    return true;
}

static bool get(const struct evaluation *e, const struct gt_filter_condition_term *v,
                struct gt_base_call_value *out)
{
    struct gt_base_expr_number number = v->number;
    *out = (struct gt_base_call_value){0};
    if (v->kind == GT_CONDITION_STRING) {
        *out = (struct gt_base_call_value){
            .kind = GT_CALL_VALUE_TEXT, .text = v->text, .size = v->size};
        return true;
    }
    if (v->kind == GT_CONDITION_OF_CALL && !get_of_call(e, v->name, out))
        return false;
    if (v->kind == GT_CONDITION_NAMED && !e->from->named(e->from->self, v->name, &number))
        return false;
    if (v->kind != GT_CONDITION_OF_CALL)
        *out = (struct gt_base_call_value){.negative = number.negative, .bits = number.bits};
    if (v->masked && out->kind != GT_CALL_VALUE_NUMBER)
        return false;
    if (v->masked)
        *out = (struct gt_base_call_value){.bits = out->bits & v->mask};
    return true;
}

static double real_of(const struct gt_base_call_value *v)
{
    return v->kind == GT_CALL_VALUE_REAL ? v->real
           : v->negative                 ? (double)(int64_t)v->bits
                                         : (double)v->bits;
}

static bool compare_real(enum gt_base_expr_token op, double a, double b)
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

static bool compare_text(enum gt_base_expr_token op, const struct gt_base_call_value *a,
                         const struct gt_base_call_value *b)
{
    bool equal = a->kind == b->kind && a->size == b->size && !a->cut && !b->cut &&
                 (!a->size || memcmp(a->text, b->text, a->size) == 0);
    return op == GT_EXPR_EQUAL ? equal : op == GT_EXPR_UNEQUAL && !equal;
}

static bool compare(enum gt_base_expr_token op, const struct gt_base_call_value *a,
                    const struct gt_base_call_value *b)
{
    if (a->kind == GT_CALL_VALUE_TEXT || b->kind == GT_CALL_VALUE_TEXT)
        return compare_text(op, a, b);
    if (a->kind == GT_CALL_VALUE_REAL || b->kind == GT_CALL_VALUE_REAL)
        return compare_real(op, real_of(a), real_of(b));
    return gt_base_expr_compare(op, (struct gt_base_expr_number){a->negative, a->bits},
                                (struct gt_base_expr_number){b->negative, b->bits});
}

static bool eval(const struct evaluation *e, const struct gt_filter_condition_node *n)
{
    struct gt_base_call_value a, b;
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

bool gt_filter_condition_holds(struct gt_filter_condition *c,
                               const struct gt_filter_condition_source *source)
{
    return eval(&(struct evaluation){c, source}, c->root);
}

/* Parses conditions: the leaves of expressions (base/expr.h). */

struct parser {
    struct gt_base_expr_lexer lex;
    const struct gt_filter_condition_name *names;
    struct gt_filter_condition_node node[GT_CONDITION_NODES];
    size_t n;
    bool at_return, values;
    size_t n_values, n_text;
    struct gt_filter_condition_value value[GT_CONDITION_VALUES];
    char text[GT_CONDITION_TEXT];
};

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
    return gt_base_expr_next(&p->lex) == 0;
}

static struct gt_filter_condition_node *new_node(struct parser *p, enum gt_base_expr_token op,
                                                 const struct gt_filter_condition_node *left,
                                                 const struct gt_filter_condition_node *right)
{
    if (p->n == GT_CONDITION_NODES)
        return fail(p, "more than %d comparisons", GT_CONDITION_NODES / 2);
    struct gt_filter_condition_node *n = &p->node[p->n++];
    *n = (struct gt_filter_condition_node){.op = op, .left = left, .right = right};
    return n;
}

static bool unknown_name(struct parser *p)
{
    struct gt_text known = {0};
    for (const struct gt_filter_condition_name *n = p->names; n->name; n++)
        gt_text_printf(&known, "%s%s%s", known.len ? ", " : "", n->name,
                       n->at_return ? " (at the return)" : "");
    fail(p, "no value '%.60s'; known here: %.250s", p->lex.string.data,
         known.len ? known.data : "none");
    gt_text_free(&known);
    return false;
}

/* A copy of the token's text, with a NUL. NULL: there is no room. */
static const char *keep_text(struct parser *p)
{
    const struct gt_text *from = &p->lex.string;
    char *copy = p->text + p->n_text;
    if (from->len >= sizeof p->text - p->n_text)
        return fail(p, "more than %d bytes of names and strings", GT_CONDITION_TEXT - 1);
    memcpy(copy, from->data, from->len);
    copy[from->len] = 0;
    p->n_text += from->len + 1;
    return copy;
}

/* What the word behind a prefix of that length is: the number of an argument. */
static bool is_number(const char *digits, uint16_t *number)
{
    unsigned n = 0;
    if (*digits < '1' || *digits > '9')
        return false;
    for (; *digits >= '0' && *digits <= '9' && n <= 4096; digits++)
        n = n * 10 + (unsigned)(*digits - '0');
    *number = (uint16_t)n;
    return !*digits && n <= 4096;
}

static void name_value(struct gt_base_call_value_name *v)
{
    v->place = GT_CALL_NAMED;
    if (strcmp(v->name, "retval") == 0)
        v->place = GT_CALL_RESULT;
    else if (strncmp(v->name, "arg", 3) == 0 && is_number(v->name + 3, &v->number))
        v->place = GT_CALL_ARGUMENT;
    else if (strncmp(v->name, "fparg", 5) == 0 && is_number(v->name + 5, &v->number))
        v->place = GT_CALL_FLOAT_ARGUMENT;
}

/* A value of a call; each name once. */
static bool take_call_value(struct parser *p, struct gt_filter_condition_term *v)
{
    const char *word = p->lex.string.data;
    v->kind = GT_CONDITION_OF_CALL;
    for (v->name = 0; v->name < p->n_values; v->name++)
        if (strcmp(p->value[v->name].name.name, word) == 0)
            return true;
    if (p->n_values == GT_CONDITION_VALUES)
        return fail(p, "more than %d different values", GT_CONDITION_VALUES);
    struct gt_filter_condition_value *of = &p->value[p->n_values];
    *of = (struct gt_filter_condition_value){.name.name = keep_text(p),
                                             .at = (size_t)(p->lex.start - p->lex.text)};
    if (!of->name.name)
        return false;
    name_value(&of->name);
    p->at_return |= of->name.place == GT_CALL_RESULT;
    p->n_values++;
    return true;
}

static bool take_name(struct parser *p, struct gt_filter_condition_term *v)
{
    while (p->names[v->name].name && strcmp(p->names[v->name].name, p->lex.string.data) != 0)
        v->name++;
    if (!p->names[v->name].name)
        return p->values ? take_call_value(p, v) : unknown_name(p);
    v->kind = GT_CONDITION_NAMED;
    p->at_return |= p->names[v->name].at_return;
    return true;
}

/* value = NAME ["&" NUMBER] | NUMBER | STRING */
static bool parse_value(struct parser *p, struct gt_filter_condition_term *v)
{
    struct gt_base_expr_lexer *l = &p->lex;
    if (l->token == GT_EXPR_NUMBER) {
        v->number = l->number;
        return next(p);
    }
    if (l->token == GT_EXPR_STRING) {
        v->kind = GT_CONDITION_STRING;
        v->size = l->string.len;
        v->text = keep_text(p);
        return v->text && next(p);
    }
    if (l->token != GT_EXPR_WORD)
        return fail(p, "expected the name of a value, a number or a string");
    if (!take_name(p, v) || !next(p))
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
static void *parse_comparison(void *self)
{
    struct parser *p = self;
    struct gt_filter_condition_node *n = new_node(p, GT_EXPR_UNEQUAL, NULL, NULL);
    if (!n || !parse_value(p, &n->a))
        return NULL;
    enum gt_base_expr_token token = p->lex.token;
    if (token < GT_EXPR_EQUAL)
        return n; /* with 0 */
    if (token > GT_EXPR_MORE_EQUAL)
        return fail(p, "numbers are compared by == != < <= > and >=");
    n->op = token;
    if (!next(p) || !parse_value(p, &n->b))
        return NULL;
    if (n->a.kind != GT_CONDITION_STRING && n->b.kind != GT_CONDITION_STRING)
        return n;
    if (token != GT_EXPR_EQUAL && token != GT_EXPR_UNEQUAL)
        return fail(p, "strings are compared by == and !=");
    const struct gt_filter_condition_term *other =
        n->a.kind == GT_CONDITION_OF_CALL ? &n->a : &n->b;
    if (other->kind == GT_CONDITION_OF_CALL)
        p->value[other->name].as_text = true;
    return n;
}

static void *join(void *self, enum gt_base_expr_token op, void *left, void *right)
{
    return new_node(self, op, left, right);
}

static const struct gt_base_expr_tree tree = {parse_comparison, join, GT_CONDITION_DEPTH};

/* A text of the parser's, in its copy. */
static const char *moved(const struct parser *p, const struct gt_filter_condition *c,
                         const char *text)
{
    return text ? c->text + (text - p->text) : NULL;
}

/* A copy of the nodes, of their number. */
static int keep(const struct parser *p, const struct gt_filter_condition_node *root,
                struct gt_filter_condition **out)
{
    struct gt_filter_condition *c = malloc(sizeof *c + p->n * sizeof *c->node);
    if (!c)
        return gt_error_set(p->lex.err, GT_E_NOMEM, "out of memory");
    c->root = c->node + (root - p->node);
    c->at_return = p->at_return;
    c->n_values = p->n_values;
    memcpy(c->text, p->text, p->n_text);
    for (size_t i = 0; i < p->n_values; i++) {
        c->value[i] = p->value[i];
        c->value[i].name.name = moved(p, c, p->value[i].name.name);
    }
    for (size_t i = 0; i < p->n; i++) {
        struct gt_filter_condition_node *n = &c->node[i];
        *n = p->node[i];
        n->left = n->left ? c->node + (n->left - p->node) : NULL;
        n->right = n->right ? c->node + (n->right - p->node) : NULL;
        n->a.text = moved(p, c, n->a.text);
        n->b.text = moved(p, c, n->b.text);
    }
    *out = c;
    return 0;
}

int gt_filter_condition_parse(const char *text, const struct gt_filter_condition_name *names,
                              bool values, struct gt_filter_condition **out, size_t *at,
                              struct gt_error *err)
{
    struct gt_error own;
    struct parser p = {.lex = {.text = text, .at = text, .start = text, .err = err ? err : &own},
                       .names = names,
                       .values = values};
    *out = NULL;
    p.lex.err->status = 0;
    const struct gt_filter_condition_node *root = gt_base_expr_parse(&p.lex, &tree, &p);
    *at = (size_t)(p.lex.start - text);
    gt_text_free(&p.lex.string);
    return root ? keep(&p, root, out) : p.lex.err->status;
}
