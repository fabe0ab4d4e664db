/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as trace events in JSON, for Perfetto and chrome://tracing: a thread a unit,
 * whose functions begin ("B") and end ("E"), and a counter ("C") for each device's event. Times are
 * microseconds with three decimals.
 */
#include "analysis/convert/convert.h"
#include "analysis/stream/exec_stack.h"
#include "base/json.h"

#include <glib.h>
#include <stdio.h>

enum { UNITS = 1 << 16 };

struct chrome {
    struct gt_json json;
    struct gt_exec_codes *codes;
    struct gt_exec_stacks *stacks;
    bool seen[UNITS]; /* the unit has a name */
};

/* {"ph":"X","pid":1,"tid":UNIT,"ts":TIME */
static void begin_event(struct gt_json *j, const char *phase, uint16_t unit, uint64_t time)
{
    gt_json_resume(j);
    gt_json_newline(j);
    gt_json_begin_object(j);
    gt_json_key(j, "ph");
    gt_json_name(j, phase);
    gt_json_key(j, "pid");
    gt_json_u64(j, 1);
    gt_json_key(j, "tid");
    gt_json_u64(j, unit);
    gt_json_key(j, "ts");
    gt_json_thousandths(j, time);
}

static void end_event(struct gt_json *j)
{
    gt_json_end_object(j);
    gt_json_commit(j);
}

static void name_unit(struct chrome *c, uint16_t unit)
{
    struct gt_json *j = &c->json;
    char name[16];
    c->seen[unit] = true;
    snprintf(name, sizeof name, "CPU %u", unit);
    begin_event(j, "M", unit, 0);
    gt_json_key(j, "name");
    gt_json_name(j, "thread_name");
    gt_json_key(j, "args");
    gt_json_begin_object(j);
    gt_json_key(j, "name");
    gt_json_text(j, name);
    gt_json_end_object(j);
    end_event(j);
}

static void enter(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct chrome *c = self;
    if (!c->seen[unit])
        name_unit(c, unit);
    begin_event(&c->json, "B", unit, time);
    gt_json_key(&c->json, "name");
    gt_json_text(&c->json, name);
    end_event(&c->json);
}

static void leave(void *self, uint16_t unit, uint64_t time)
{
    struct chrome *c = self;
    begin_event(&c->json, "E", unit, time);
    end_event(&c->json);
}

static int chrome_begin(struct gt_output *out, struct gt_etrace_names *names, void **self,
                        struct gt_error *err)
{
    struct gt_exec_codes *codes;
    int status = gt_exec_codes_create(names, &codes, err);
    if (status < 0)
        return status;
    struct chrome *c = g_new0(struct chrome, 1);
    const struct gt_exec_sink sink = {c, enter, leave, NULL};
    c->codes = codes;
    c->stacks = gt_exec_stacks_create(codes, &sink);
    gt_json_init(&c->json, out, GT_JSON_REPLACE);
    gt_json_resume(&c->json);
    gt_json_begin_object(&c->json);
    gt_json_key(&c->json, "displayTimeUnit");
    gt_json_name(&c->json, "ns");
    gt_json_key(&c->json, "traceEvents");
    gt_json_begin_array(&c->json);
    gt_json_commit(&c->json);
    *self = c;
    return 0;
}

static void chrome_exec(void *self, uint16_t unit, const struct gt_etrace_exec *x)
{
    gt_exec_stacks_add(((struct chrome *)self)->stacks, unit, x);
}

static void chrome_event(void *self, const struct gt_etrace_event *event)
{
    struct chrome *c = self;
    struct gt_json *j = &c->json;
    g_autofree char *name = g_strconcat(event->device, ".", event->name, NULL);
    begin_event(j, "C", event->unit, event->time);
    gt_json_key(j, "name");
    gt_json_text(j, name);
    gt_json_key(j, "args");
    gt_json_begin_object(j);
    gt_json_key(j, "value");
    gt_json_u64(j, event->value);
    gt_json_end_object(j);
    end_event(j);
}

static void chrome_end(void *self)
{
    struct chrome *c = self;
    struct gt_json *j = &c->json;
    gt_exec_stacks_destroy(c->stacks);
    gt_json_resume(j);
    gt_json_newline(j);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
    gt_exec_codes_destroy(c->codes);
    g_free(c);
}

const struct gt_convert_format gt_convert_chrome = {
    .name = "chrome",
    .begin = chrome_begin,
    .exec = chrome_exec,
    .event = chrome_event,
    .end = chrome_end,
};
