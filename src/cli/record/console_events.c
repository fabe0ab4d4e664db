/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest events at texts of the console: see console_events.h. */
#include "cli/record/console_events.h"

#include "cli/record/console.h"
#include "cli/record/qemu.h"
#include "filter/regex.h"
#include "recording/texts/message.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONSOLE "console"

struct event {
    const char *name;
    struct gt_filter_regex *regex;
    bool gets_line, waits; /* waits: for the line's end */
    bool met;              /* in this line */
};

struct gt_record_console_events {
    struct event *event;
    size_t n;
    char *fifo;
    unsigned lost, late; /* the plugin was behind; it had ended */
};

/* ---- the run ------------------------------------------------------------------------------- */

static void send_event(struct gt_record_console_events *c, const struct event *e, const char *line)
{
    g_autofree char *text = g_strconcat(e->name, e->gets_line ? " " : NULL, line, NULL);
    int error = gt_recording_message_send(c->fifo, GT_MESSAGE_EVENT, text);
    c->lost += error == EAGAIN;
    c->late += error && error != EAGAIN;
}

static void on_text(void *self, const char *line)
{
    struct gt_record_console_events *c = self;
    for (struct event *e = c->event; e < c->event + c->n; e++) {
        if (e->met || e->waits || !gt_filter_regex_match(e->regex, line))
            continue;
        e->met = true;
        send_event(c, e, line);
    }
}

static void on_line(void *self, const char *line)
{
    struct gt_record_console_events *c = self;
    for (struct event *e = c->event; e < c->event + c->n; e++) {
        if (!e->met && *line && gt_filter_regex_match(e->regex, line))
            send_event(c, e, line);
        e->met = false;
    }
}

/* ---- the file ------------------------------------------------------------------------------ */

static int fail(enum gt_error_status status, const struct gt_events_dynamic_event *e,
                const char *path, const char *why, struct gt_error *err)
{
    return gt_error_set(err, status, "%.200s:%u: event '%.100s', at=%.100s: %.300s", path, e->line,
                        e->event.name, e->at, why);
}

static bool is_at_console(const struct gt_events_dynamic_event *e)
{
    return e->at && g_str_has_prefix(e->at, CONSOLE) && e->event.enabled &&
           (!e->at[strlen(CONSOLE)] || strchr(" \t\r\v\f\"", e->at[strlen(CONSOLE)]));
}

/* Between the quotes, \" is a quote; other backslashes are the expression's. NULL: no quotes. */
static char *expression_of(const struct gt_events_dynamic_event *e)
{
    const char *open = strchr(e->at, '"');
    if (!open)
        return NULL;
    GString *text = g_string_new(NULL);
    for (const char *at = open + 1; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1] && at[1] != '"')
            g_string_append_c(text, *at);
        at += *at == '\\' && at[1];
        g_string_append_c(text, *at);
    }
    return g_string_free(text, FALSE);
}

/* An end or an edge, or what a group with "?" looks ahead to. */
static bool depends_on_more(const char *expression)
{
    if (strchr(expression, '$') || strstr(expression, "(?"))
        return true;
    for (const char *at = expression; (at = strchr(at, '\\')) && at[1]; at += 2)
        if (strchr("bBzZ", at[1]))
            return true;
    return false;
}

static int take_event(struct gt_record_console_events *c, const struct gt_events_dynamic_event *e,
                      const char *path, struct gt_error *err)
{
    struct event *out = &c->event[c->n++];
    struct gt_error why;
    size_t at;
    g_autofree char *expression = expression_of(e);
    if (!expression || !*expression)
        return fail(GT_E_USAGE, e, path, "expected a regular expression in quotes", err);
    if (e->event.vcpu)
        return fail(GT_E_USAGE, e, path, "which vCPU has printed the text is not known", err);
    if (e->n_arguments > 1 || (e->n_arguments && e->argument[0].kind != GT_TRACE_STRING))
        return fail(GT_E_USAGE, e, path,
                    "expected no argument, or one that gets the line: const char *", err);
    if (gt_filter_regex_parse(expression, &out->regex, &at, &why) < 0) {
        g_autofree char *text =
            g_strdup_printf("character %zu of the expression: %s", at + 1, why.text);
        return fail(GT_E_USAGE, e, path, text, err);
    }
    out->name = e->event.name;
    out->gets_line = e->n_arguments > 0;
    out->waits = out->gets_line || depends_on_more(expression);
    return 0;
}

/* One that is left of a run that was killed is replaced. */
static int make_fifo(struct gt_record_console_events *c, const struct gt_record_recording *r,
                     struct gt_error *err)
{
    struct stat st;
    g_autofree char *fifo = g_strconcat(r->output, ".console", NULL);
    if (lstat(fifo, &st) == 0 && !S_ISFIFO(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS,
                            "%s exists and is not a FIFO: at=console needs the name; remove it",
                            fifo);
    unlink(fifo);
    if (mkfifo(fifo, 0600) != 0)
        return gt_error_errno(err, errno, "%s: at=console needs a FIFO there", fifo);
    c->fifo = g_steal_pointer(&fifo);
    return 0;
}

static int check_seen(const struct gt_record_recording *r, const struct gt_events_dynamic_event *e,
                      const char *path, struct gt_error *err)
{
    if (r->user_mode)
        return fail(GT_E_UNSUPPORTED, e, path, "a program has no console, machines have one", err);
    if (!gt_record_console_is_seen(r->machine))
        return fail(GT_E_UNSUPPORTED, e, path,
                    "the machine's console is not seen here: it has to be QEMU's standard output "
                    "(-nographic, -serial stdio)",
                    err);
    return 0;
}

int gt_record_console_events_open(struct gt_record_recording *r,
                                  const struct gt_events_dynamic_events *events, const char *path,
                                  struct gt_error *err)
{
    struct gt_record_console_events *c = r->console_events =
        g_new0(struct gt_record_console_events, 1);
    int status = 0;
    c->event = g_new0(struct event, events->n + 1);
    for (size_t i = 0; i < events->n && status == 0; i++) {
        if (!is_at_console(&events->event[i]))
            continue;
        status = check_seen(r, &events->event[i], path, err);
        if (status == 0)
            status = take_event(c, &events->event[i], path, err);
    }
    if (status < 0 || !c->n)
        return status;
    status = make_fifo(c, r, err);
    if (status == 0)
        status = gt_record_console_open(NULL, &r->console, err);
    if (status < 0)
        return status;
    gt_record_console_on_line(r->console, on_line, c);
    gt_record_console_on_text(r->console, on_text, c);
    return 0;
}

void gt_record_console_events_arguments(const struct gt_record_console_events *c, GString *out)
{
    if (!c || !c->fifo)
        return;
    g_string_append(out, ",console=");
    gt_record_qemu_append_value(out, c->fifo);
}

void gt_record_console_events_report(const struct gt_record_console_events *c)
{
    if (c && c->lost)
        gt_record_say("%u events at texts of the console are missing: too many came at once",
                      c->lost);
    if (c && c->late)
        gt_record_say("%u events at texts of the console are missing: the recording had ended",
                      c->late);
    for (size_t i = 0; c && i < c->n; i++)
        if (gt_filter_regex_undecided(c->event[i].regex))
            gt_record_say("event %s: for %" PRIu64 " texts the expression was too much, they are "
                          "taken as not matching; use a simpler one",
                          c->event[i].name, gt_filter_regex_undecided(c->event[i].regex));
}

void gt_record_console_events_free(struct gt_record_console_events *c)
{
    if (!c)
        return;
    if (c->fifo)
        unlink(c->fifo);
    for (size_t i = 0; i < c->n; i++)
        gt_filter_regex_free(c->event[i].regex);
    g_free(c->event);
    g_free(c->fifo);
    g_free(c);
}
