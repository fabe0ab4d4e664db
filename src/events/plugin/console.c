/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events at texts of the console, which `guesttrace record` has seen: see recorder.h. They are of
 * no vCPU: a thread of their own records them. */
#include "events/plugin/recorder.h"

#include <guesttrace/control.h>
#include <string.h>

static struct gt_point *find(struct gt_points *p, const char *name, size_t n)
{
    for (size_t i = 0; i < p->events.n; i++) {
        const char *own = p->events.event[i].event.name;
        if (p->point[i].kind == GT_POINT_CONSOLE && strncmp(own, name, n) == 0 && !own[n])
            return &p->point[i];
    }
    return NULL;
}

/* NAME, or NAME LINE. */
static void do_event(void *self, const char *text, struct gt_events_monitor_answer *ignored)
{
    size_t n = strcspn(text, " ");
    struct gt_point *point = find(self, text, n);
    (void)ignored;
    if (!point)
        return;
    const char *line = text[n] ? text + n + 1 : "";
    struct gt_trace_value value = {.text = line, .number = MIN(strlen(line), GT_TRACE_STRING_MAX)};
    struct gt_events_dynamic_source source = {0};
    unsigned on = gt_trace_on(&point->event->state);
    gt_points_know(self, point);
    if (on)
        gt_points_send(self, on, point->event, &value, &source);
}

static const struct gt_events_monitor_command messages[] = {
    {GT_MESSAGE_EVENT, "NAME [LINE]", .run = do_event, .verbatim = true},
    {0},
};

void gt_points_console_start(struct gt_points *p)
{
    if (!p->options.console)
        return;
    p->messages = (struct gt_support_messages){
        .fifo = g_strdup(p->options.console), .worker = p->worker, .table = {messages, p}};
    gt_support_messages_start(&p->messages);
}

void gt_points_console_end(struct gt_points *p)
{
    gt_support_messages_end(&p->messages, true);
}
