/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses what an option says of the functions that its pattern matches; and --where, the option
 * whose condition is about calls that have returned. */
#include "filter/set.h"
#include "filter/trigger.h"

#include <stdlib.h>
#include <string.h>

/* ["!"] */
static uint32_t own_bits(enum gt_filter_option option, bool negated)
{
    switch (option) {
    case GT_FILTER_ONLY:
        return negated ? GT_VERDICT_NOT : GT_VERDICT_ONLY;
    case GT_FILTER_NOT:
        return GT_VERDICT_NOT;
    case GT_FILTER_CALLERS:
        return GT_VERDICT_CALLERS;
    case GT_FILTER_HIDE:
        return GT_VERDICT_HIDE;
    case GT_FILTER_PLACE:
        return negated ? GT_VERDICT_NO_PLACE : GT_VERDICT_PLACE;
    default:
        return 0;
    }
}

/* "@hide" of -L, the only word that is not a scope. Returns the words without it. */
static struct gt_filter_span take_hide(struct gt_filter_span words, bool *hides)
{
    struct gt_filter_span first = gt_filter_span_until(words, ",@", true);
    *hides = gt_filter_span_is(first, "hide");
    if (!*hides)
        return words;
    if (first.n == words.n)
        return (struct gt_filter_span){NULL, 0};
    return (struct gt_filter_span){words.at + first.n + 1, words.n - first.n - 1};
}

static int parse_pattern(struct gt_filter_set *set, struct gt_filter_rule *r,
                         const struct gt_filter_source *s, struct gt_filter_span pattern,
                         struct gt_filter_span module)
{
    struct gt_error err;
    size_t at, before = module.at ? module.n + 1 : 0, n = before + pattern.n;
    char *text = malloc(n + 1);
    if (!text)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    if (module.at) {
        memcpy(text, module.at, module.n);
        text[module.n] = ':';
    }
    memcpy(text + before, pattern.at, pattern.n);
    int status =
        (r->option == GT_FILTER_PLACE ? gt_filter_pattern_parse_file : gt_filter_pattern_parse)(
            text, n, set->settings.match, &r->pattern, &at, &err);
    free(text);
    if (status == GT_E_NOMEM)
        return gt_error_set(s->err, status, "out of memory");
    if (status < 0)
        return gt_filter_source_fail(s, pattern.at + (at > before ? at - before : 0), status, "%s",
                                     err.text);
    return gt_filter_pattern_needs_lines(r->pattern)
               ? gt_filter_need(set, GT_FILTER_NEEDS_LINES, s, pattern.at,
                                "source lines are not known here")
               : 0;
}

/* ["!"] PAT ["@" WORDS] */
static int parse_usual(struct gt_filter_set *set, struct gt_filter_rule *r,
                       const struct gt_filter_source *s, struct gt_filter_span item)
{
    struct gt_filter_span module = {NULL, 0}, words = {NULL, 0};
    bool negated =
        item.n && *item.at == '!' && (r->option == GT_FILTER_ONLY || r->option == GT_FILTER_PLACE);
    if (negated)
        item = (struct gt_filter_span){item.at + 1, item.n - 1};
    struct gt_filter_span pattern = gt_filter_span_until(item, "@", false);
    if (pattern.n < item.n)
        words = (struct gt_filter_span){item.at + pattern.n + 1, item.n - pattern.n - 1};
    if (r->option == GT_FILTER_PLACE && words.at) {
        bool hides;
        words = take_hide(words, &hides);
        negated |= hides;
    }
    r->bits = own_bits(r->option, negated);
    int status = words.at ? gt_filter_trigger_parse(set, r, s, words, &module) : 0;
    if (status == 0)
        status = parse_pattern(set, r, s, pattern, module);
    if (status == 0 && r->option == GT_FILTER_TRIGGER && !r->bits && !r->n_actions &&
        (!r->values || gt_filter_rule_is_dynamic(r)))
        status = gt_filter_source_fail(s, pattern.at + pattern.n, GT_E_USAGE,
                                       "expected @ and an action, as %.*s@trace-on",
                                       (int)(pattern.n < 40 ? pattern.n : 40), pattern.at);
    return status;
}

/* [PATTERN ":"] CONDITION, after the last colon that is not in a string. Without a pattern: any
 * function. */
static int parse_where(struct gt_filter_set *set, struct gt_filter_rule *r,
                       const struct gt_filter_source *s, struct gt_filter_span item)
{
    const bool glob = set->settings.match == GT_FILTER_MATCH_GLOB;
    const struct gt_filter_span no_module = {NULL, 0};
    struct gt_filter_span pattern = {glob ? "*" : ".", 1}, condition = item;
    for (size_t at = 0; at < condition.n;) {
        size_t n = gt_filter_span_until(
                       (struct gt_filter_span){condition.at + at, condition.n - at}, ":", true)
                       .n;
        if (at + n == condition.n)
            break;
        pattern = (struct gt_filter_span){item.at, (size_t)(condition.at - item.at) + at + n};
        condition = (struct gt_filter_span){condition.at + at + n + 1, condition.n - at - n - 1};
        at = 0;
    }
    r->bits = GT_VERDICT_ONLY;
    int status = gt_filter_trigger_parse_condition(set, r, s, condition);
    return status == 0 ? parse_pattern(set, r, s, pattern, no_module) : status;
}

int gt_filter_rule_parse(struct gt_filter_set *set, struct gt_filter_rule *r,
                         const struct gt_filter_source *s, struct gt_filter_span item)
{
    return r->option == GT_FILTER_WHERE ? parse_where(set, r, s, item)
                                        : parse_usual(set, r, s, item);
}

/* ---- what --where finds -------------------------------------------------------------------- */

bool gt_filter_has_where(const struct gt_filter_verdict *v)
{
    for (const struct gt_filter_rule *const *r = v->rules; r && *r; r++)
        if ((*r)->option == GT_FILTER_WHERE)
            return true;
    return false;
}

bool gt_filter_set_has_where(const struct gt_filter_set *set)
{
    for (size_t i = 0; i < set->n_rules; i++)
        if (set->rule[i]->option == GT_FILTER_WHERE)
            return true;
    return false;
}

static bool own_value(const void *self, unsigned number, struct gt_base_expr_number *out)
{
    const struct gt_filter_finished *call = self;
    *out = (struct gt_base_expr_number){false, number == GT_VALUE_DEPTH ? call->depth : call->took};
    return true;
}

static bool call_value(const void *self, const struct gt_base_call_value_name *name,
                       struct gt_base_call_value *out)
{
    const struct gt_filter_finished *call = self;
    return call->value(call->self, name, out);
}

bool gt_filter_where(const struct gt_filter_verdict *v, const struct gt_filter_finished *call)
{
    const struct gt_filter_condition_source source = {own_value, call_value, call};
    for (const struct gt_filter_rule *const *r = v->rules; r && *r; r++)
        if ((*r)->option == GT_FILTER_WHERE && gt_filter_condition_holds((*r)->condition, &source))
            return true;
    return false;
}
