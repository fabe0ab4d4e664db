/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of a command that reads a recording: see window_filter.h. */
#include "cli/window_filter.h"

#include "recording/values/spec.h"

#include <inttypes.h>
#include <string.h>

const char *const gt_window_states[] = {"on", "off", NULL};

bool gt_window_has_filter(const struct gt_window_options *o)
{
    return o->areas || o->callers || o->hides || o->places || o->triggers || o->where || o->size ||
           o->trace;
}

static int add_number(struct gt_filter_set *set, enum gt_filter_option option, const char *name,
                      uint64_t value, struct gt_error *err)
{
    char text[32];
    g_snprintf(text, sizeof text, "%" PRIu64, value);
    return value ? gt_filter_set_add(set, option, name, text, err) : 0;
}

/* What is given once. */
static int add_limits(struct gt_filter_set *set, const struct gt_window_options *o,
                      struct gt_calls_window *w, struct gt_error *err)
{
    int status = add_number(set, GT_FILTER_DEPTH, "-D", w->depth, err);
    if (status == 0)
        status = add_number(set, GT_FILTER_TIME, "-t", w->min_time, err);
    if (status == 0 && o->size)
        status = gt_filter_set_add(set, GT_FILTER_SIZE, "-Z", o->size, err);
    if (status == 0 && o->trace && strcmp(o->trace, "off") == 0)
        status = gt_filter_set_add(set, GT_FILTER_OFF, "--trace", NULL, err);
    w->depth = 0;
    w->min_time = 0;
    return status;
}

int gt_window_make_filter(const struct gt_window_options *o, const struct gt_calls *c,
                          struct gt_calls_window *w, struct gt_filter_set **out,
                          struct gt_error *err)
{
    const struct {
        enum gt_filter_option option;
        const char *name;
        const GPtrArray *values;
    } lists[] = {{GT_FILTER_TRIGGER, "-T", o->triggers},
                 {GT_FILTER_CALLERS, "-C", o->callers},
                 {GT_FILTER_HIDE, "-H", o->hides},
                 {GT_FILTER_PLACE, "-L", o->places},
                 {GT_FILTER_WHERE, "--where", o->where}};
    const bool values = gt_calls_values(c)->n_modules > 0;
    const struct gt_filter_settings settings = {
        .match = gt_filter_options_match(o->match),
        .needs = ~(uint32_t)(GT_FILTER_NEEDS_LINES | GT_FILTER_NEEDS_REGISTERS |
                             GT_FILTER_NEEDS_NAMES | (values ? GT_FILTER_NEEDS_VALUES : 0)),
    };
    *out = gt_filter_set_new(&settings);
    if (!*out)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = gt_filter_options_add_areas(*out, o->areas, err);
    for (size_t i = 0; i < G_N_ELEMENTS(lists) && status == 0; i++)
        status =
            gt_filter_options_add_each(*out, lists[i].option, lists[i].name, lists[i].values, err);
    if (status == 0)
        status = add_limits(*out, o, w, err);
    return status == GT_E_RANGE || status == GT_E_UNSUPPORTED ? GT_E_USAGE : status;
}
