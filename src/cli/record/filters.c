/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of a recording, as options and as the plugin's arguments: see filters.h. */
#include "cli/record/filters.h"
#include "cli/record/causes.h"
#include "cli/record/qemu.h"
#include "cli/record/recording.h"
#include "filter/filter.h"

#include <string.h>

/* An option that may be given several times, and the plugin's argument. */
struct list {
    const char *shown, *argument;
    enum gt_filter_option option;
    GPtrArray *const *values;
};

enum { LISTS = 7 };

static void make_lists(const struct gt_record_filters *f, struct list lists[LISTS])
{
    const struct list all[LISTS] = {
        {"-T", "trigger", GT_FILTER_TRIGGER, &f->triggers},
        {"-C", "caller-filter", GT_FILTER_CALLERS, &f->callers},
        {"-H", "hide", GT_FILTER_HIDE, &f->hides},
        {"--loc-filter", "loc-filter", GT_FILTER_PLACE, &f->places},
        {"--task", "task", GT_FILTER_TASK, &f->tasks},
        {"--vcpu", "vcpu", GT_FILTER_VCPU, &f->vcpus},
        {"--privilege", "privilege", GT_FILTER_PRIVILEGE, &f->levels},
    };
    memcpy(lists, all, sizeof all);
}

bool gt_record_starts_off(const struct gt_record_recording *r)
{
    return r->opt->trace && strcmp(r->opt->trace, "off") == 0;
}

/* ---- before the run ------------------------------------------------------------------------ */

static int add_each(struct gt_filter_set *set, enum gt_filter_option option, const char *name,
                    const GPtrArray *values, struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; values && i < values->len && status == 0; i++)
        status = gt_filter_set_add(set, option, name, values->pdata[i], err);
    return status;
}

/* -F and -N, whose order counts. */
static int add_areas(struct gt_filter_set *set, const GPtrArray *areas, struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; areas && i < areas->len && status == 0; i++) {
        const char *value = areas->pdata[i];
        status = *value == '!' ? gt_filter_set_add(set, GT_FILTER_NOT, "-N", value + 1, err)
                               : gt_filter_set_add(set, GT_FILTER_ONLY, "-F", value, err);
    }
    return status;
}

static int add_single(struct gt_filter_set *set, const struct gt_record_filters *f,
                      struct gt_error *err)
{
    const struct {
        enum gt_filter_option option;
        const char *shown, *value;
        bool given;
    } single[] = {
        {GT_FILTER_TIME, "-t", f->time, f->time != NULL},
        {GT_FILTER_SIZE, "-Z", f->size, f->size != NULL},
        {GT_FILTER_KERNEL_ONLY, "--kernel-only", NULL, f->kernel_only},
        {GT_FILTER_USER_ONLY, "--user-only", NULL, f->user_only},
        {GT_FILTER_NO_HANDLERS, "--no-handlers", NULL, f->no_handlers},
    };
    int status = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(single) && status == 0; i++)
        if (single[i].given)
            status =
                gt_filter_set_add(set, single[i].option, single[i].shown, single[i].value, err);
    return status;
}

static int add_all(struct gt_filter_set *set, const struct gt_record_filters *f,
                   struct gt_error *err)
{
    struct list lists[LISTS];
    make_lists(f, lists);
    int status = add_areas(set, f->areas, err);
    for (size_t i = 0; i < LISTS && status == 0; i++)
        status = add_each(set, lists[i].option, lists[i].shown, *lists[i].values, err);
    return status == 0 ? add_single(set, f, err) : status;
}

int gt_record_filters_make(struct gt_record_recording *r, struct gt_filter_set **out,
                           struct gt_error *err)
{
    const struct gt_record_filters *f = &r->opt->filters;
    const struct gt_filter_settings settings = {
        .match = gt_filter_match_of(f->match),
        .needs = gt_record_causes_missing(r) | (r->opt->last ? 0 : GT_FILTER_NEEDS_SNAPSHOTS) |
                 (r->user_mode
                      ? GT_FILTER_NEEDS_LEVEL | GT_FILTER_NEEDS_HANDLERS | GT_FILTER_NEEDS_KERNEL
                      : GT_FILTER_NEEDS_EXIT | GT_FILTER_NEEDS_SIGNAL),
    };
    struct gt_filter_set *set = gt_filter_set_new(&settings);
    if (!set)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = add_all(set, f, err);
    r->lines = r->opt->srcline || gt_filter_set_uses(set) & GT_FILTER_NEEDS_LINES;
    if (status == 0)
        *out = set;
    else
        gt_filter_set_free(set);
    return status < 0 && status != GT_E_NOMEM ? GT_E_USAGE : status;
}

/* ---- the plugin's arguments ----------------------------------------------------------------- */

static void append(GString *out, const char *name, const char *value)
{
    if (!value)
        return;
    g_string_append_printf(out, ",%s=", name);
    gt_record_qemu_append_value(out, value);
}

void gt_record_filters_arguments(const struct gt_record_recording *r, GString *out)
{
    const struct gt_record_filters *f = &r->opt->filters;
    struct list lists[LISTS];
    make_lists(f, lists);
    append(out, "match", f->match);
    for (guint i = 0; f->areas && i < f->areas->len; i++) {
        const char *value = f->areas->pdata[i];
        append(out, *value == '!' ? "notrace" : "filter", *value == '!' ? value + 1 : value);
    }
    for (size_t i = 0; i < LISTS; i++)
        for (guint k = 0; *lists[i].values && k < (*lists[i].values)->len; k++)
            append(out, lists[i].argument, (*lists[i].values)->pdata[k]);
    append(out, "time-filter", f->time);
    append(out, "size-filter", f->size);
    append(out, "kernel-only", f->kernel_only ? "on" : NULL);
    append(out, "user-only", f->user_only ? "on" : NULL);
    append(out, "no-handlers", f->no_handlers ? "on" : NULL);
    append(out, "recording", gt_record_starts_off(r) ? "off" : NULL);
}
