/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates a filter: see filter.h. */
#include "events/simpletrace/filter.h"

#include "events/simpletrace/filter_nodes.h"

#include <guesttrace/control.h>
#include <string.h>

/* An operand's value in a record. */
struct value {
    const char *text; /* NULL: a number */
    size_t size;
    struct gt_expr_number number;
};

static struct gt_expr_number signed_number(uint64_t bits)
{
    return (struct gt_expr_number){(int64_t)bits < 0, bits};
}

static bool get_argument(const struct gt_trace_filter_operand *o, const struct gt_trace_record *r,
                         struct value *v)
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
static bool get_value(const struct gt_trace_filter_operand *o, const struct gt_trace_record *r,
                      uint64_t before, struct value *v)
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
        v->number = (struct gt_expr_number){false, v->number.bits & o->mask};
    return true;
}

bool gt_trace_filter_texts(const struct gt_trace_filter_node *n, GString *scratch, const char *a,
                           size_t a_size, const char *b, size_t b_size)
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
        return gt_regex_match_bytes(n->regex, a, a_size) == (n->comparison == GT_EXPR_REGEX);
    }
}

static bool eval_comparison(const struct gt_trace_filter_node *n, GString *scratch,
                            const struct gt_trace_record *r, uint64_t before)
{
    struct value a, b;
    if (!get_value(&n->a, r, before, &a) || !get_value(&n->b, r, before, &b))
        return false;
    if (a.text && b.text)
        return gt_trace_filter_texts(n, scratch, a.text, a.size, b.text, b.size);
    return gt_expr_compare(n->comparison, a.number, b.number);
}

static bool eval(const struct gt_trace_filter_node *n, GString *scratch,
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

bool gt_trace_filter_match(struct gt_trace_filter *f, const struct gt_trace_record *r,
                           uint64_t before)
{
    return eval(f->root, f->scratch, r, before);
}

uint64_t gt_trace_filter_undecided(const struct gt_trace_filter *f)
{
    uint64_t n = 0;
    for (guint i = 0; i < f->nodes->len; i++)
        n += gt_regex_undecided(((const struct gt_trace_filter_node *)f->nodes->pdata[i])->regex);
    return n;
}
