/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as trace events in JSON, for Perfetto and chrome://tracing: a thread a unit,
 * whose functions begin ("B") and end ("E"), and a counter ("C") for each device's event. Times are
 * microseconds with three decimals.
 */
#include "analysis/export/export.h"
#include "analysis/stream/exec_stack.h"

#include <glib.h>

enum { UNITS = 1 << 16 };

struct chrome {
    struct gt_output *out;
    struct gt_exec_codes *codes;
    struct gt_exec_stacks *stacks;
    bool any;         /* an event was written */
    bool seen[UNITS]; /* the unit has a name */
};

/* Between quotes, with what JSON does not allow there escaped; what is no UTF-8 is replaced. */
static void put_text(struct gt_output *out, const char *text)
{
    g_autofree char *valid = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
    for (const char *c = valid ? valid : text; *c; c++) {
        if (*c == '"' || *c == '\\')
            gt_output_text(out, "\\");
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            gt_output_text(out, "?");
        else
            gt_output_bytes(out, c, 1);
    }
}

/* {"ph":"X","pid":1,"tid":UNIT,"ts":TIME */
static void begin_event(struct chrome *c, char phase, uint16_t unit, uint64_t time)
{
    gt_output_text(c->out, c->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    c->any = true;
    gt_output_bytes(c->out, &phase, 1);
    gt_output_text(c->out, "\",\"pid\":1,\"tid\":");
    gt_output_decimal(c->out, unit);
    gt_output_text(c->out, ",\"ts\":");
    gt_output_decimal(c->out, time / 1000);
    const char fraction[] = {'.', (char)('0' + time / 100 % 10), (char)('0' + time / 10 % 10),
                             (char)('0' + time % 10)};
    gt_output_bytes(c->out, fraction, sizeof fraction);
}

static void name_unit(struct chrome *c, uint16_t unit)
{
    c->seen[unit] = true;
    begin_event(c, 'M', unit, 0);
    gt_output_text(c->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU ");
    gt_output_decimal(c->out, unit);
    gt_output_text(c->out, "\"}}");
}

static void enter(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct chrome *c = self;
    if (!c->seen[unit])
        name_unit(c, unit);
    begin_event(c, 'B', unit, time);
    gt_output_text(c->out, ",\"name\":\"");
    put_text(c->out, name);
    gt_output_text(c->out, "\"}");
}

static void leave(void *self, uint16_t unit, uint64_t time)
{
    struct chrome *c = self;
    begin_event(c, 'E', unit, time);
    gt_output_text(c->out, "}");
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
    c->out = out;
    c->codes = codes;
    c->stacks = gt_exec_stacks_create(codes, &sink);
    gt_output_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
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
    begin_event(c, 'C', event->unit, event->time);
    gt_output_text(c->out, ",\"name\":\"");
    put_text(c->out, event->device);
    gt_output_text(c->out, ".");
    put_text(c->out, event->name);
    gt_output_text(c->out, "\",\"args\":{\"value\":");
    gt_output_decimal(c->out, event->value);
    gt_output_text(c->out, "}}");
}

static void chrome_end(void *self)
{
    struct chrome *c = self;
    gt_exec_stacks_destroy(c->stacks);
    gt_output_text(c->out, "\n]}\n");
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
