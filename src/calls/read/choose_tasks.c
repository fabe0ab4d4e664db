/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks by their numbers and names: see calls.h. */
#include "base/text.h"
#include "calls/read/calls.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

static bool has_number(const struct gt_calls_task *t, const char *text)
{
    g_autofree char *number = g_strdup_printf("%" PRIu32, t->id);
    return strcmp(number, text) == 0;
}

static bool has_name(const struct gt_calls_task *t, const char *glob)
{
    for (size_t i = 0; i < t->n_names; i++)
        if (gt_text_glob_fits(glob, t->names[i].name))
            return true;
    return gt_text_glob_fits(glob, t->name);
}

static size_t choose_if(const struct gt_calls *c, const char *text, bool *chosen,
                        bool (*fits)(const struct gt_calls_task *t, const char *text))
{
    size_t n = 0;
    for (uint32_t i = 0; i < gt_calls_n_tasks(c); i++)
        if (fits(gt_calls_task(c, i), text)) {
            chosen[i] = true;
            n++;
        }
    return n;
}

size_t gt_calls_choose_tasks(const struct gt_calls *c, const char *text, bool *chosen)
{
    const size_t n = choose_if(c, text, chosen, has_number);
    return n ? n : choose_if(c, text, chosen, has_name);
}
