/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What options have chosen and was not there: patterns of filters that have matched nothing in what
 * was read, windows without calls. */
#include "cli/window.h"
#include "filter/filter.h"
#include "filter/nearest.h"

#include <inttypes.h>

bool gt_window_unused(const struct gt_window *w, const struct gt_calls *c, struct gt_demangler *d,
                      size_t i, char **message)
{
    struct gt_filter_unused unused;
    /* What comes after a trigger's `finish` was not read. */
    if (!w->filter || gt_filter_set_finishes(w->filter) ||
        !gt_filter_set_unused(w->filter, i, &unused))
        return false;
    if (unused.undecided) {
        *message =
            g_strdup_printf("%s: %s %s: for %" PRIu64 " names the expression was too much, "
                            "they are taken as not matching; use a simpler one",
                            gt_calls_facts(c)->path, unused.option, unused.text, unused.undecided);
        return true;
    }
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

static void add_option(GString *text, const char *name, const char *value)
{
    if (value)
        g_string_append_printf(text, "%s--%s %s", text->len ? ", " : "", name, value);
}

int gt_window_nothing(const struct gt_window_options *o, const struct gt_calls *c,
                      struct gt_error *err)
{
    g_autoptr(GString) text = g_string_new(NULL);
    add_option(text, "from", o->from);
    add_option(text, "to", o->to);
    for (guint i = 0; o->tasks && i < o->tasks->len; i++)
        add_option(text, "task", o->tasks->pdata[i]);
    add_option(text, "range", o->range);
    add_option(text, "time-filter", o->min_time);
    if (gt_window_has_filter(o))
        g_string_append(text, text->len ? ", filters" : "the filters");
    return text->len ? gt_error_set(err, GT_E_NOT_FOUND, "%s: no call is left by %s",
                                    gt_calls_facts(c)->path, text->str)
                     : 0;
}
