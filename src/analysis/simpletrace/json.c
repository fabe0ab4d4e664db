/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace records as JSON: an object a line, or trace events for Perfetto and chrome://tracing, where
 * each record is an instant of its thread (its process, if no thread was recorded).
 */
#include "analysis/simpletrace/put.h"
#include "analysis/simpletrace/simpletrace.h"

struct json {
    struct gt_line line;
    bool any;
};

static void *begin_lines(struct gt_output *out, const struct gt_trace_declarations *d)
{
    struct json *j = g_new0(struct json, 1);
    (void)d;
    j->line.out = out;
    return j;
}

static size_t room_for(const struct gt_trace_record *r)
{
    return 128 + 5 * GT_PUT_NUMBER + strlen(r->event->name) + gt_put_args_room(r);
}

static char *put_member(char *p, const char *name, uint64_t v)
{
    return gt_put_decimal(gt_put_text(p, name), v);
}

/* {"event":"x","timestamp":1,"delta":1,"pid":1[,"tid":1],"args":{...}} */
static void record_line(void *self, const struct gt_trace_record *r, uint64_t before)
{
    struct json *j = self;
    char *line = gt_line_begin(&j->line, room_for(r)), *p = line;
    p = gt_put_text(p, "{\"event\":\"");
    p = gt_put_text(p, r->event->name);
    p = put_member(p, "\",\"timestamp\":", r->timestamp);
    p = gt_put_text(p, ",\"delta\":");
    p = gt_put_signed(p, (int64_t)(r->timestamp - before));
    p = put_member(p, ",\"pid\":", r->pid);
    if (r->tid)
        p = put_member(p, ",\"tid\":", r->tid);
    p = gt_put_args(gt_put_text(p, ",\"args\":"), r);
    p = gt_put_text(p, "}\n");
    gt_line_end(&j->line, line, p);
}

static void end_lines(void *self)
{
    struct json *j = self;
    gt_line_free(&j->line);
    g_free(j);
}

const struct gt_simpletrace_form gt_simpletrace_json = {
    .begin = begin_lines,
    .record = record_line,
    .end = end_lines,
};

static void *begin_events(struct gt_output *out, const struct gt_trace_declarations *d)
{
    gt_output_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    return begin_lines(out, d);
}

/* {"ph":"i","s":"t","name":"x","pid":1,"tid":1,"ts":1.000,"args":{...}} */
static void record_event(void *self, const struct gt_trace_record *r, uint64_t before)
{
    struct json *j = self;
    char *line = gt_line_begin(&j->line, room_for(r)), *p = line;
    (void)before;
    p = gt_put_text(p, j->any ? ",\n{\"ph\":\"i\",\"s\":\"" : "\n{\"ph\":\"i\",\"s\":\"");
    p = gt_put_text(p, r->event->line == 0 ? "p" : "t"); /* drops concern the process */
    p = gt_put_text(p, "\",\"name\":\"");
    p = gt_put_text(p, r->event->name);
    p = put_member(p, "\",\"pid\":", r->pid);
    p = put_member(p, ",\"tid\":", r->tid ? r->tid : r->pid);
    p = gt_put_us(gt_put_text(p, ",\"ts\":"), r->timestamp);
    p = gt_put_args(gt_put_text(p, ",\"args\":"), r);
    *p++ = '}';
    gt_line_end(&j->line, line, p);
    j->any = true;
}

static void end_events(void *self)
{
    gt_output_text(((struct json *)self)->line.out, "\n]}\n");
    end_lines(self);
}

const struct gt_simpletrace_form gt_simpletrace_chrome = {
    .begin = begin_events,
    .record = record_event,
    .end = end_events,
};
