/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Splits the input of a client into messages: see monitor.h and json.h.
 *
 * A message is executed only after the previous answer was sent. So a client that does not read has
 * at most one pending answer, and its further input waits in the socket.
 */
#include "events/library/monitor/monitor.h"

#include <stdio.h>
#include <string.h>

static void take(struct gt_events_monitor_client *c, size_t n)
{
    memmove(c->in, c->in + n, c->fill - n);
    c->fill -= n;
    c->scan = (struct gt_events_monitor_scan){0};
}

/* A newline, or the end of a last line that has no newline: no more is to come. */
static bool scan_line(struct gt_events_monitor_client *c, size_t *end)
{
    return gt_events_monitor_scan_line(&c->scan, c->in, c->fill, end) || (c->ended && c->fill);
}

static void drop_line(struct gt_events_monitor_client *c)
{
    size_t end;
    c->scan.scanned = 0;
    c->dropping = !scan_line(c, &end);
    take(c, end);
}

static void answer_object(struct gt_events_monitor_client *c, size_t n)
{
    ssize_t taken = gt_events_monitor_qmp(NULL, c->in, n, &c->out);
    take(c, n);
    if (taken < 0)
        drop_line(c); /* the next one's beginning is unknown */
}

static void answer_line(struct gt_events_monitor_client *c, size_t n)
{
    struct gt_events_monitor_answer a = {0};
    size_t end = n;
    while (end && gt_events_monitor_blanks(&c->in[end - 1], 1))
        end--;
    c->in[end] = '\0';
    if (memchr(c->in, '\0', end))
        gt_events_monitor_fail(&a, "a NUL in a command");
    else
        gt_events_monitor_line(NULL, c->in, &c->out, &a);
    if (a.failed)
        gt_events_monitor_printf(&c->out, "error: %s\n", a.text);
    gt_events_monitor_printf(&c->out, "%s", GT_MONITOR_PROMPT);
    take(c, n);
}

static void refuse_long(struct gt_events_monitor_client *c)
{
    char text[80];
    snprintf(text, sizeof text, "a command of more than %d bytes", GT_MONITOR_MESSAGE_MAX - 1);
    if (c->in[0] == '{')
        gt_events_monitor_qmp_refuse(&c->out, text);
    else
        gt_events_monitor_printf(&c->out, "error: %s\n%s", text, GT_MONITOR_PROMPT);
    drop_line(c);
}

void gt_events_monitor_client_work(struct gt_events_monitor_client *c)
{
    while (c->fill && !c->out.n && !c->out.failed) {
        size_t end;
        if (c->dropping) {
            drop_line(c);
            continue;
        }
        size_t blanks = c->scan.scanned ? 0 : gt_events_monitor_blanks(c->in, c->fill);
        if (blanks) {
            take(c, blanks);
            continue;
        }
        bool object = c->in[0] == '{';
        if (object ? gt_events_monitor_scan_object(&c->scan, c->in, c->fill, &end)
                   : scan_line(c, &end)) {
            if (object)
                answer_object(c, end);
            else
                answer_line(c, end);
        } else if (c->fill >= GT_MONITOR_MESSAGE_MAX - 1) {
            refuse_long(c);
        } else {
            return;
        }
    }
}
