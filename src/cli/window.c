/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a recording that a command reads: see window.h. */
#include "cli/window.h"

#include "base/number.h"
#include "cli/amount.h"
#include "cli/opened.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const gt_cli_window_states[] = {"on", "off", NULL};

int gt_cli_window_time(const char *option, const char *text, uint64_t *ns, struct gt_error *err)
{
    *ns = 0;
    if (strcmp(text, "0") == 0 ||
        gt_text_quantity_parse(text, strlen(text), GT_QUANTITY_TIME, ns) > 0)
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
    return text[n] == ']' &&
           gt_text_quantity_parse(seconds, strlen(seconds), GT_QUANTITY_TIME, ns) > 0;
}

/* Of --from and --to: a part of a line of the console or of a mark; or, in brackets, the guest's
 * own time: of the first such line, not before `from`. */
static int make_text(const char *option, const char *text, const struct gtrace *t, uint64_t from,
                     uint64_t *out, struct gt_error *err)
{
    const size_t n = gtrace_n_marks(t);
    uint64_t wanted = 0, has;
    const bool by_time = guest_time(text, &wanted) && strchr(text, ']')[1] == '\0';
    for (size_t i = 0; i < n; i++) {
        struct gtrace_mark mark = {.size = sizeof mark};
        gtrace_mark(t, i, &mark);
        if (mark.time >= from && (by_time ? guest_time(mark.text, &has) && has >= wanted
                                          : strstr(mark.text, text) != NULL)) {
            *out = mark.time;
            return 0;
        }
    }
    return gt_error_set(err, n ? GT_E_NOT_FOUND : GT_E_USAGE,
                        "option '--%s' takes a time with its unit (1.2s, 300ms, 5us, 100ns), or a "
                        "text of the console or a mark%s, not '%s'",
                        option, n ? ": no line has it" : " (the recording has none)", text);
}

/* A time of the recording, from one after its first record. */
static int make_time(const char *option, const char *text, const struct gtrace *t, uint64_t from,
                     uint64_t *out, struct gt_error *err)
{
    struct gtrace_facts f = {.size = sizeof f};
    uint64_t after;
    if (!g_ascii_isdigit(*text))
        return make_text(option, text, t, from, out, err);
    int status = gt_cli_window_time(option, text, &after, err);
    if (status < 0)
        return status;
    gtrace_facts(t, &f);
    if (__builtin_add_overflow(f.first, after, out))
        *out = UINT64_MAX;
    return 0;
}

static int make_range(const struct gt_cli_window_options *o, const struct gtrace *t,
                      struct gtrace_window *w, struct gt_error *err);

static int make_times(const struct gt_cli_window_options *o, const struct gtrace *t,
                      struct gtrace_window *w, struct gt_error *err)
{
    struct gtrace_facts f = {.size = sizeof f};
    int status = 0;
    if (o->range)
        return make_range(o, t, w, err);
    if (o->from)
        status = make_time("from", o->from, t, 0, &w->from, err);
    if (status == 0 && o->to)
        status = make_time("to", o->to, t, w->from, &w->to, err);
    if (status == 0 && o->min_time)
        status = gt_cli_window_time("time-filter", o->min_time, &w->min_time, err);
    if (status < 0)
        return status;
    gtrace_facts(t, &f);
    if (o->from && o->to && w->to < w->from)
        return gt_error_set(err, GT_E_USAGE, "--to %s is before --from %s", o->to, o->from);
    if (o->from && w->from > f.last) {
        g_autofree char *end = gt_cli_amount_time(f.last - f.first);
        return gt_error_set(err, GT_E_RANGE, "%s: --from %s is after its end, at %s", f.path,
                            o->from, end);
    }
    return 0;
}

/* FROM~TO */
static int make_range(const struct gt_cli_window_options *o, const struct gtrace *t,
                      struct gtrace_window *w, struct gt_error *err)
{
    g_auto(GStrv) part = g_strsplit(o->range, "~", -1);
    struct gt_cli_window_options times = *o;
    if (o->from || o->to)
        return gt_error_set(err, GT_E_USAGE, "--range %s is --from and --to: give one of them",
                            o->range);
    if (g_strv_length(part) != 2 || (!*part[0] && !*part[1]))
        return gt_error_set(err, GT_E_USAGE,
                            "option '--range' takes FROM~TO, as 1.2s~1.3s, not '%s'", o->range);
    times.range = NULL;
    times.from = *part[0] ? part[0] : NULL;
    times.to = *part[1] ? part[1] : NULL;
    return make_times(&times, t, w, err);
}

static int make_tasks(const struct gt_cli_window_options *o, const struct gtrace *t,
                      struct gt_cli_window *out, struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    out->part.tasks = gt_cli_option_texts(o->tasks);
    for (const char *const *task = out->part.tasks; task && *task; task++) {
        const int status = gtrace_choose_tasks(t, *task, NULL, 0, &e);
        if (status < 0)
            return gt_cli_opened_fail(err, status, &e);
    }
    return 0;
}

/* ---- filters ------------------------------------------------------------------------------- */

bool gt_cli_window_has_filter(const struct gt_cli_window_options *o)
{
    return o->areas || o->callers || o->hides || o->places || o->triggers || o->where || o->size ||
           o->trace;
}

static int add(struct gtrace_filter *f, enum gtrace_filter_option option, const char *value,
               struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    const int status = gtrace_filter_add(f, option, value, &e);
    return status < 0 ? gt_cli_opened_fail(err, status, &e) : 0;
}

static int add_number(struct gtrace_filter *f, enum gtrace_filter_option option, uint64_t value,
                      struct gt_error *err)
{
    char text[32];
    g_snprintf(text, sizeof text, "%" PRIu64 "%s", value, option == GTRACE_TIME_FILTER ? "ns" : "");
    return value ? add(f, option, text, err) : 0;
}

/* Options that are given once. Depth and shortest time are the filter's: -D counts from a -F, and
 * time= may change -t. */
static int add_limits(const struct gt_cli_window_options *o, struct gtrace_window *w,
                      struct gt_error *err)
{
    int status = add_number(w->filter, GTRACE_DEPTH, w->depth, err);
    if (status == 0)
        status = add_number(w->filter, GTRACE_TIME_FILTER, w->min_time, err);
    if (status == 0 && o->size)
        status = add(w->filter, GTRACE_SIZE_FILTER, o->size, err);
    if (status == 0 && o->trace && strcmp(o->trace, "off") == 0)
        status = add(w->filter, GTRACE_TRACE_OFF, NULL, err);
    w->depth = 0;
    w->min_time = 0;
    return status;
}

static int make_filter(const struct gt_cli_window_options *o, struct gtrace *t,
                       struct gtrace_window *w, struct gt_error *err)
{
    const struct {
        enum gtrace_filter_option option;
        const GPtrArray *values;
    } lists[] = {{GTRACE_TRIGGER, o->triggers},
                 {GTRACE_CALLER_FILTER, o->callers},
                 {GTRACE_HIDE, o->hides},
                 {GTRACE_LOC_FILTER, o->places},
                 {GTRACE_WHERE, o->where}};
    const bool glob = gt_filter_match_of(o->match) == GT_FILTER_MATCH_GLOB;
    struct gtrace_error e = {.size = sizeof e};
    int status = gtrace_filter_new(t, glob, &w->filter, &e);
    if (status < 0)
        return gt_cli_opened_fail(err, status, &e);
    for (guint i = 0; o->areas && i < o->areas->len && status == 0; i++) {
        const char *value = o->areas->pdata[i];
        status = *value == '!' ? add(w->filter, GTRACE_NOTRACE, value + 1, err)
                               : add(w->filter, GTRACE_FILTER, value, err);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        for (guint k = 0; lists[i].values && k < lists[i].values->len && status == 0; k++)
            status = add(w->filter, lists[i].option, lists[i].values->pdata[k], err);
    return status == 0 ? add_limits(o, w, err) : status;
}

/* ---- all ----------------------------------------------------------------------------------- */

int gt_cli_window_make(const struct gt_cli_window_options *o, struct gtrace *t,
                       struct gt_cli_window *out, struct gt_error *err)
{
    *out = (struct gt_cli_window){
        .part = {.size = sizeof out->part, .depth = (uint32_t)o->depth, .wall = o->wall}};
    int status = make_times(o, t, &out->part, err);
    if (status == 0)
        status = make_tasks(o, t, out, err);
    if (status == 0 && gt_cli_window_has_filter(o))
        status = make_filter(o, t, &out->part, err);
    return status;
}

void gt_cli_window_clear(struct gt_cli_window *w)
{
    gtrace_filter_free(w->part.filter);
    *w = (struct gt_cli_window){0};
}

static void add_option(GString *text, const char *name, const char *value)
{
    if (value)
        g_string_append_printf(text, "%s--%s %s", text->len ? ", " : "", name, value);
}

int gt_cli_window_nothing(const struct gt_cli_window_options *o, const struct gtrace *t,
                          struct gt_error *err)
{
    struct gtrace_facts f = {.size = sizeof f};
    g_autoptr(GString) text = g_string_new(NULL);
    add_option(text, "from", o->from);
    add_option(text, "to", o->to);
    for (guint i = 0; o->tasks && i < o->tasks->len; i++)
        add_option(text, "task", o->tasks->pdata[i]);
    add_option(text, "range", o->range);
    add_option(text, "time-filter", o->min_time);
    if (gt_cli_window_has_filter(o))
        g_string_append(text, text->len ? ", filters" : "the filters");
    gtrace_facts(t, &f);
    return text->len
               ? gt_error_set(err, GT_E_NOT_FOUND, "%s: no call is left by %s", f.path, text->str)
               : 0;
}
