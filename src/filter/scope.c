/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scopes: each different one has a bit, so that a call is compared with all of them at once. */
#include "filter/scope.h"

#include <stdlib.h>
#include <string.h>

int gt_filter_need(struct gt_filter_set *set, enum gt_filter_need need,
                   const struct gt_filter_source *s, const char *at, const char *what)
{
    set->uses |= need;
    if (!(set->settings.needs & need))
        return 0;
    return gt_source_fail(s, at, GT_E_UNSUPPORTED, "%s", what);
}

int gt_glob_parse(const struct gt_filter_source *s, struct gt_filter_span value,
                  struct gt_regex **out)
{
    struct gt_error err;
    size_t at;
    char *text = gt_span_copy(value);
    if (!text)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int status = gt_regex_parse_glob(text, out, &at, &err);
    free(text);
    return status < 0 ? gt_source_fail(s, value.at + at, status, "%s", err.text) : 0;
}

int gt_level_parse(struct gt_filter_set *set, const struct gt_filter_source *s,
                   struct gt_filter_span value, struct gt_regex **out)
{
    int status = gt_filter_need(set, GT_FILTER_NEEDS_LEVEL, s, value.at,
                                "privilege levels are not known here");
    if (status < 0)
        return status;
    if (!value.n)
        return gt_source_fail(s, value.at, GT_E_USAGE,
                              "expected a privilege level, as U, NS-EL1 or Ring3");
    return gt_glob_parse(s, value, out);
}

static int find(const struct gt_filter_set *set, enum gt_scope_kind kind, const char *text)
{
    for (size_t i = 0; i < set->n_scopes; i++)
        if (set->scope[i].kind == kind && strcmp(set->scope[i].text, text) == 0)
            return (int)i;
    return -1;
}

/* `text` becomes the scope's. */
static int parse(struct gt_filter_scope *scope, enum gt_scope_kind kind, char *text,
                 const struct gt_filter_source *s, struct gt_filter_span value)
{
    *scope = (struct gt_filter_scope){.kind = kind, .text = text};
    scope->numeric = gt_span_number(value, &scope->number);
    if (kind == GT_SCOPE_TASK && value.n)
        return gt_glob_parse(s, value, &scope->glob);
    if (scope->numeric)
        return 0;
    return gt_source_fail(s, value.at, GT_E_USAGE, "expected %s",
                          kind == GT_SCOPE_TASK  ? "the name of a task, or a glob"
                          : kind == GT_SCOPE_PID ? "the number of a process"
                                                 : "the number of a vCPU");
}

int gt_scope_add(struct gt_filter_set *set, enum gt_scope_kind kind,
                 const struct gt_filter_source *s, struct gt_filter_span value, uint64_t *bits)
{
    if (kind == GT_SCOPE_CPU) {
        int status = gt_filter_need(set, GT_FILTER_NEEDS_CPU, s, value.at,
                                    "the vCPU of a call is not known here");
        if (status < 0)
            return status;
    }
    char *text = gt_span_copy(value);
    if (!text)
        return gt_error_set(s->err, GT_E_NOMEM, "out of memory");
    int known = find(set, kind, text);
    if (known >= 0) {
        free(text);
        *bits |= UINT64_C(1) << known;
        return 0;
    }
    struct gt_filter_scope scope;
    int status = parse(&scope, kind, text, s, value);
    if (status == 0 && set->n_scopes == GT_FILTER_SCOPES)
        status =
            gt_source_fail(s, value.at, GT_E_RANGE,
                           "more than %d different tasks, processes and vCPUs", GT_FILTER_SCOPES);
    if (status < 0) {
        gt_scope_finish(&scope);
        return status;
    }
    *bits |= UINT64_C(1) << set->n_scopes;
    set->scope[set->n_scopes++] = scope;
    return 0;
}

void gt_scope_finish(struct gt_filter_scope *scope)
{
    free(scope->text);
    gt_regex_free(scope->glob);
}
