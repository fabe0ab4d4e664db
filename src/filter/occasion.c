/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules at one call or return: see occasion.h; triggers of other causes; and the state that all
 * tasks share. */
#include "filter/occasion.h"

#include "filter/rule.h"
#include "filter/state.h"

#include <sys/mman.h>

/* How often: the rule was met once more. */
static bool is_due(struct gt_filter_live *live, const struct gt_filter_rule *r)
{
    if (!r->after && !r->every && !r->count)
        return true;
    uint64_t *count = live->count[r->number];
    uint64_t n = __atomic_add_fetch(&count[0], 1, __ATOMIC_RELAXED);
    if (n <= r->after || (r->every && (n - r->after - 1) % r->every))
        return false;
    return !r->count || __atomic_fetch_add(&count[1], 1, __ATOMIC_RELAXED) < r->count;
}

static bool value_of(const void *self, unsigned number, struct gt_base_expr_number *out)
{
    const struct gt_filter_occasion *o = self;
    *out = (struct gt_base_expr_number){false, number == GT_VALUE_DEPTH ? o->depth : o->took};
    return number == GT_VALUE_DEPTH || o->at_return;
}

static bool value_of_call(const void *self, const struct gt_base_call_value_name *name,
                          struct gt_base_call_value *out)
{
    const struct gt_filter_occasion *o = self;
    const struct gt_filter_sink *sink = o->s->sink;
    return sink->value && (o->at_return || name->place != GT_CALL_RESULT) &&
           sink->value(o->s->self, o->depth, name, out);
}

static bool applies(const struct gt_filter_occasion *o, const struct gt_filter_rule *r)
{
    if (r->at_return != o->at_return || (o->s->scopes & r->scopes) != r->scopes)
        return false;
    if (r->option == GT_FILTER_WHERE)
        return o->s->chosen;
    const struct gt_filter_condition_source source = {value_of, value_of_call, o};
    if (r->condition && !gt_filter_condition_holds(r->condition, &source))
        return false;
    return is_due(o->s->live, r);
}

uint32_t gt_filter_occasion_meet(const struct gt_filter_occasion *o,
                                 struct gt_filter_verdict *merged)
{
    bool merges = merged && o->v->bits & GT_VERDICT_RULES;
    uint32_t bit = 1, fired = 0;
    if (merged)
        *merged = *o->v;
    if (merges)
        merged->bits &= GT_VERDICT_UNSELECTED;
    for (const struct gt_filter_rule *const *r = o->v->rules; *r; r++) {
        if (applies(o, *r)) {
            if (merges)
                gt_filter_rule_merge(*r, merged);
            if ((*r)->n_actions)
                fired |= bit;
        }
        if ((*r)->n_actions)
            bit <<= 1;
    }
    return fired;
}

/* What uftrace has too it does only where a call passes the filters. */
static bool is_performed(const struct gt_filter_occasion *o, const struct gt_filter_action *a,
                         bool passes)
{
    return a->at_return == o->at_return &&
           (passes || a->kind == GT_ACTION_SNAPSHOT || a->kind == GT_ACTION_MARK);
}

static bool is_switch(const struct gt_filter_action *a)
{
    return a->kind == GT_ACTION_TRACE_ON || a->kind == GT_ACTION_TRACE_OFF;
}

bool gt_filter_occasion_acts(const struct gt_filter_occasion *o, uint32_t fired, bool passes)
{
    for (const struct gt_filter_rule *const *r = o->v->rules; *r && fired; r++) {
        for (size_t i = 0; fired & 1 && i < (*r)->n_actions; i++)
            if (!is_switch(&(*r)->action[i]) && is_performed(o, &(*r)->action[i], passes))
                return true;
        if ((*r)->n_actions)
            fired >>= 1;
    }
    return false;
}

static void act(struct gt_filter_live *live, const struct gt_filter_sink *sink, void *self,
                const struct gt_filter_act *a)
{
    if (is_switch(a->action))
        gt_filter_live_switch(live, a->action->kind == GT_ACTION_TRACE_ON);
    else if (sink->act)
        sink->act(self, a);
}

void gt_filter_occasion_perform(const struct gt_filter_occasion *o, uint32_t fired, bool passes)
{
    const struct gt_filter_state *s = o->s;
    for (const struct gt_filter_rule *const *r = o->v->rules; *r && fired; r++) {
        for (size_t i = 0; fired & 1 && i < (*r)->n_actions; i++)
            if (is_performed(o, &(*r)->action[i], passes))
                act(s->live, s->sink, s->self,
                    &(struct gt_filter_act){&(*r)->action[i], (*r)->text, o->depth, o->time,
                                            o->took});
        if ((*r)->n_actions)
            fired >>= 1;
    }
}

static bool status_of(const void *self, unsigned number, struct gt_base_expr_number *out)
{
    (void)number;
    *out = (struct gt_base_expr_number){false, *(const uint64_t *)self};
    return true;
}

/* A trigger of another cause than a call. */
static void fire(struct gt_filter_live *live, const struct gt_filter_rule *r, uint64_t time,
                 const struct gt_filter_sink *sink, void *self)
{
    if (!is_due(live, r))
        return;
    for (size_t i = 0; i < r->n_actions; i++)
        act(live, sink, self, &(struct gt_filter_act){&r->action[i], r->text, 0, time, 0});
}

static bool is_said(const struct gt_filter_rule *r, enum gt_filter_said kind, const char *text)
{
    return r->cause == (kind == GT_FILTER_CONSOLE ? GT_CAUSE_CONSOLE : GT_CAUSE_QMP) &&
           gt_filter_regex_match(r->said, text);
}

bool gt_filter_listens(const struct gt_filter_set *set, enum gt_filter_said kind, const char *text)
{
    for (size_t i = 0; i < set->n_rules; i++)
        if (is_said(set->rule[i], kind, text))
            return true;
    return false;
}

void gt_filter_said(const struct gt_filter_set *set, struct gt_filter_live *live,
                    enum gt_filter_said kind, const char *text, uint64_t time,
                    const struct gt_filter_sink *sink, void *self)
{
    for (size_t i = 0; i < set->n_rules; i++)
        if (is_said(set->rule[i], kind, text)) {
            __atomic_store_n(&set->rule[i]->used, true, __ATOMIC_RELAXED);
            fire(live, set->rule[i], time, sink, self);
        }
}

void gt_filter_ended(const struct gt_filter_set *set, struct gt_filter_live *live, bool by_signal,
                     uint64_t status, uint64_t time, const struct gt_filter_sink *sink, void *self)
{
    enum gt_filter_rule_cause cause = by_signal ? GT_CAUSE_SIGNAL : GT_CAUSE_EXIT;
    for (size_t i = 0; i < set->n_rules; i++) {
        struct gt_filter_rule *r = set->rule[i];
        const struct gt_filter_condition_source source = {status_of, NULL, &status};
        if (r->cause == cause &&
            (!r->condition || gt_filter_condition_holds(r->condition, &source))) {
            __atomic_store_n(&r->used, true, __ATOMIC_RELAXED);
            fire(live, r, time, sink, self);
        }
    }
}

/* What all tasks of a recording have in common: whether it is on, and how often triggers fired. */

static size_t size_of(size_t rules)
{
    return sizeof(struct gt_filter_live) + rules * sizeof(((struct gt_filter_live *)0)->count[0]);
}

struct gt_filter_live *gt_filter_live_new(const struct gt_filter_set *set)
{
    struct gt_filter_live *live = mmap(NULL, size_of(set->n_rules), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (live == MAP_FAILED)
        return NULL;
    live->n = set->n_rules;
    live->switched = !set->off;
    return live;
}

void gt_filter_live_free(struct gt_filter_live *live)
{
    if (live)
        munmap(live, size_of(live->n));
}

static void set_switch(struct gt_filter_live *live, bool on)
{
    uint32_t now = __atomic_load_n(&live->switched, __ATOMIC_SEQ_CST);
    while ((now & 1) != on && !__atomic_compare_exchange_n(&live->switched, &now, now + 1, false,
                                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* Of two that switch on and finish at once, one sees what the other has done. */
void gt_filter_live_switch(struct gt_filter_live *live, bool on)
{
    set_switch(live, on && !__atomic_load_n(&live->finished, __ATOMIC_SEQ_CST));
    if (on && __atomic_load_n(&live->finished, __ATOMIC_SEQ_CST))
        set_switch(live, false);
}

void gt_filter_live_finish(struct gt_filter_live *live)
{
    __atomic_store_n(&live->finished, true, __ATOMIC_SEQ_CST);
    gt_filter_live_switch(live, false);
}
