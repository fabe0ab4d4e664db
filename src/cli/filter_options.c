/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of filters, to record and to read: see filter_options.h. */
#include "cli/filter_options.h"

#include <string.h>

const char *const gt_filter_matches[] = {"regex", "glob", NULL};

enum gt_filter_match gt_filter_options_match(const char *match)
{
    return match && strcmp(match, "glob") == 0 ? GT_FILTER_MATCH_GLOB : GT_FILTER_MATCH_REGEX;
}

int gt_filter_options_add_each(struct gt_filter_set *set, enum gt_filter_option option,
                               const char *name, const GPtrArray *values, struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; values && i < values->len && status == 0; i++)
        status = gt_filter_set_add(set, option, name, values->pdata[i], err);
    return status;
}

int gt_filter_options_add_areas(struct gt_filter_set *set, const GPtrArray *areas,
                                struct gt_error *err)
{
    int status = 0;
    for (guint i = 0; areas && i < areas->len && status == 0; i++) {
        const char *value = areas->pdata[i];
        status = *value == '!' ? gt_filter_set_add(set, GT_FILTER_NOT, "-N", value + 1, err)
                               : gt_filter_set_add(set, GT_FILTER_ONLY, "-F", value, err);
    }
    return status;
}
