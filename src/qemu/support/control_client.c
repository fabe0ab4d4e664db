/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One client of a control socket: see control_client.h. */
#include "qemu/support/control_client.h"

#include <stdio.h>
#include <string.h>

void gt_support_control_client_init(struct gt_support_control_client *c,
                                    const struct gt_events_monitor_table *t, size_t line,
                                    bool greets)
{
    memset(c, 0, offsetof(struct gt_support_control_client, in));
    c->table = t;
    c->line = line;
    c->greeted = greets;
    if (greets)
        gt_events_monitor_greet(&c->out);
}

void gt_support_control_client_free(struct gt_support_control_client *c)
{
    gt_events_monitor_free(&c->out);
}

static void take(struct gt_support_control_client *c, size_t n)
{
    memmove(c->in, c->in + n, c->fill - n);
    c->fill -= n;
    c->scan = (struct gt_events_monitor_scan){0};
}

static void drop_line(struct gt_support_control_client *c)
{
    size_t end;
    c->scan.scanned = 0;
    c->dropping = !gt_events_monitor_scan_line(&c->scan, c->in, c->fill, &end);
    take(c, end);
}

/* ---- answers ------------------------------------------------------------------------------- */

void gt_support_control_client_refuse(struct gt_support_control_client *c, const char *what,
                                      size_t most)
{
    char text[80];
    snprintf(text, sizeof text, "too many %s: at most %zu", what, most);
    if (c->qmp)
        gt_events_monitor_qmp_refuse(&c->out, text);
    else
        gt_events_monitor_printf(&c->out, "error: %s\n", text);
}

static void run_line(struct gt_support_control_client *c, size_t n)
{
    struct gt_events_monitor_answer a = {0};
    n -= n && c->in[n - 1] == '\r';
    c->in[n] = '\0';
    if (strlen(c->in) != n)
        gt_events_monitor_fail(&a, "a NUL in a command");
    else
        gt_events_monitor_line(c->table, c->in, &c->out, &a);
    const char *space = a.failed || !a.text[0] ? "" : " ";
    gt_events_monitor_printf(&c->out, "%s%s%s\n", a.failed ? "error: " : "ok", space, a.text);
}

static bool work_line(struct gt_support_control_client *c)
{
    size_t end;
    bool whole = gt_events_monitor_scan_line(&c->scan, c->in, c->fill, &end);
    if (end - whole > c->line) {
        gt_support_control_client_refuse(c, "bytes in a command", c->line);
        drop_line(c);
    } else if (whole) {
        run_line(c, end - 1);
        take(c, end);
    } else {
        return false;
    }
    return true;
}

static bool work_object(struct gt_support_control_client *c)
{
    size_t end = gt_events_monitor_blanks(c->in, c->fill);
    if (end && c->scan.scanned == 0)
        take(c, end);
    if (c->fill == 0)
        return false;
    if (c->in[0] != '{') {
        gt_events_monitor_qmp_refuse(&c->out, "no JSON, byte 1: expected an object");
        drop_line(c); /* the next one may begin anywhere */
    } else if (gt_events_monitor_scan_object(&c->scan, c->in, c->fill, &end)) {
        gt_events_monitor_qmp(c->table, c->in, end, &c->out);
        take(c, end);
    } else if (c->fill == sizeof c->in) {
        gt_support_control_client_refuse(c, "bytes in a message", sizeof c->in - 1);
        drop_line(c);
    } else {
        return false;
    }
    return true;
}

bool gt_support_control_client_work(struct gt_support_control_client *c)
{
    if (c->out.n || c->out.failed || c->fill == 0)
        return false;
    if (!c->begun) {
        c->begun = true;
        c->qmp = c->in[0] == '{';
    }
    if (c->qmp && !c->greeted) {
        c->greeted = true;
        gt_events_monitor_greet(&c->out);
        return true;
    }
    if (c->dropping) {
        drop_line(c);
        return c->fill;
    }
    return c->qmp ? work_object(c) : work_line(c);
}
