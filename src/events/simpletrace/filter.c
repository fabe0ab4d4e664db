/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and evaluates a filter: see filter.h. */
#include "events/simpletrace/filter.h"

#include "base/expr.h"
#include "filter/regex.h"

#include <glib.h>
#include <guesttrace/control.h>
#include <string.h>

/* The structs of a filter, shared by its parser and its evaluation: see filter.h. */

enum {
    GT_TRACE_FILTER_DEPTH = 100,  /* nested parentheses and "!" */
    GT_TRACE_FILTER_NODES = 1000, /* nodes, at most; also bounds the depth of the evaluation */
};

enum gt_simpletrace_filter_operand_kind {
    GT_TRACE_OPERAND_ARGUMENT,
    GT_TRACE_OPERAND_NUMBER,
    GT_TRACE_OPERAND_STRING,
    GT_TRACE_OPERAND_EVENT,
    GT_TRACE_OPERAND_PID,
    GT_TRACE_OPERAND_TID,
    GT_TRACE_OPERAND_TIME,
    GT_TRACE_OPERAND_DELTA,
};

struct gt_simpletrace_filter_operand {
    enum gt_simpletrace_filter_operand_kind kind;
    struct gt_base_expr_number number;
    GString *string;
    int8_t *place; /* ARGUMENT: its index in the arguments of each declaration, or -1 */
    bool masked;
    uint64_t mask;
};

enum gt_simpletrace_filter_op {
    GT_TRACE_FILTER_AND,
    GT_TRACE_FILTER_OR,
    GT_TRACE_FILTER_NOT,
    GT_TRACE_FILTER_EVENTS, /* true if wanted[index of the event] is set */
    GT_TRACE_FILTER_COMPARE,
};

struct gt_simpletrace_filter_node {
    enum gt_simpletrace_filter_op op;
    struct gt_simpletrace_filter_node *left, *right; /* NOT: only left */
    bool *wanted;
    enum gt_base_expr_token comparison;
    struct gt_simpletrace_filter_operand a, b;
    struct gt_filter_regex *regex;
};

struct gt_simpletrace_filter {
    const struct gt_trace_declarations *declared;
    GPtrArray *nodes; /* owns all nodes */
    struct gt_simpletrace_filter_node *root;
    GString *scratch;
};

/* An operand's value in a record. */
struct value {
    const char *text; /* NULL: a number */
    size_t size;
    struct gt_base_expr_number number;
};

static struct gt_base_expr_number signed_number(uint64_t bits)
{
    return (struct gt_base_expr_number){(int64_t)bits < 0, bits};
}

static bool get_argument(const struct gt_simpletrace_filter_operand *o,
                         const struct gt_trace_record *r, struct value *v)
{
    int place = o->place[r->event->index];
    if (place < 0)
        return false;
    unsigned at = (unsigned)place + (r->n_values - r->event->n_arguments); /* after the vCPU */
    const struct gt_trace_value *from = &r->values[at];
    *v = (struct value){from->text, from->text ? from->number : 0, {false, from->number}};
    if (r->arguments[at].kind == GT_TRACE_SIGNED)
        v->number = signed_number(from->number);
    return true;
}

/* False: the event does not have it. */
static bool get_value(const struct gt_simpletrace_filter_operand *o,
                      const struct gt_trace_record *r, uint64_t before, struct value *v)
{
    *v = (struct value){0};
    switch (o->kind) {
    case GT_TRACE_OPERAND_ARGUMENT:
        if (!get_argument(o, r, v))
            return false;
        break;
    case GT_TRACE_OPERAND_NUMBER:
        v->number = o->number;
        break;
    case GT_TRACE_OPERAND_STRING:
        v->text = o->string->str;
        v->size = o->string->len;
        break;
    case GT_TRACE_OPERAND_EVENT:
        v->text = r->event->name;
        v->size = strlen(v->text);
        break;
    case GT_TRACE_OPERAND_PID:
        v->number.bits = r->pid;
        break;
    case GT_TRACE_OPERAND_TID:
        v->number.bits = r->tid;
        break;
    case GT_TRACE_OPERAND_TIME:
        v->number.bits = r->timestamp;
        break;
    case GT_TRACE_OPERAND_DELTA:
        v->number = signed_number(r->timestamp - before);
        break;
    }
    if (o->masked)
        v->number = (struct gt_base_expr_number){false, v->number.bits & o->mask};
    return true;
}

/* Evaluates a comparison of two texts. */
static bool trace_filter_texts(const struct gt_simpletrace_filter_node *n, GString *scratch,
                               const char *a, size_t a_size, const char *b, size_t b_size)
{
    bool equal = a_size == b_size && memcmp(a, b, a_size) == 0;
    switch (n->comparison) {
    case GT_EXPR_EQUAL:
        return equal;
    case GT_EXPR_UNEQUAL:
        return !equal;
    case GT_EXPR_GLOB:
        g_string_truncate(scratch, 0);
        g_string_append_len(scratch, a, (gssize)a_size);
        return gt_trace_match(b, scratch->str);
    default:
        return gt_filter_regex_match_bytes(n->regex, a, a_size) == (n->comparison == GT_EXPR_REGEX);
    }
}

static bool eval_comparison(const struct gt_simpletrace_filter_node *n, GString *scratch,
                            const struct gt_trace_record *r, uint64_t before)
{
    struct value a, b;
    if (!get_value(&n->a, r, before, &a) || !get_value(&n->b, r, before, &b))
        return false;
    if (a.text && b.text)
        return trace_filter_texts(n, scratch, a.text, a.size, b.text, b.size);
    return gt_base_expr_compare(n->comparison, a.number, b.number);
}

static bool eval(const struct gt_simpletrace_filter_node *n, GString *scratch,
                 const struct gt_trace_record *r, uint64_t before)
{
    switch (n->op) {
    case GT_TRACE_FILTER_AND:
        return eval(n->left, scratch, r, before) && eval(n->right, scratch, r, before);
    case GT_TRACE_FILTER_OR:
        return eval(n->left, scratch, r, before) || eval(n->right, scratch, r, before);
    case GT_TRACE_FILTER_NOT:
        return !eval(n->left, scratch, r, before);
    case GT_TRACE_FILTER_EVENTS:
        return n->wanted[r->event->index];
    default:
        return eval_comparison(n, scratch, r, before);
    }
}

bool gt_simpletrace_filter_match(struct gt_simpletrace_filter *f, const struct gt_trace_record *r,
                                 uint64_t before)
{
    return eval(f->root, f->scratch, r, before);
}

uint64_t gt_simpletrace_filter_undecided(const struct gt_simpletrace_filter *f)
{
    uint64_t n = 0;
    for (guint i = 0; i < f->nodes->len; i++)
        n += gt_filter_regex_undecided(
            ((const struct gt_simpletrace_filter_node *)f->nodes->pdata[i])->regex);
    return n;
}

/*
 * The parser of filters: the leaves of expressions (base/expr.h). Names are looked up
 * in the declarations here: a condition that no event can meet is an error.
 */

struct parser {
    struct gt_base_expr_lexer lex;
    struct gt_simpletrace_filter *f;
    const char *where; /* of the error; NULL: the lexer's token */
};

static void *fail(struct parser *p, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void *fail(struct parser *p, const char *where, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *message = g_strdup_vprintf(format, ap);
    va_end(ap);
    p->where = where;
    gt_error_set(p->lex.err, GT_E_USAGE, "%s", message);
    return NULL;
}

static bool next(struct parser *p)
{
    return gt_base_expr_next(&p->lex) == 0;
}

static void free_operand(struct gt_simpletrace_filter_operand *o)
{
    if (o->string)
        g_string_free(o->string, TRUE);
    g_free(o->place);
}

static void free_node(void *node)
{
    struct gt_simpletrace_filter_node *n = node;
    free_operand(&n->a);
    free_operand(&n->b);
    g_free(n->wanted);
    gt_filter_regex_free(n->regex);
    g_free(n);
}

static struct gt_simpletrace_filter_node *new_node(struct parser *p,
                                                   enum gt_simpletrace_filter_op op,
                                                   struct gt_simpletrace_filter_node *left,
                                                   struct gt_simpletrace_filter_node *right)
{
    if (p->f->nodes->len == GT_TRACE_FILTER_NODES)
        return fail(p, NULL, "more than %d comparisons", GT_TRACE_FILTER_NODES);
    struct gt_simpletrace_filter_node *n = g_new0(struct gt_simpletrace_filter_node, 1);
    n->op = op;
    n->left = left;
    n->right = right;
    g_ptr_array_add(p->f->nodes, n);
    return n;
}

/* The events that a name or pattern means. */
static struct gt_simpletrace_filter_node *pattern_node(struct parser *p, const char *pattern,
                                                       const char *where)
{
    size_t n = gt_trace_declarations_count(p->f->declared) + 1;
    bool any = false;
    struct gt_simpletrace_filter_node *node = new_node(p, GT_TRACE_FILTER_EVENTS, NULL, NULL);
    if (!node)
        return NULL;
    node->wanted = g_new0(bool, n);
    for (size_t i = 0; i < n; i++)
        any |= node->wanted[i] =
            gt_trace_match(pattern, gt_trace_declarations_at(p->f->declared, i)->name);
    return any ? node : fail(p, where, "no declared event matches '%s'", pattern);
}

/* Where each event has the argument; NULL: none has. */
static int8_t *find_places(const struct gt_simpletrace_filter *f, const char *name)
{
    size_t n = gt_trace_declarations_count(f->declared) + 1;
    int8_t *place = g_new(int8_t, n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct gt_trace_declaration *d = gt_trace_declarations_at(f->declared, i);
        place[i] = -1;
        for (unsigned j = 0; j < d->n_arguments; j++)
            if (strcmp(d->arguments[j].name, name) == 0)
                place[i] = (int8_t)j;
        any |= place[i] >= 0;
    }
    if (!any)
        g_clear_pointer(&place, g_free);
    return place;
}

static bool set_field(struct parser *p, struct gt_simpletrace_filter_operand *o)
{
    static const struct {
        const char *name;
        enum gt_simpletrace_filter_operand_kind kind;
    } fields[] = {{"event", GT_TRACE_OPERAND_EVENT},
                  {"pid", GT_TRACE_OPERAND_PID},
                  {"tid", GT_TRACE_OPERAND_TID},
                  {"time", GT_TRACE_OPERAND_TIME},
                  {"delta", GT_TRACE_OPERAND_DELTA}};
    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        if (strcmp(fields[i].name, p->lex.string.data) == 0) {
            o->kind = fields[i].kind;
            return true;
        }
    }
    fail(p, p->lex.start, "unknown field '@%s', expected @event, @pid, @tid, @time or @delta",
         p->lex.string.data);
    return false;
}

static bool is_text(const struct gt_simpletrace_filter_operand *o)
{
    return o->kind == GT_TRACE_OPERAND_STRING || o->kind == GT_TRACE_OPERAND_EVENT;
}

/* value = (ARGUMENT | FIELD) ["&" NUMBER] | NUMBER | STRING */
static bool parse_value(struct parser *p, struct gt_simpletrace_filter_operand *o)
{
    struct gt_base_expr_lexer *l = &p->lex;
    switch (l->token) {
    case GT_EXPR_NUMBER:
        o->kind = GT_TRACE_OPERAND_NUMBER;
        o->number = l->number;
        return next(p);
    case GT_EXPR_STRING:
        o->kind = GT_TRACE_OPERAND_STRING;
        o->string = g_string_new_len(l->string.data, (gssize)l->string.len);
        return next(p);
    case GT_EXPR_FIELD:
        if (!set_field(p, o))
            return false;
        break;
    case GT_EXPR_WORD:
        o->kind = GT_TRACE_OPERAND_ARGUMENT;
        o->place = find_places(p->f, l->string.data);
        if (!o->place)
            return fail(p, l->start, "no declared event has an argument '%s'", l->string.data);
        break;
    default:
        return fail(p, l->start, "expected a number, a string, an argument or a field");
    }
    const char *start = l->start;
    if (!next(p))
        return false;
    if (l->token != GT_EXPR_BITS)
        return true;
    if (!next(p))
        return false;
    if (l->token != GT_EXPR_NUMBER || l->number.negative)
        return fail(p, l->start, "expected a mask after &, a number");
    if (is_text(o))
        return fail(p, start, "@event has no bits");
    o->masked = true;
    o->mask = l->number.bits;
    return next(p);
}

static bool is_string_argument(const struct gt_trace_declaration *d, int8_t place)
{
    return d->arguments[place].kind == GT_TRACE_STRING;
}

/* Events whose argument is of the other type cannot fulfil the comparison. False: none can. */
static bool restrict_places(struct parser *p, struct gt_simpletrace_filter_operand *o,
                            const struct gt_simpletrace_filter_operand *other)
{
    size_t n = gt_trace_declarations_count(p->f->declared) + 1;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct gt_trace_declaration *d = gt_trace_declarations_at(p->f->declared, i);
        bool here = o->place[i] >= 0, text = is_text(other);
        if (here && other->kind == GT_TRACE_OPERAND_ARGUMENT) {
            here = other->place[i] >= 0;
            text = here && !other->masked && is_string_argument(d, other->place[i]);
        }
        if (!here || (is_string_argument(d, o->place[i]) && !o->masked) != text ||
            (o->masked && is_string_argument(d, o->place[i])))
            o->place[i] = -1;
        any |= o->place[i] >= 0;
    }
    return any;
}

static struct gt_simpletrace_filter_node *
check_types(struct parser *p, struct gt_simpletrace_filter_node *n, const char *start)
{
    struct gt_simpletrace_filter_operand *a = &n->a, *b = &n->b;
    bool pattern = n->comparison >= GT_EXPR_GLOB, order = n->comparison >= GT_EXPR_LESS && !pattern;
    if (pattern && b->kind != GT_TRACE_OPERAND_STRING)
        return fail(p, start, "expected a string with the pattern on the right");
    if (order && (is_text(a) || is_text(b)))
        return fail(p, start, "strings are compared by ==, !=, ~, =~ and !~");
    bool known = a->kind != GT_TRACE_OPERAND_ARGUMENT && b->kind != GT_TRACE_OPERAND_ARGUMENT;
    if (known ? is_text(a) != is_text(b)
              : (a->kind == GT_TRACE_OPERAND_ARGUMENT && !restrict_places(p, a, b)) ||
                    (b->kind == GT_TRACE_OPERAND_ARGUMENT && !restrict_places(p, b, a)))
        return fail(p, start, "a string is compared with a number, in every event");
    if (n->comparison < GT_EXPR_REGEX)
        return n;
    struct gt_error why;
    size_t at;
    if (gt_filter_regex_parse(b->string->str, &n->regex, &at, &why) < 0)
        return fail(p, start, "character %zu of the regular expression: %s", at + 1, why.text);
    return n;
}

/* What @event alone is compared with is known for each event beforehand. */
static struct gt_simpletrace_filter_node *settle(struct parser *p,
                                                 struct gt_simpletrace_filter_node *n)
{
    const struct gt_simpletrace_filter_operand *text =
        n->a.kind == GT_TRACE_OPERAND_EVENT ? &n->b : &n->a;
    if ((n->a.kind != GT_TRACE_OPERAND_EVENT && n->b.kind != GT_TRACE_OPERAND_EVENT) ||
        text->kind != GT_TRACE_OPERAND_STRING)
        return n;
    size_t count = gt_trace_declarations_count(p->f->declared) + 1;
    n->op = GT_TRACE_FILTER_EVENTS;
    n->wanted = g_new0(bool, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = gt_trace_declarations_at(p->f->declared, i)->name;
        n->wanted[i] = trace_filter_texts(n, p->f->scratch, name, strlen(name), text->string->str,
                                          text->string->len);
    }
    return n;
}

/* comparison = value [OPERATOR value] */
static struct gt_simpletrace_filter_node *parse_comparison(struct parser *p)
{
    const char *value = p->lex.start;
    struct gt_simpletrace_filter_node *n = new_node(p, GT_TRACE_FILTER_COMPARE, NULL, NULL);
    if (!n || !parse_value(p, &n->a))
        return NULL;
    const char *start = p->lex.start;
    if (p->lex.token < GT_EXPR_EQUAL) {
        if (!n->a.masked)
            return fail(p, start, "expected a comparison: == != < <= > >= ~ =~ or !~");
        n->comparison = GT_EXPR_UNEQUAL;
        n->b.kind = GT_TRACE_OPERAND_NUMBER;
        return check_types(p, n, value);
    }
    n->comparison = p->lex.token;
    if (!next(p) || !parse_value(p, &n->b))
        return NULL;
    return check_types(p, n, start) ? settle(p, n) : NULL;
}

/* Whether the word stands alone, so that it is an event's name. */
static bool is_alone(const struct gt_base_expr_lexer *l)
{
    struct gt_base_expr_lexer look = *l;
    if (strpbrk(l->string.data, "*?"))
        return true;
    look.string = (struct gt_text){0};
    look.err = NULL;
    bool read = gt_base_expr_next(&look) == 0;
    gt_text_free(&look.string);
    return read && (look.token == GT_EXPR_END || look.token == GT_EXPR_CLOSE ||
                    look.token == GT_EXPR_AND || look.token == GT_EXPR_OR);
}

/* leaf = PATTERN | comparison */
static void *parse_leaf(void *self)
{
    struct parser *p = self;
    const char *start = p->lex.start;
    if (p->lex.token != GT_EXPR_WORD || !is_alone(&p->lex))
        return parse_comparison(p);
    struct gt_simpletrace_filter_node *n = pattern_node(p, p->lex.string.data, start);
    return n && next(p) ? n : NULL;
}

static void *join(void *self, enum gt_base_expr_token op, void *left, void *right)
{
    return new_node(self,
                    op == GT_EXPR_AND  ? GT_TRACE_FILTER_AND
                    : op == GT_EXPR_OR ? GT_TRACE_FILTER_OR
                                       : GT_TRACE_FILTER_NOT,
                    left, right);
}

static const struct gt_base_expr_tree tree = {parse_leaf, join, GT_TRACE_FILTER_DEPTH};

int gt_simpletrace_filter_parse(struct gt_simpletrace_filter **out, const char *text,
                                const struct gt_trace_declarations *d, size_t *at,
                                struct gt_error *err)
{
    struct gt_simpletrace_filter *f = g_new0(struct gt_simpletrace_filter, 1);
    struct parser p = {.lex = {.text = text, .at = text, .start = text, .err = err}, .f = f};
    f->declared = d;
    f->nodes = g_ptr_array_new_with_free_func(free_node);
    f->scratch = g_string_new(NULL);
    f->root = gt_base_expr_parse(&p.lex, &tree, &p);
    gt_text_free(&p.lex.string);
    *out = f->root ? f : NULL;
    *at = (size_t)((p.where ? p.where : p.lex.start) - text);
    if (f->root)
        return 0;
    gt_simpletrace_filter_free(f);
    return GT_E_USAGE;
}

void gt_simpletrace_filter_free(struct gt_simpletrace_filter *f)
{
    if (!f)
        return;
    g_ptr_array_free(f->nodes, TRUE);
    g_string_free(f->scratch, TRUE);
    g_free(f);
}
