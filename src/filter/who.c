/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who runs in a state: which scopes hold. See state.h. */
#include "filter/rule.h"
#include "filter/state.h"

static bool is_scope(const struct gt_filter_scope *scope, const char *name, uint64_t id,
                     uint64_t pid)
{
    switch (scope->kind) {
    case GT_SCOPE_TASK:
        return (scope->numeric && scope->number == id) ||
               (name && gt_regex_match(scope->glob, name));
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
