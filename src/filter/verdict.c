/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rules of a set a function has, and which scopes a task is in. */
#include "filter/set.h"

#include "filter/rule.h"
#include "filter/state.h"

#include <stdlib.h>
#include <string.h>

/* The rules that match, in the order in which they apply. */
struct matches {
    const struct gt_filter_function *f;
    struct gt_filter_rule **rule;
    size_t n;
};

static bool comes_before(const struct gt_filter_rule *a, const struct gt_filter_rule *b)
{
    int order = gt_filter_rule_order(a) - gt_filter_rule_order(b);
    return order ? order < 0 : a->number < b->number;
}

static void found(void *self, struct gt_filter_rule *r)
{
    struct matches *m = self;
    if (r->level && (!m->f->level || !gt_filter_regex_match(r->level, m->f->level)))
        return;
    __atomic_store_n(&r->used, true, __ATOMIC_RELAXED);
    size_t at = m->n;
    while (at && comes_before(r, m->rule[at - 1]))
        at--;
    if (at && m->rule[at - 1] == r) /* by two of the function's names */
        return;
    memmove(m->rule + at + 1, m->rule + at, (m->n - at) * sizeof *m->rule);
    m->rule[at] = r;
    m->n++;
}

static bool is_selected(const struct gt_filter_set *set, const struct gt_filter_function *f)
{
    if ((set->kernel_only && !f->kernel) || (set->user_only && f->kernel))
        return false;
    for (size_t i = 0; i < set->n_levels; i++)
        if (f->level && gt_filter_regex_match(set->level[i], f->level))
            return true;
    return !set->n_levels;
}

static uint32_t acts(const struct gt_filter_rule *r)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < r->n_actions; i++)
        bits |= r->action[i].at_return ? GT_VERDICT_RETURNS : GT_VERDICT_ACTS;
    return bits;
}

void gt_filter_rule_merge(const struct gt_filter_rule *r, struct gt_filter_verdict *v)
{
    gt_filter_rule_merge_bits(&v->bits, r->bits);
    if (r->bits & GT_VERDICT_DEPTH)
        v->depth = r->depth;
    if (r->bits & GT_VERDICT_TIME)
        v->time = r->time;
    if (r->bits & GT_VERDICT_SIZE)
        v->size = r->size;
}

/* Rules that decide at each call, or act, are kept in a list. */
static int keep_rules(const struct gt_filter_set *set, const struct matches *m,
                      struct gt_filter_verdict *v)
{
    size_t n = 0, triggers = 0;
    for (size_t i = 0; i < m->n; i++) {
        uint32_t bits = acts(m->rule[i]);
        v->bits |= bits;
        triggers += bits != 0;
        if (m->rule[i]->bits && gt_filter_rule_is_dynamic(m->rule[i]))
            v->bits |= GT_VERDICT_RULES;
    }
    if (!(v->bits & (GT_VERDICT_RULES | GT_VERDICT_ACTS | GT_VERDICT_RETURNS)))
        return 0;
    if (triggers > GT_FILTER_TRIGGERS)
        return GT_E_RANGE;
    for (size_t i = 0; i < m->n; i++)
        if (v->bits & GT_VERDICT_RULES || m->rule[i]->n_actions)
            m->rule[n++] = m->rule[i];
    v->rules = gt_filter_lists_add(set->lists, m->rule, n);
    return v->rules ? 0 : GT_E_NOMEM;
}

int gt_filter_verdict(const struct gt_filter_set *set, const struct gt_filter_function *f,
                      struct gt_filter_verdict *out)
{
    struct matches m = {f, calloc(set->n_rules + 1, sizeof *m.rule), 0};
    *out = (struct gt_filter_verdict){.own_size =
                                          f->size < UINT32_MAX ? (uint32_t)f->size : UINT32_MAX};
    if (!m.rule)
        return GT_E_NOMEM;
    gt_filter_index_find(&set->index, f, found, &m);
    for (size_t i = 0; i < m.n; i++)
        if (!gt_filter_rule_is_dynamic(m.rule[i]))
            gt_filter_rule_merge(m.rule[i], out);
    int status = keep_rules(set, &m, out);
    if (!is_selected(set, f))
        out->bits |= GT_VERDICT_UNSELECTED;
    free(m.rule);
    return status;
}

bool gt_filter_reads(const struct gt_filter_verdict *v)
{
    for (const struct gt_filter_rule *const *r = v->rules; r && *r; r++)
        for (size_t i = 0; i < (*r)->n_actions; i++)
            if ((*r)->action[i].kind == GT_ACTION_READ)
                return true;
    return false;
}

bool gt_filter_matters(const struct gt_filter_set *set, const struct gt_filter_verdict *v)
{
    const uint32_t changes = GT_VERDICT_ONLY | GT_VERDICT_NOT | GT_VERDICT_CALLERS |
                             GT_VERDICT_DEPTH | GT_VERDICT_TIME | GT_VERDICT_SIZE |
                             GT_VERDICT_TRACE;
    if (v->bits & changes || gt_filter_acts(v))
        return true;
    if (v->bits & (GT_VERDICT_HIDE | GT_VERDICT_NO_PLACE | GT_VERDICT_UNSELECTED))
        return false;
    if (set->places && !(v->bits & GT_VERDICT_PLACE))
        return false;
    return set->limits_size || v->own_size >= set->size;
}

/* Who runs in a state: which scopes hold. See state.h. */

static bool is_scope(const struct gt_filter_scope *scope, const char *name, uint64_t id,
                     uint64_t pid)
{
    switch (scope->kind) {
    case GT_SCOPE_TASK:
        return (scope->numeric && scope->number == id) ||
               (name && gt_filter_regex_match(scope->glob, name));
    case GT_SCOPE_PID:
        return scope->number == pid;
    default:
        return false;
    }
}

static void select_task(struct gt_filter_state *s)
{
    const struct gt_filter_set *set = s->set;
    s->skips = false; /* until the next frame */
    s->selected =
        (!set->tasks || s->scopes & set->tasks) && (!set->vcpus || s->scopes & set->vcpus);
}

void gt_filter_state_task(struct gt_filter_state *s, const char *name, uint64_t id, uint64_t pid)
{
    for (size_t i = 0; i < s->set->n_scopes && i < GT_FILTER_SCOPES; i++) {
        const struct gt_filter_scope *scope = &s->set->scope[i];
        if (scope->kind == GT_SCOPE_CPU)
            continue;
        s->scopes &= ~(UINT64_C(1) << i);
        s->scopes |= (uint64_t)is_scope(scope, name, id, pid) << i;
    }
    select_task(s);
}

void gt_filter_state_cpu(struct gt_filter_state *s, uint64_t cpu)
{
    for (size_t i = 0; i < s->set->n_scopes && i < GT_FILTER_SCOPES; i++) {
        const struct gt_filter_scope *scope = &s->set->scope[i];
        if (scope->kind != GT_SCOPE_CPU)
            continue;
        s->scopes &= ~(UINT64_C(1) << i);
        s->scopes |= (uint64_t)(scope->number == cpu) << i;
    }
    select_task(s);
}
