/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace tui` seeks: see search.h. */
#include "cli/tui/search.h"

static void say(struct gt_tui_search *s)
{
    const guint n = s->exact && !s->others ? s->exact : s->all;
    g_snprintf(s->said, sizeof s->said, "%u function%s%s; H lists the calls%s", n,
               n == 1 ? "" : "s", s->exact && !s->others ? " of exactly this name" : "",
               s->exact && s->exact < s->all
                   ? s->others ? ", a: the exact name alone" : ", a: the others, too"
                   : "");
}

void gt_tui_search_clear(struct gt_tui_search *s)
{
    gtrace_search_free(s->find);
    if (s->found)
        g_byte_array_unref(s->found);
    *s = (struct gt_tui_search){0};
}

void gt_tui_search_set(struct gt_tui_search *s, const struct gt_cli_reading *r, const char *text)
{
    struct gtrace_error e = {.size = sizeof e};
    const size_t n = gtrace_n_functions(r->trace);
    gt_tui_search_clear(s);
    if (!*text)
        return;
    if (gtrace_search_new(text, &s->find, &e) < 0) {
        g_strlcpy(s->said, e.text, sizeof s->said);
        return;
    }
    g_strlcpy(s->text, text, sizeof s->text);
    s->found = g_byte_array_sized_new((guint)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct gtrace_function f = gt_cli_reading_function(r, i);
        const bool counts = r->window.part.wall || !(f.flags & GTRACE_SUSPENDED);
        const guint8 found =
            (guint8)(counts ? gtrace_search_match(s->find, f.name, f.module) : GTRACE_FOUND_NOT);
        g_byte_array_append(s->found, &found, 1);
        s->exact += found == GTRACE_FOUND_EXACTLY;
        s->all += found != GTRACE_FOUND_NOT;
    }
    say(s);
}

void gt_tui_search_switch(struct gt_tui_search *s)
{
    if (!s->find)
        return;
    s->others = !s->others;
    say(s);
}

bool gt_tui_search_wants(const struct gt_tui_search *s, uint32_t function)
{
    if (!s->found || function >= s->found->len)
        return false;
    return s->exact && !s->others ? s->found->data[function] == GTRACE_FOUND_EXACTLY
                                  : s->found->data[function] != GTRACE_FOUND_NOT;
}

bool gt_tui_search_wants_text(const struct gt_tui_search *s, const char *text)
{
    return s->find && gtrace_search_match(s->find, text, NULL) != GTRACE_FOUND_NOT;
}
