/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a set of options, with the index and the lists of its rules: see filter.h. */
#include "filter/set.h"

#include "base/array.h"
#include "base/fnv.h"
#include "filter/trigger.h"

#include <stdlib.h>
#include <string.h>

struct gt_filter_set *gt_filter_set_new(const struct gt_filter_settings *settings)
{
    struct gt_filter_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    if (settings)
        set->settings = *settings;
    set->lists = gt_filter_lists_new();
    if (!set->lists) {
        gt_filter_set_free(set);
        return NULL;
    }
    set->depth = UINT32_MAX;
    return set;
}

static void free_rule(struct gt_filter_rule *r)
{
    free(r->option_name);
    free(r->text);
    free(r->values);
    gt_filter_pattern_free(r->pattern);
    gt_filter_regex_free(r->said);
    gt_filter_condition_free(r->condition);
    gt_filter_regex_free(r->level);
    for (size_t i = 0; i < r->n_actions; i++)
        free(r->action[i].text);
    free(r);
}

void gt_filter_set_free(struct gt_filter_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n_rules; i++)
        free_rule(set->rule[i]);
    for (size_t i = 0; i < set->n_scopes; i++)
        gt_filter_scope_finish(&set->scope[i]);
    for (size_t i = 0; i < set->n_levels; i++)
        gt_filter_regex_free(set->level[i]);
    gt_filter_index_finish(&set->index);
    gt_filter_lists_free(set->lists);
    free(set->rule);
    free(set->level);
    free(set);
}

static int keep(struct gt_filter_set *set, struct gt_filter_rule *r, struct gt_error *err)
{
    if (!GT_ARRAY_GROW(&set->rule, &set->room_rules, set->n_rules + 1))
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (r->cause == GT_CAUSE_CALL && !gt_filter_index_add(&set->index, r))
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    size_t at = set->n_rules;
    while (at && gt_filter_rule_order(set->rule[at - 1]) > gt_filter_rule_order(r))
        at--;
    memmove(set->rule + at + 1, set->rule + at, (set->n_rules - at) * sizeof *set->rule);
    set->rule[at] = r;
    r->number = (uint32_t)set->n_rules++;
    set->only |= (r->bits & GT_VERDICT_ONLY) != 0;
    set->places |= (r->bits & GT_VERDICT_PLACE) != 0;
    set->callers |= (r->bits & GT_VERDICT_CALLERS) != 0;
    set->limits_size |= (r->bits & GT_VERDICT_SIZE) != 0;
    return 0;
}

static int add_rule(struct gt_filter_set *set, enum gt_filter_option option,
                    const struct gt_filter_source *s, struct gt_filter_span item)
{
    struct gt_filter_rule *r = calloc(1, sizeof *r);
    if (!r)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    r->option = option;
    r->option_name = strdup(s->option);
    r->text = gt_filter_span_copy(item);
    int status = r->option_name && r->text ? 0 : gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    if (status == 0 && option == GT_FILTER_TRIGGER)
        status = gt_filter_cause_parse(set, r, s, item);
    if (status == 0 && r->cause == GT_CAUSE_CALL)
        status = gt_filter_rule_parse(set, r, s, item);
    if (status == 0)
        status = keep(set, r, s->err);
    if (status < 0)
        free_rule(r);
    return status;
}

static int add_rules(struct gt_filter_set *set, enum gt_filter_option option,
                     const struct gt_filter_source *s)
{
    struct gt_filter_span all = {s->text, strlen(s->text)};
    for (;;) {
        struct gt_filter_span item = gt_filter_span_until(all, ";", true);
        int status = add_rule(set, option, s, item);
        if (status < 0 || item.n == all.n)
            return status;
        all = (struct gt_filter_span){all.at + item.n + 1, all.n - item.n - 1};
    }
}

static int set_depth(struct gt_filter_set *set, const struct gt_filter_source *s)
{
    uint64_t depth;
    if (!gt_filter_span_number((struct gt_filter_span){s->text, strlen(s->text)}, &depth) ||
        !depth || depth > UINT32_MAX)
        return gt_filter_source_fail(s, s->text, GT_E_USAGE,
                                     "expected a depth, a number from 1 on");
    set->depth = (uint32_t)depth;
    return 0;
}

static int set_size(struct gt_filter_set *set, const struct gt_filter_source *s)
{
    uint64_t size;
    if (!gt_filter_span_number((struct gt_filter_span){s->text, strlen(s->text)}, &size) ||
        size > UINT32_MAX)
        return gt_filter_source_fail(s, s->text, GT_E_USAGE, "expected a size in bytes, a number");
    set->size = (uint32_t)size;
    return 0;
}

static int set_time(struct gt_filter_set *set, const struct gt_filter_source *s)
{
    bool insns;
    uint64_t time;
    if (!gt_filter_span_time((struct gt_filter_span){s->text, strlen(s->text)}, &time, &insns))
        return gt_filter_source_fail(s, s->text, GT_E_USAGE,
                                     "expected a time, as 5us, 1.5ms or 5000insn");
    if (insns && set->settings.needs & GT_FILTER_NEEDS_INSNS)
        return gt_filter_source_fail(s, s->text, GT_E_UNSUPPORTED,
                                     "the times here are not numbers of instructions");
    set->time = time;
    return 0;
}

static int add_level(struct gt_filter_set *set, const struct gt_filter_source *s)
{
    if (!GT_ARRAY_GROW(&set->level, &set->room_levels, set->n_levels + 1))
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int status = gt_filter_level_parse(set, s, (struct gt_filter_span){s->text, strlen(s->text)},
                                       &set->level[set->n_levels]);
    if (status == 0)
        set->n_levels++;
    return status;
}

static int select_level(struct gt_filter_set *set, bool *which, const struct gt_filter_source *s)
{
    set->uses |= GT_FILTER_NEEDS_KERNEL;
    if (set->settings.needs & GT_FILTER_NEEDS_KERNEL)
        return gt_error_set(s->err, GT_E_UNSUPPORTED,
                            "%s: which functions are the kernel's is not known here", s->option);
    if (set->kernel_only || set->user_only)
        return *which
                   ? 0
                   : gt_error_set(s->err, GT_E_USAGE,
                                  "%s: the kernel's calls only and the programs' only are nothing",
                                  s->option);
    *which = true;
    return 0;
}

static int select_handlers(struct gt_filter_set *set, const struct gt_filter_source *s)
{
    if (set->settings.needs & GT_FILTER_NEEDS_HANDLERS)
        return gt_error_set(s->err, GT_E_UNSUPPORTED,
                            "%s: which calls are handlers is not known here", s->option);
    set->no_handlers = true;
    return 0;
}

int gt_filter_set_add(struct gt_filter_set *set, enum gt_filter_option option, const char *name,
                      const char *value, struct gt_error *err)
{
    const struct gt_filter_source s = {name, value ? value : "", err};
    const struct gt_filter_span all = {s.text, strlen(s.text)};
    switch (option) {
    case GT_FILTER_DEPTH:
        return set_depth(set, &s);
    case GT_FILTER_TIME:
        return set_time(set, &s);
    case GT_FILTER_SIZE:
        return set_size(set, &s);
    case GT_FILTER_TASK:
        return gt_filter_scope_add(set, GT_SCOPE_TASK, &s, all, &set->tasks);
    case GT_FILTER_VCPU:
        return gt_filter_scope_add(set, GT_SCOPE_CPU, &s, all, &set->vcpus);
    case GT_FILTER_PRIVILEGE:
        return add_level(set, &s);
    case GT_FILTER_KERNEL_ONLY:
        return select_level(set, &set->kernel_only, &s);
    case GT_FILTER_USER_ONLY:
        return select_level(set, &set->user_only, &s);
    case GT_FILTER_NO_HANDLERS:
        return select_handlers(set, &s);
    case GT_FILTER_OFF:
        set->off = true;
        return 0;
    default:
        return add_rules(set, option, &s);
    }
}

static bool only_watches(const struct gt_filter_rule *r)
{
    for (size_t i = 0; i < r->n_actions; i++)
        if (r->action[i].kind != GT_ACTION_MARK && r->action[i].kind != GT_ACTION_SNAPSHOT)
            return false;
    return r->cause != GT_CAUSE_CALL || gt_filter_rule_only_values(r);
}

bool gt_filter_set_is_empty(const struct gt_filter_set *set)
{
    for (size_t i = 0; i < set->n_rules; i++)
        if (!gt_filter_rule_only_values(set->rule[i]))
            return false;
    return gt_filter_set_only_watches(set);
}

bool gt_filter_set_only_watches(const struct gt_filter_set *set)
{
    for (size_t i = 0; i < set->n_rules; i++)
        if (!only_watches(set->rule[i]))
            return false;
    return set->depth == UINT32_MAX && !set->size && !set->time && !set->off && !set->no_handlers &&
           !set->kernel_only && !set->user_only && !set->tasks && !set->vcpus && !set->n_levels;
}

uint32_t gt_filter_set_uses(const struct gt_filter_set *set)
{
    return set->uses;
}

static bool has_action(const struct gt_filter_set *set, enum gt_filter_action_kind kind)
{
    for (size_t i = 0; i < set->n_rules; i++)
        for (size_t k = 0; k < set->rule[i]->n_actions; k++)
            if (set->rule[i]->action[k].kind == kind)
                return true;
    return false;
}

static bool acts_while_off(const struct gt_filter_rule *r)
{
    for (size_t i = 0; i < r->n_actions; i++)
        if (r->action[i].kind != GT_ACTION_TRACE_OFF)
            return true;
    return r->bits & GT_VERDICT_ON;
}

bool gt_filter_set_acts_while_off(const struct gt_filter_set *set)
{
    for (size_t i = 0; i < set->n_rules; i++)
        if (set->rule[i]->cause == GT_CAUSE_CALL && acts_while_off(set->rule[i]))
            return true;
    return false;
}

bool gt_filter_set_finishes(const struct gt_filter_set *set)
{
    return has_action(set, GT_ACTION_FINISH);
}

bool gt_filter_set_names_tasks(const struct gt_filter_set *set)
{
    for (size_t i = 0; i < set->n_scopes; i++)
        if (set->scope[i].kind == GT_SCOPE_TASK && !set->scope[i].numeric)
            return true;
    return false;
}

bool gt_filter_set_is_local(const struct gt_filter_set *set)
{
    for (size_t i = 0; i < set->n_rules; i++) {
        const struct gt_filter_rule *r = set->rule[i];
        if (r->bits & (GT_VERDICT_ON | GT_VERDICT_OFF) || r->n_actions || r->after || r->every ||
            r->count)
            return false;
    }
    return true;
}

static uint64_t undecided(const struct gt_filter_rule *r)
{
    return gt_filter_pattern_undecided(r->pattern) + gt_filter_regex_undecided(r->said) +
           gt_filter_regex_undecided(r->level);
}

bool gt_filter_set_unused(const struct gt_filter_set *set, size_t i, struct gt_filter_unused *out)
{
    for (size_t k = 0; k < set->n_rules; k++) {
        const struct gt_filter_rule *r = set->rule[k];
        const char *other = gt_filter_cause_subject(r);
        bool used = __atomic_load_n(&r->used, __ATOMIC_RELAXED);
        const char *value = used ? gt_filter_rule_unknown_value(r) : NULL;
        uint64_t unclear = undecided(r);
        if ((used && !value && !unclear) || i-- > 0)
            continue;
        *out =
            (struct gt_filter_unused){.undecided = unclear,
                                      .value = value,
                                      .option = r->option_name,
                                      .text = r->text,
                                      .other = other,
                                      .name = other ? "" : gt_filter_pattern_name(r->pattern),
                                      .lines = !other && gt_filter_pattern_needs_lines(r->pattern)};
        return true;
    }
    return false;
}

/* Lists of rules: many functions have the same ones. */

enum { TRIED = 16 }; /* newest lists that are compared */

struct gt_filter_list {
    struct gt_filter_list *next;
    size_t n;
    const struct gt_filter_rule *rule[];
};

struct gt_filter_lists *gt_filter_lists_new(void)
{
    struct gt_filter_lists *l = calloc(1, sizeof *l);
    if (l)
        pthread_mutex_init(&l->lock, NULL);
    return l;
}

void gt_filter_lists_free(struct gt_filter_lists *l)
{
    if (!l)
        return;
    for (struct gt_filter_list *at = l->first, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static const struct gt_filter_list *find(const struct gt_filter_lists *l,
                                         struct gt_filter_rule *const *rule, size_t n)
{
    const struct gt_filter_list *at = l->first;
    for (int i = 0; at && i < TRIED; i++, at = at->next)
        if (at->n == n && memcmp(at->rule, rule, n * sizeof *rule) == 0)
            return at;
    return NULL;
}

const struct gt_filter_rule *const *
gt_filter_lists_add(struct gt_filter_lists *l, struct gt_filter_rule *const *rule, size_t n)
{
    pthread_mutex_lock(&l->lock);
    const struct gt_filter_list *there = find(l, rule, n);
    struct gt_filter_list *list = NULL;
    if (!there)
        list = calloc(1, sizeof *list + (n + 1) * sizeof *rule);
    if (list) {
        list->n = n;
        memcpy(list->rule, rule, n * sizeof *rule);
        list->next = l->first;
        l->first = list;
        there = list;
    }
    pthread_mutex_unlock(&l->lock);
    return there ? there->rule : NULL;
}

/* Finds the rules of a function. Patterns of one name are found by it, however many there are; the
 * others are tried one after the other. */

static uint64_t hash(const char *name)
{
    uint64_t h = GT_FNV_BEGIN;
    for (; *name; name++)
        h = gt_bytes_fnv(h, (uint8_t)*name);
    return h;
}

static void link_rule(struct gt_filter_index *x, struct gt_filter_rule *r)
{
    struct gt_filter_rule **b =
        &x->bucket[hash(gt_filter_pattern_exact(r->pattern)) & (x->n_buckets - 1)];
    r->next = *b;
    *b = r;
}

static bool grow(struct gt_filter_index *x)
{
    struct gt_filter_index larger = *x;
    larger.n_buckets = x->n_buckets ? 2 * x->n_buckets : 16;
    larger.bucket = calloc(larger.n_buckets, sizeof *larger.bucket);
    if (!larger.bucket)
        return false;
    for (size_t i = 0; i < x->n_buckets; i++)
        for (struct gt_filter_rule *r = x->bucket[i], *next; r; r = next) {
            next = r->next;
            link_rule(&larger, r);
        }
    free(x->bucket);
    *x = larger;
    return true;
}

bool gt_filter_index_add(struct gt_filter_index *x, struct gt_filter_rule *r)
{
    if (!gt_filter_pattern_exact(r->pattern)) {
        if (!GT_ARRAY_GROW(&x->other, &x->room_other, x->n_other + 1))
            return false;
        x->other[x->n_other++] = r;
        return true;
    }
    if (x->n_named == x->n_buckets && !grow(x))
        return false;
    x->n_named++;
    link_rule(x, r);
    return true;
}

void gt_filter_index_finish(struct gt_filter_index *x)
{
    free(x->bucket);
    free(x->other);
}

static void find_name(const struct gt_filter_index *x, const char *name,
                      void (*found)(void *self, struct gt_filter_rule *r), void *self)
{
    if (!x->n_buckets)
        return;
    for (struct gt_filter_rule *r = x->bucket[hash(name) & (x->n_buckets - 1)]; r; r = r->next)
        if (strcmp(gt_filter_pattern_exact(r->pattern), name) == 0)
            found(self, r);
}

void gt_filter_index_find(const struct gt_filter_index *x, const struct gt_filter_function *f,
                          void (*found)(void *self, struct gt_filter_rule *r), void *self)
{
    if (f->name)
        find_name(x, f->name, found, self);
    for (const char *const *also = f->also; also && *also; also++)
        find_name(x, *also, found, self);
    for (size_t i = 0; i < x->n_other; i++)
        if (gt_filter_pattern_match(x->other[i]->pattern, f))
            found(self, x->other[i]);
}
