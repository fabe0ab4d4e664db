/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a recording that a command reads: see window.h. */
#include "cli/window.h"

#include "base/number.h"
#include "cli/amount.h"
#include "cli/window_filter.h"
#include "filter/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int gt_window_time(const char *option, const char *text, uint64_t *ns, struct gt_error *err)
{
    *ns = 0;
    if (strcmp(text, "0") == 0 || gt_quantity_parse(text, strlen(text), GT_QUANTITY_TIME, ns) > 0)
        return 0;
    return gt_error_set(err, GT_E_USAGE,
                        "option '--%s' takes a time with its unit (1.2s, 300ms, 5us, 100ns), not "
                        "'%s'",
                        option, text);
}

/* The guest's time at the beginning of a line of Linux, "[    0.860000] text"; false: it has none.
 */
static bool guest_time(const char *text, uint64_t *ns)
{
    char seconds[40];
    if (*text++ != '[')
        return false;
    text += strspn(text, " ");
    size_t n = strspn(text, "0123456789.");
    snprintf(seconds, sizeof seconds, "%.*ss", n < 24 ? (int)n : 0, text);
    return text[n] == ']' && gt_quantity_parse(seconds, strlen(seconds), GT_QUANTITY_TIME, ns) > 0;
}

/* Of --from and --to: a part of a line of the console or of a mark; or, in brackets, the guest's
 * own time: of the first such line, not before `from`. */
static int make_text(const char *option, const char *text, const struct gt_calls *c, uint64_t from,
                     uint64_t *out, struct gt_error *err)
{
    size_t n;
    uint64_t wanted = 0, has;
    const struct gt_calls_mark *mark = gt_calls_marks(c, &n);
    const bool by_time = guest_time(text, &wanted) && strchr(text, ']')[1] == '\0';
    for (size_t i = 0; i < n; i++)
        if (mark[i].time >= from && (by_time ? guest_time(mark[i].text, &has) && has >= wanted
                                             : strstr(mark[i].text, text) != NULL)) {
            *out = mark[i].time;
            return 0;
        }
    return gt_error_set(err, n ? GT_E_NOT_FOUND : GT_E_USAGE,
                        "option '--%s' takes a time with its unit (1.2s, 300ms, 5us, 100ns), or a "
                        "text of the console or a mark%s, not '%s'",
                        option, n ? ": no line has it" : " (the recording has none)", text);
}

/* A time of the recording, from one after its first record. */
static int make_time(const char *option, const char *text, const struct gt_calls *c, uint64_t from,
                     uint64_t *out, struct gt_error *err)
{
    uint64_t after;
    if (!g_ascii_isdigit(*text))
        return make_text(option, text, c, from, out, err);
    int status = gt_window_time(option, text, &after, err);
    if (status < 0)
        return status;
    if (__builtin_add_overflow(gt_calls_facts(c)->first, after, out))
        *out = UINT64_MAX;
    return 0;
}

static int choose_tasks(const struct gt_calls *c, const char *text, bool *chosen,
                        struct gt_error *err)
{
    struct gt_nearest near = {.wanted = text};
    if (gt_calls_choose_tasks(c, text, chosen))
        return 0;
    for (uint32_t i = 0; i < gt_calls_n_tasks(c); i++)
        gt_nearest_offer(&near, gt_calls_task(c, i)->name);
    g_autofree char *others = gt_nearest_text(&near);
    return gt_error_set(err, GT_E_NOT_FOUND, "%s: no task '%s'%s", gt_calls_facts(c)->path, text,
                        others);
}

static int make_range(const struct gt_window_options *o, const struct gt_calls *c,
                      struct gt_calls_window *w, struct gt_error *err);

static int make_times(const struct gt_window_options *o, const struct gt_calls *c,
                      struct gt_calls_window *w, struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(c);
    int status = 0;
    if (o->range)
        return make_range(o, c, w, err);
    if (o->from)
        status = make_time("from", o->from, c, 0, &w->from, err);
    if (status == 0 && o->to)
        status = make_time("to", o->to, c, w->from, &w->to, err);
    if (status == 0 && o->min_time)
        status = gt_window_time("time-filter", o->min_time, &w->min_time, err);
    if (status < 0)
        return status;
    if (o->from && o->to && w->to < w->from)
        return gt_error_set(err, GT_E_USAGE, "--to %s is before --from %s", o->to, o->from);
    if (o->from && w->from > f->last) {
        g_autofree char *end = gt_amount_time(f->last - f->first);
        return gt_error_set(err, GT_E_RANGE, "%s: --from %s is after its end, at %s", f->path,
                            o->from, end);
    }
    return 0;
}

/* FROM~TO */
static int make_range(const struct gt_window_options *o, const struct gt_calls *c,
                      struct gt_calls_window *w, struct gt_error *err)
{
    g_auto(GStrv) part = g_strsplit(o->range, "~", -1);
    struct gt_window_options times = *o;
    if (o->from || o->to)
        return gt_error_set(err, GT_E_USAGE, "--range %s is --from and --to: give one of them",
                            o->range);
    if (g_strv_length(part) != 2 || (!*part[0] && !*part[1]))
        return gt_error_set(err, GT_E_USAGE,
                            "option '--range' takes FROM~TO, as 1.2s~1.3s, not '%s'", o->range);
    times.range = NULL;
    times.from = *part[0] ? part[0] : NULL;
    times.to = *part[1] ? part[1] : NULL;
    return make_times(&times, c, w, err);
}

static int make_tasks(const struct gt_window_options *o, const struct gt_calls *c,
                      struct gt_window *out, struct gt_error *err)
{
    int status = 0;
    if (!o->tasks)
        return 0;
    out->tasks = g_new0(bool, gt_calls_n_tasks(c) + 1);
    out->calls.tasks = out->tasks;
    for (guint i = 0; status == 0 && i < o->tasks->len; i++)
        status = choose_tasks(c, o->tasks->pdata[i], out->tasks, err);
    return status;
}

int gt_window_make(const struct gt_window_options *o, const struct gt_calls *c,
                   struct gt_window *out, struct gt_error *err)
{
    *out = (struct gt_window){.calls = {.depth = (uint32_t)o->depth, .wall = o->wall}};
    int status = make_times(o, c, &out->calls, err);
    if (status == 0)
        status = make_tasks(o, c, out, err);
    if (status == 0 && gt_window_has_filter(o))
        status = gt_window_make_filter(o, c, &out->calls, &out->filter, err);
    out->calls.filter = out->filter;
    return status;
}

void gt_window_clear(struct gt_window *w)
{
    g_free(w->tasks);
    gt_filter_set_free(w->filter);
    *w = (struct gt_window){0};
}
