/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as trace events in JSON, for Perfetto and chrome://tracing: a thread a unit,
 * whose functions begin ("B") and end ("E"), and a counter ("C") for each device's event. Times are
 * microseconds with three decimals.
 */
#include "base/chrome_events.h"
#include "etrace/convert/convert.h"
#include "etrace/dump/exec_stack.h"

#include <glib.h>
#include <stdio.h>

enum { UNITS = 1 << 16, PROCESS = 1 };

struct chrome {
    struct gt_json json;
    struct gt_etrace_exec_codes *codes;
    struct gt_etrace_exec_stacks *stacks;
    bool seen[UNITS]; /* the unit has a name */
};

static void name_unit(struct chrome *c, uint16_t unit)
{
    char name[16];
    c->seen[unit] = true;
    snprintf(name, sizeof name, "CPU %u", unit);
    gt_json_chrome_event_name(&c->json, "thread_name", PROCESS, unit, name);
}

static void enter(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct chrome *c = self;
    if (!c->seen[unit])
        name_unit(c, unit);
    gt_json_chrome_event_begin(&c->json, "B", PROCESS, unit, time);
    gt_json_key(&c->json, "name");
    gt_json_text(&c->json, name);
    gt_json_chrome_event_end(&c->json);
}

static void leave(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct chrome *c = self;
    gt_json_chrome_event_begin(&c->json, "E", PROCESS, unit, time);
    gt_json_key(&c->json, "name");
    gt_json_text(&c->json, name);
    gt_json_chrome_event_end(&c->json);
}

static int chrome_begin(struct gt_output *out, struct gt_etrace_names *names, void **self,
                        struct gt_error *err)
{
    struct gt_etrace_exec_codes *codes;
    int status = gt_etrace_exec_codes_create(names, &codes, err);
    if (status < 0)
        return status;
    struct chrome *c = g_new0(struct chrome, 1);
    const struct gt_etrace_exec_sink sink = {c, enter, leave, NULL};
    c->codes = codes;
    c->stacks = gt_etrace_exec_stacks_create(codes, &sink);
    gt_json_chrome_begin(&c->json, out);
    *self = c;
    return 0;
}

static void chrome_exec(void *self, uint16_t unit, const struct gt_etrace_exec *x)
{
    gt_etrace_exec_stacks_add(((struct chrome *)self)->stacks, unit, x);
}

static void chrome_event(void *self, const struct gt_etrace_event *event)
{
    struct chrome *c = self;
    struct gt_json *j = &c->json;
    g_autofree char *name = g_strconcat(event->device, ".", event->name, NULL);
    gt_json_chrome_event_begin(j, "C", PROCESS, event->unit, event->time);
    gt_json_key(j, "name");
    gt_json_text(j, name);
    gt_json_key(j, "args");
    gt_json_begin_object(j);
    gt_json_key(j, "value");
    gt_json_u64(j, event->value);
    gt_json_end_object(j);
    gt_json_chrome_event_end(j);
}

static void chrome_end(void *self)
{
    struct chrome *c = self;
    gt_etrace_exec_stacks_destroy(c->stacks);
    gt_json_chrome_end(&c->json);
    gt_etrace_exec_codes_destroy(c->codes);
    g_free(c);
}

const struct gt_etrace_convert_format gt_etrace_convert_chrome = {
    .name = "chrome",
    .begin = chrome_begin,
    .exec = chrome_exec,
    .event = chrome_event,
    .end = chrome_end,
};
