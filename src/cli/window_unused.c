/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of filters that have matched nothing in what was read. */
#include "cli/window.h"
#include "filter/filter.h"
#include "filter/nearest.h"

bool gt_window_unused(const struct gt_window *w, const struct gt_calls *c, struct gt_demangler *d,
                      size_t i, char **message)
{
    struct gt_filter_unused unused;
    /* What comes after a trigger's `finish` was not read. */
    if (!w->filter || gt_filter_set_finishes(w->filter) ||
        !gt_filter_set_unused(w->filter, i, &unused))
        return false;
    if (unused.value) {
        *message = g_strdup_printf("%s: %s %s: no call had a value '%s'", gt_calls_facts(c)->path,
                                   unused.option, unused.text, unused.value);
        return true;
    }
    g_autofree char *wanted = gt_nearest_wanted(unused.name);
    struct gt_nearest near = {.wanted = wanted ? wanted : ""};
    for (uint32_t f = 0; f < gt_calls_n_functions(c); f++)
        gt_nearest_offer(&near, gt_demangle(d, gt_calls_function(c, f)->name));
    g_autofree char *others = gt_nearest_text(&near);
    *message = g_strdup_printf("%s: %s %s matches no function that was called%s",
                               gt_calls_facts(c)->path, unused.option, unused.text, others);
    return true;
}
