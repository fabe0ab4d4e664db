/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of a control socket: see control_command.h. */
#include "qemu/support/control_command.h"

#include "events/library/monitor/monitor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 100 }; /* bytes of an unknown command in its answer */

/* An answer is one line, whatever is quoted in it. */
static __attribute__((format(printf, 3, 0))) void
set_answer(struct gt_control_answer *a, bool failed, const char *format, va_list ap)
{
    a->failed = failed;
    vsnprintf(a->text, sizeof a->text, format, ap);
    for (char *c = a->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

void gt_control_succeed(struct gt_control_answer *a, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    set_answer(a, false, format, ap);
    va_end(ap);
}

void gt_control_fail(struct gt_control_answer *a, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    set_answer(a, true, format, ap);
    va_end(ap);
}

const struct gt_control_command *gt_control_find(const struct gt_control_table *t, const char *name)
{
    for (const struct gt_control_command *c = t->commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

void gt_control_run(const struct gt_control_table *t, const struct gt_control_command *c,
                    const char *args, struct gt_control_answer *a)
{
    if (*args && !c->usage)
        gt_control_fail(a, "%s: takes no arguments", c->name);
    else if (!*args && c->usage && !c->optional)
        gt_control_fail(a, "%s: expected %s", c->name, c->usage);
    else
        c->run(t->self, args, a);
}

/* Appends to a text that has `n` of `room` bytes; returns how many it has then. */
static size_t append(char *text, size_t n, size_t room, const char *before, const char *word)
{
    int more = snprintf(text + n, room - n, "%s%s", before, word);
    return more < 0 || (size_t)more >= room - n ? room - 1 : n + (size_t)more;
}

/* "a, b or c" */
static void list_names(const struct gt_control_table *t, char *text, size_t room)
{
    size_t n = 0;
    for (const struct gt_control_command *c = t->commands; c->name; c++)
        n = append(text, n, room, c == t->commands ? "" : c[1].name ? ", " : " or ", c->name);
}

/* "a | b FILE | c" */
static void run_help(const struct gt_control_table *t, struct gt_control_answer *a)
{
    size_t n = 0;
    a->failed = false;
    for (const struct gt_control_command *c = t->commands; c->name; c++) {
        n = append(a->text, n, sizeof a->text, c == t->commands ? "" : " | ", c->name);
        if (c->usage)
            n = append(a->text, n, sizeof a->text, " ", c->usage);
    }
    struct gt_monitor_text events = {0};
    gt_monitor_hmp_usage(&events);
    append(a->text, n, sizeof a->text, n ? " | " : "", events.data ? events.data : "");
    gt_monitor_free(&events);
}

static void refuse_unknown(const struct gt_control_table *t, const char *line,
                           struct gt_control_answer *a)
{
    char names[GT_CONTROL_ANSWER / 2] = "";
    list_names(t, names, sizeof names);
    gt_control_fail(a, "unknown command %.*s: expected %s", NAME_SHOWN, line,
                    names[0] ? names : "one of those that help lists");
}

static char *skip_blanks(char *at)
{
    return at + strspn(at, " \t");
}

static bool ran_events; /* atomic */

void gt_control_note_events(void)
{
    __atomic_store_n(&ran_events, true, __ATOMIC_RELAXED);
}

bool gt_control_ran_events(void)
{
    return __atomic_load_n(&ran_events, __ATOMIC_RELAXED);
}

static void run_events(char *line, struct gt_control_answer *a, struct gt_monitor_text *lines)
{
    struct gt_trace_error err = {0};
    a->of_events = true;
    gt_control_note_events();
    if (gt_monitor_hmp(line, lines, &err) < 0)
        gt_control_fail(a, "%s", err.text);
}

void gt_control_run_line(const struct gt_control_table *t, char *line, struct gt_control_answer *a,
                         struct gt_monitor_text *lines)
{
    if (gt_monitor_hmp_knows(skip_blanks(line))) {
        run_events(line, a, lines);
        return;
    }
    char *name = skip_blanks(line), *end = name + strcspn(name, " \t"), *args = skip_blanks(end);
    size_t n = strlen(args);
    while (n && strchr(" \t", args[n - 1]))
        args[--n] = '\0';
    *end = '\0';
    const struct gt_control_command *c = gt_control_find(t, name);
    if (c)
        gt_control_run(t, c, args, a);
    else if (strcmp(name, "help") == 0)
        run_help(t, a);
    else
        refuse_unknown(t, name, a);
}
