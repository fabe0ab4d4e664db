/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: filters of passes, and what patterns choose. */
#include "calls/read/function_pattern.h"
#include "filter/filter.h"
#include "filter/nearest.h"
#include "gtrace/private.h"
#include "recording/values/spec.h"

#include <inttypes.h>
#include <stdlib.h>

struct gtrace_filter {
    struct gtrace *t;
    struct gt_filter_set *set;
    char *message; /* of gtrace_filter_unused */
};

const struct gt_filter_set *gt_gtrace_filter_set(const struct gtrace_filter *f)
{
    return f ? f->set : NULL;
}

API int gtrace_filter_new(struct gtrace *t, int glob, struct gtrace_filter **out,
                          struct gtrace_error *err)
{
    const bool values = gt_calls_values(t->calls)->n_modules > 0;
    const struct gt_filter_settings settings = {
        .match = glob ? GT_FILTER_MATCH_GLOB : GT_FILTER_MATCH_REGEX,
        .needs = ~(uint32_t)(GT_FILTER_NEEDS_LINES | GT_FILTER_NEEDS_REGISTERS |
                             GT_FILTER_NEEDS_NAMES | (values ? GT_FILTER_NEEDS_VALUES : 0)),
    };
    struct gtrace_filter *f = calloc(1, sizeof *f);
    *out = NULL;
    if (f)
        f->set = gt_filter_set_new(&settings);
    if (!f || !f->set) {
        free(f);
        return gt_gtrace_fail(err, GT_E_NOMEM, NULL);
    }
    f->t = t;
    *out = f;
    return 0;
}

API int gtrace_filter_add(struct gtrace_filter *f, enum gtrace_filter_option option,
                          const char *value, struct gtrace_error *err)
{
    /* By enum gtrace_filter_option. */
    static const struct {
        enum gt_filter_option option;
        const char *name;
    } options[] = {
        {GT_FILTER_ONLY, "-F"},       {GT_FILTER_NOT, "-N"},      {GT_FILTER_CALLERS, "-C"},
        {GT_FILTER_HIDE, "-H"},       {GT_FILTER_PLACE, "-L"},    {GT_FILTER_TRIGGER, "-T"},
        {GT_FILTER_WHERE, "--where"}, {GT_FILTER_SIZE, "-Z"},     {GT_FILTER_DEPTH, "-D"},
        {GT_FILTER_TIME, "-t"},       {GT_FILTER_OFF, "--trace"},
    };
    struct gt_error e = {0};
    if ((size_t)option >= G_N_ELEMENTS(options) || (!value && option != GTRACE_TRACE_OFF))
        return gt_gtrace_usage(err, "gtrace_filter_add: no such option, or no value");
    int status = gt_filter_set_add(f->set, options[option].option, options[option].name,
                                   option == GTRACE_TRACE_OFF ? NULL : value, &e);
    if (status == GT_E_RANGE || status == GT_E_UNSUPPORTED)
        status = e.status = GT_E_USAGE;
    return status < 0 ? gt_gtrace_fail(err, status, &e) : 0;
}

API void gtrace_filter_free(struct gtrace_filter *f)
{
    if (!f)
        return;
    gt_filter_set_free(f->set);
    g_free(f->message);
    free(f);
}

/* ---- what matched nothing ------------------------------------------------------------------ */

/* The functions' names nearest to it, as the end of a message. The caller frees it (g_free). */
static char *near_functions(struct gtrace *t, const char *wanted, size_t n)
{
    struct gt_filter_nearest near = {.wanted = wanted};
    for (uint32_t i = 0; i < n; i++)
        gt_filter_nearest_offer(&near, gt_gtrace_demangle(t, gt_calls_function(t->calls, i)->name));
    return gt_filter_nearest_text(&near);
}

static char *message_of(struct gtrace *t, const struct gt_filter_unused *unused)
{
    const char *path = gt_calls_facts(t->calls)->path;
    if (unused->undecided)
        return g_strdup_printf("%s: %s %s: for %" PRIu64 " names the expression was too much, "
                               "they are taken as not matching; use a simpler one",
                               path, unused->option, unused->text, unused->undecided);
    if (unused->value)
        return g_strdup_printf("%s: %s %s: no call had a value '%s'", path, unused->option,
                               unused->text, unused->value);
    g_autofree char *wanted = gt_filter_nearest_wanted(unused->name);
    g_autofree char *others =
        near_functions(t, wanted ? wanted : "", gt_calls_n_functions(t->calls));
    return g_strdup_printf("%s: %s %s matches no function that was called%s", path, unused->option,
                           unused->text, others);
}

API const char *gtrace_filter_unused(struct gtrace_filter *f, size_t i)
{
    struct gt_filter_unused unused;
    /* What comes after a trigger's `finish` was not read. */
    if (gt_filter_set_finishes(f->set) || !gt_filter_set_unused(f->set, i, &unused))
        return NULL;
    g_free(f->message);
    f->message = message_of(f->t, &unused);
    return f->message;
}

/* ---- what patterns choose ------------------------------------------------------------------ */

API int gtrace_choose_tasks(const struct gtrace *t, const char *pattern, bool *chosen, size_t n,
                            struct gtrace_error *err)
{
    const size_t all = gt_calls_n_tasks(t->calls);
    struct gt_filter_nearest near = {.wanted = pattern};
    struct gt_error e = {0};
    g_autofree bool *some = g_new0(bool, all + 1);
    const bool any = gt_calls_choose_tasks(t->calls, pattern, some) > 0;
    for (size_t i = 0; i < all && i < n; i++)
        chosen[i] |= some[i];
    if (any)
        return 0;
    for (uint32_t i = 0; i < all; i++)
        gt_filter_nearest_offer(&near, gt_calls_task(t->calls, i)->name);
    g_autofree char *others = gt_filter_nearest_text(&near);
    const int status = gt_error_set(&e, GT_E_NOT_FOUND, "%s: no task '%s'%s",
                                    gt_calls_facts(t->calls)->path, pattern, others);
    return gt_gtrace_fail(err, status, &e);
}

API int gtrace_choose_functions(struct gtrace *t, const char *pattern, bool *chosen, size_t n,
                                struct gtrace_error *err)
{
    bool any = false;
    struct gt_error e = {0};
    for (uint32_t i = 0; i < n && i < gt_calls_n_functions(t->calls); i++) {
        const struct gt_calls_function *f = gt_calls_function(t->calls, i);
        if (gt_calls_function_pattern_matches(pattern, f, gt_gtrace_demangle(t, f->name)))
            any = chosen[i] = true;
    }
    if (any)
        return 0;
    g_autofree char *others = near_functions(t, gt_calls_function_pattern_name(pattern), n);
    const int status = gt_error_set(&e, GT_E_NOT_FOUND, "%s: no function '%s' was called%s",
                                    gt_calls_facts(t->calls)->path, pattern, others);
    return gt_gtrace_fail(err, status, &e);
}
