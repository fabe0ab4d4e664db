/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of calls in triggers: those that are recorded, and those that conditions compare. */
#include "filter/values.h"

#include "filter/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gt_filter_span after_number(struct gt_filter_span span)
{
    while (span.n && *span.at >= '0' && *span.at <= '9')
        span = (struct gt_filter_span){span.at + 1, span.n - 1};
    return span;
}

bool gt_trigger_is_value(struct gt_filter_span word)
{
    static const char *const prefix[] = {"arg", "fparg", "retval"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        size_t n = strlen(prefix[i]);
        if (word.n < n || strncmp(word.at, prefix[i], n) != 0)
            continue;
        struct gt_filter_span rest = {word.at + n, word.n - n}, end = after_number(rest);
        if (*prefix[i] == 'r' ? end.n == rest.n : end.n < rest.n)
            return !end.n || *end.at == '/' || *end.at == '%';
    }
    return false;
}

static int need(struct gt_filter_set *set, const struct gt_filter_source *s, const char *at)
{
    return gt_filter_need(set, GT_FILTER_NEEDS_VALUES, s, at,
                          "values of calls are not known here: QEMU 9.0 and later let plugins read "
                          "them, a reader has those that were recorded (-A, -R)");
}

int gt_trigger_add_value(struct gt_filter_set *set, struct gt_filter_rule *r,
                         const struct gt_filter_source *s, struct gt_filter_span word)
{
    size_t n = r->values ? strlen(r->values) : 0;
    char *values = realloc(r->values, n + word.n + 2);
    if (!values)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    r->values = values;
    if (n)
        values[n++] = ',';
    memcpy(values + n, word.at, word.n);
    values[n + word.n] = 0;
    return need(set, s, word.at);
}

int gt_trigger_check_values(struct gt_filter_set *set, const struct gt_filter_rule *r,
                            const struct gt_filter_source *s, const char *at)
{
    size_t n;
    const struct gt_condition_value *v = gt_condition_values(r->condition, &n);
    for (size_t i = 0; i < n; i++) {
        int status = 0;
        if (v[i].name.place == GT_CALL_NAMED && set->settings.needs & GT_FILTER_NEEDS_NAMES)
            return gt_source_fail(
                s, at + v[i].at, GT_E_UNSUPPORTED,
                "no value '%.60s'; known here: depth, took (at the return), argN, "
                "fpargN, retval (at the return); names of arguments need "
                "prototypes (--auto-args)",
                v[i].name.name);
        status = need(set, s, at + v[i].at);
        if (status < 0)
            return status;
    }
    return 0;
}

/* "arg1", or as the condition wants to compare it. */
static void name_request(const struct gt_condition_value *v, struct gt_filter_value *out)
{
    snprintf(out->own, sizeof out->own, "%.20s%s", v->name.name, v->as_text ? "/s" : "");
    out->items = out->own;
    out->implied = true;
}

bool gt_filter_set_value(const struct gt_filter_set *set, size_t i, struct gt_filter_value *out)
{
    for (size_t k = 0; k < set->n_rules; k++) {
        const struct gt_filter_rule *r = set->rule[k];
        size_t n = 0;
        const struct gt_condition_value *v = r->condition && r->cause == GT_CAUSE_CALL
                                                 ? gt_condition_values(r->condition, &n)
                                                 : NULL;
        *out = (struct gt_filter_value){r->pattern, r->option_name, r->text, .items = r->values};
        if (r->values && i-- == 0)
            return true;
        for (size_t j = 0; j < n; j++) {
            if (v[j].name.place == GT_CALL_NAMED || i-- > 0)
                continue;
            name_request(&v[j], out);
            return true;
        }
    }
    return false;
}

const char *gt_rule_unknown_value(const struct gt_filter_rule *r)
{
    size_t n = 0;
    const struct gt_condition_value *v =
        r->condition && r->cause == GT_CAUSE_CALL ? gt_condition_values(r->condition, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (__atomic_load_n(&v[i].asked, __ATOMIC_RELAXED) &&
            !__atomic_load_n(&v[i].known, __ATOMIC_RELAXED))
            return v[i].name.name;
    return NULL;
}
