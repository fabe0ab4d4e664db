/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of a control socket as commands of the monitor's QMP: see control_qmp.h. */
#include "qemu/support/control_qmp.h"

#include "events/library/monitor/monitor.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "guesttrace-"

enum { MOST = 16, NAME = 40 }; /* commands of a table, and bytes of a name */

static int fail(const struct gt_control_answer *a, struct gt_trace_error *err)
{
    size_t n = strnlen(a->text, sizeof err->text - 1); /* more of it is cut */
    memcpy(err->text, a->text, n);
    err->text[n] = '\0';
    return err->status = GT_TRACE_E_USAGE;
}

static int run_own(void *self, const struct gt_monitor_command *c,
                   const struct gt_monitor_argument *argument, struct gt_monitor_text *out,
                   struct gt_trace_error *err)
{
    const struct gt_control_table *t = self;
    struct gt_control_answer a = {0};
    gt_control_run(t, gt_control_find(t, c->name + strlen(PREFIX)), argument[0].text, &a);
    if (a.failed)
        return fail(&a, err);
    gt_monitor_puts(out, "{\"answer\": ");
    gt_monitor_add_json(out, a.text);
    gt_monitor_puts(out, "}");
    return 0;
}

static int run_line(void *self, char *line, struct gt_monitor_text *out, struct gt_trace_error *err)
{
    struct gt_control_answer a = {0};
    gt_control_run_line(self, line, &a, out);
    if (a.failed)
        return fail(&a, err);
    if (!a.of_events)
        gt_monitor_printf(out, "ok%s%s\n", a.text[0] ? " " : "", a.text);
    return 0;
}

void gt_control_qmp(const struct gt_control_table *t, const char *message, size_t n,
                    struct gt_monitor_text *out)
{
    struct gt_monitor_command own[MOST] = {{0}};
    char name[MOST][NAME];
    struct gt_monitor_more more = {own, 0, run_line, (void *)(uintptr_t)t};
    for (const struct gt_control_command *c = t->commands; c->name && more.n < MOST; c++) {
        struct gt_monitor_command *to = &own[more.n];
        snprintf(name[more.n], NAME, PREFIX "%s", c->name);
        to->name = name[more.n++];
        to->run = run_own;
        to->parameters[0] =
            (struct gt_monitor_parameter){c->argument, GT_MONITOR_JSON_STRING, c->optional};
    }
    if (memmem(message, n, "trace-event-", strlen("trace-event-")))
        gt_control_note_events();
    gt_monitor_qmp(&more, message, n, out);
}
