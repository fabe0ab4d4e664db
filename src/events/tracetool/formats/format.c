/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats, in the order in which they are listed. */
#include "events/tracetool/formats/format.h"

#include <string.h>

static const struct gt_format *const formats[] = {
    &gt_format_c,
    &gt_format_d,
    &gt_format_h,
    &gt_format_log_stap,
    &gt_format_rs,
    &gt_format_simpletrace_stap,
    &gt_format_stap,
    &gt_format_ust_events_c,
    &gt_format_ust_events_h,
};

const struct gt_format *gt_format_at(size_t index)
{
    return index < sizeof formats / sizeof *formats ? formats[index] : NULL;
}

const struct gt_format *gt_format_find(const char *name)
{
    const struct gt_format *f;
    for (size_t i = 0; (f = gt_format_at(i)); i++)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}
