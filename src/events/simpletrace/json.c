/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace records as JSON: an object a line, or trace events for Perfetto and chrome://tracing, where
 * each record is an instant of its thread (its process, if no thread was recorded).
 */
#include "base/json.h"
#include "events/simpletrace/simpletrace.h"

#include <glib.h>

static void *begin_lines(struct gt_output *out, const struct gt_trace_declarations *d)
{
    (void)d;
    return out;
}

static void put_value(struct gt_json *j, enum gt_trace_kind kind, const struct gt_trace_value *v)
{
    if (v->text)
        gt_json_string(j, v->text, v->number);
    else if (kind == GT_TRACE_BOOL && v->number <= 1)
        gt_json_bool(j, v->number);
    else if (kind == GT_TRACE_SIGNED)
        gt_json_i64(j, (int64_t)v->number);
    else if (kind == GT_TRACE_POINTER)
        gt_json_hex(j, v->number);
    else
        gt_json_u64(j, v->number);
}

/* "args":{"name":value,...}: numbers as declared, pointers as "0x...". */
static void put_args(struct gt_json *j, const struct gt_trace_record *r)
{
    gt_json_key(j, "args");
    gt_json_begin_object(j);
    for (unsigned i = 0; i < r->n_values; i++) {
        gt_json_key(j, r->arguments[i].name);
        put_value(j, r->arguments[i].kind, &r->values[i]);
    }
    gt_json_end_object(j);
}

static void put_number(struct gt_json *j, const char *name, uint64_t v)
{
    gt_json_key(j, name);
    gt_json_u64(j, v);
}

/* {"event":"x","timestamp":1,"delta":1,"pid":1[,"tid":1],"args":{...}} */
static void record_line(void *self, const struct gt_trace_record *r, uint64_t before)
{
    struct gt_json line, *j = &line;
    gt_json_init(j, self, GT_JSON_ESCAPE);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "event");
    gt_json_name(j, r->event->name);
    put_number(j, "timestamp", r->timestamp);
    gt_json_key(j, "delta");
    gt_json_i64(j, (int64_t)(r->timestamp - before));
    put_number(j, "pid", r->pid);
    if (r->tid)
        put_number(j, "tid", r->tid);
    put_args(j, r);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
}

static void end_lines(void *self)
{
    (void)self;
}

const struct gt_simpletrace_form gt_simpletrace_json = {
    .begin = begin_lines,
    .record = record_line,
    .end = end_lines,
};

static void *begin_events(struct gt_output *out, const struct gt_trace_declarations *d)
{
    struct gt_json *j = g_new(struct gt_json, 1);
    (void)d;
    gt_json_init(j, out, GT_JSON_ESCAPE);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "displayTimeUnit");
    gt_json_name(j, "ns");
    gt_json_key(j, "traceEvents");
    gt_json_begin_array(j);
    gt_json_commit(j);
    return j;
}

/* {"ph":"i","s":"t","name":"x","pid":1,"tid":1,"ts":1.000,"args":{...}} */
static void record_event(void *self, const struct gt_trace_record *r, uint64_t before)
{
    struct gt_json copy = *(struct gt_json *)self, *j = &copy;
    (void)before;
    gt_json_resume(j);
    gt_json_newline(j);
    gt_json_begin_object(j);
    gt_json_key(j, "ph");
    gt_json_name(j, "i");
    gt_json_key(j, "s");
    gt_json_name(j, r->event->line == 0 ? "p" : "t"); /* drops concern the process */
    gt_json_key(j, "name");
    gt_json_name(j, r->event->name);
    put_number(j, "pid", r->pid);
    put_number(j, "tid", r->tid ? r->tid : r->pid);
    gt_json_key(j, "ts");
    gt_json_thousandths(j, r->timestamp);
    put_args(j, r);
    gt_json_end_object(j);
    gt_json_commit(j);
    *(struct gt_json *)self = copy;
}

static void end_events(void *self)
{
    struct gt_json *j = self;
    gt_json_resume(j);
    gt_json_newline(j);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
    g_free(j);
}

const struct gt_simpletrace_form gt_simpletrace_chrome = {
    .begin = begin_events,
    .record = record_event,
    .end = end_events,
};
