/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON of QEMU's machine protocol, as far as it concerns tracing:
 *
 *     {"execute": NAME, "arguments": {...}, "id": ANY}  ->  {"return": ..., "id": ANY}
 *                                                           {"error": {...}, "id": ANY}
 *
 * qmp_capabilities is accepted, but not required. A command is one row of the table; commands of
 * the sockets' own tables (monitor.h) are "guesttrace-NAME".
 */
#include "events/library/message.h"
#include "events/library/monitor/json.h"
#include "events/library/monitor/monitor.h"

#include <guesttrace/control.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "guesttrace-"

enum { PARAMETERS = 3 };

struct parameter {
    const char *name;
    enum gt_events_monitor_json_type type; /* GT_MONITOR_JSON_TRUE: a boolean */
    bool optional;
};
struct argument {
    bool given, truth;
    char text[GT_MONITOR_ARGUMENT];
};
struct command {
    const char *name;
    struct parameter parameters[PARAMETERS];
    /* Adds the answer, as JSON. */
    int (*run)(const struct gt_events_monitor_table *t, const struct argument *a,
               struct gt_events_monitor_text *out, struct gt_trace_error *err);
};

static int nothing(const struct gt_events_monitor_table *t, const struct argument *a,
                   struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    (void)t, (void)a, (void)err;
    gt_events_monitor_puts(out, "{}");
    return 0;
}

static int version(const struct gt_events_monitor_table *t, const struct argument *a,
                   struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    (void)t, (void)a, (void)err;
    gt_events_monitor_add_version(out);
    return 0;
}

static int add_state(struct gt_trace_event *event, void *context)
{
    struct gt_events_monitor_text *out = context;
    const char *state = !gt_trace_is_static(event) ? "unavailable"
                        : gt_trace_is_on(event)    ? "enabled"
                                                   : "disabled";
    if (out->data[out->n - 1] != '[')
        gt_events_monitor_puts(out, ", ");
    gt_events_monitor_puts(out, "{\"name\": ");
    gt_events_monitor_add_json(out, event->name);
    gt_events_monitor_printf(out, ", \"state\": \"%s\"}", state);
    return out->failed;
}

static int unknown_event(const char *name, struct gt_trace_error *err)
{
    return gt_events_fail(err, GT_TRACE_E_NOT_FOUND, "unknown event '%s'", name);
}

static int get_state(const struct gt_events_monitor_table *t, const struct argument *a,
                     struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    (void)t;
    const char *name = a[0].text;
    if (!gt_trace_is_pattern(name) && !gt_trace_find(name))
        return unknown_event(name, err);
    gt_events_monitor_puts(out, "[");
    if (!out->failed)
        gt_trace_each(NULL, name, add_state, out);
    gt_events_monitor_puts(out, "]");
    return 0;
}

static int check_available(struct gt_trace_event *event, void *context)
{
    if (gt_trace_is_static(event))
        return 0;
    return gt_events_fail(context, GT_TRACE_E_UNSUPPORTED, "event '%s' cannot be switched on",
                          event->name);
}

static int set_state(const struct gt_events_monitor_table *t, const struct argument *a,
                     struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    (void)t;
    const char *name = a[0].text;
    bool ignore = a[2].given && a[2].truth;
    if (!gt_trace_is_pattern(name) && !gt_trace_find(name))
        return unknown_event(name, err);
    int status = ignore ? 0 : gt_trace_each(NULL, name, check_available, err);
    if (status == 0)
        status = gt_trace_switch_all(name, a[1].truth, err);
    if (status == GT_TRACE_E_UNSUPPORTED && ignore)
        status = 0;
    if (status < 0)
        return status;
    gt_events_monitor_puts(out, "{}");
    return 0;
}

static int fail(const struct gt_events_monitor_answer *a, struct gt_trace_error *err)
{
    size_t n = strnlen(a->text, sizeof err->text - 1); /* more of it is cut */
    memcpy(err->text, a->text, n);
    err->text[n] = '\0';
    return err->status = GT_TRACE_E_USAGE;
}

static int human_command(const struct gt_events_monitor_table *t, const struct argument *a,
                         struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    struct gt_events_monitor_text lines = {0};
    struct gt_events_monitor_answer answer = {0};
    char line[GT_MONITOR_ARGUMENT];
    memcpy(line, a[0].text, sizeof line);
    gt_events_monitor_line(t, line, &lines, &answer);
    if (!answer.failed && !answer.of_events)
        gt_events_monitor_printf(&lines, "ok%s%s\n", answer.text[0] ? " " : "", answer.text);
    int status = answer.failed ? fail(&answer, err) : 0;
    if (status == 0 && lines.failed)
        status = gt_events_fail(err, GT_TRACE_E_NOMEM, "out of memory");
    if (status == 0)
        gt_events_monitor_add_json(out, lines.data ? lines.data : "");
    gt_events_monitor_free(&lines);
    return status;
}

static int list_commands(const struct gt_events_monitor_table *t, const struct argument *a,
                         struct gt_events_monitor_text *out, struct gt_trace_error *err);

static const struct command commands[] = {
    {"qmp_capabilities", {{"enable", GT_MONITOR_JSON_ARRAY, true}}, nothing},
    {"query-commands", {{0}}, list_commands},
    {"query-version", {{0}}, version},
    {"trace-event-get-state",
     {{"name", GT_MONITOR_JSON_STRING, false}, {"vcpu", GT_MONITOR_JSON_NUMBER, true}},
     get_state},
    {"trace-event-set-state",
     {{"name", GT_MONITOR_JSON_STRING, false},
      {"enable", GT_MONITOR_JSON_TRUE, false},
      {"ignore-unavailable", GT_MONITOR_JSON_TRUE, true}},
     set_state},
    {"human-monitor-command", {{"command-line", GT_MONITOR_JSON_STRING, false}}, human_command},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int list_commands(const struct gt_events_monitor_table *t, const struct argument *a,
                         struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    (void)a, (void)err;
    for (size_t i = 0; i < COMMANDS; i++)
        gt_events_monitor_printf(out, "%s{\"name\": \"%s\"}", i ? ", " : "[", commands[i].name);
    for (const struct gt_events_monitor_command *c = t ? t->commands : NULL; c && c->name; c++)
        gt_events_monitor_printf(out, ", {\"name\": \"" PREFIX "%s\"}", c->name);
    gt_events_monitor_puts(out, "]");
    return 0;
}

static int read_value(const struct parameter *p, const struct gt_events_monitor_json *value,
                      struct argument *a, struct gt_trace_error *err)
{
    bool boolean = value->type == GT_MONITOR_JSON_TRUE || value->type == GT_MONITOR_JSON_FALSE;
    if (p->type == GT_MONITOR_JSON_TRUE ? !boolean : value->type != p->type)
        return gt_events_fail(err, GT_TRACE_E_USAGE, "argument '%s' must be %s, not %.*s", p->name,
                              p->type == GT_MONITOR_JSON_TRUE     ? "true or false"
                              : p->type == GT_MONITOR_JSON_STRING ? "a string"
                              : p->type == GT_MONITOR_JSON_ARRAY  ? "an array"
                                                                  : "a number",
                              value->n > 64 ? 64 : (int)value->n, value->at);
    if (a->given)
        return gt_events_fail(err, GT_TRACE_E_USAGE, "argument '%s' is given twice", p->name);
    a->given = true;
    a->truth = value->type == GT_MONITOR_JSON_TRUE;
    if (p->type == GT_MONITOR_JSON_STRING &&
        gt_events_monitor_json_text(value, a->text, sizeof a->text) < 0)
        return gt_events_fail(err, GT_TRACE_E_RANGE,
                              "argument '%s' has a NUL, or more than %d bytes", p->name,
                              GT_MONITOR_ARGUMENT - 5);
    return 0;
}

static int read_arguments(const struct command *c, const struct gt_events_monitor_json *object,
                          struct argument *a, struct gt_trace_error *err)
{
    struct gt_events_monitor_json key, value;
    const char *at = object->at;
    while (object->type == GT_MONITOR_JSON_OBJECT &&
           gt_events_monitor_json_member(object, &at, &key, &value)) {
        char name[64];
        int i = 0, length = gt_events_monitor_json_text(&key, name, sizeof name);
        while (i < PARAMETERS &&
               !(length >= 0 && c->parameters[i].name && strcmp(c->parameters[i].name, name) == 0))
            i++;
        if (i == PARAMETERS)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "'%s' has no argument %.*s", c->name,
                                  key.n > 64 ? 64 : (int)key.n, key.at);
        int status = read_value(&c->parameters[i], &value, &a[i], err);
        if (status < 0)
            return status;
    }
    for (int i = 0; i < PARAMETERS && c->parameters[i].name; i++)
        if (!a[i].given && !c->parameters[i].optional)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "argument '%s' is missing",
                                  c->parameters[i].name);
    return 0;
}

struct request {
    struct gt_events_monitor_json execute, arguments, id; /* n == 0: not given */
};

static int read_request(const struct gt_events_monitor_json *object, struct request *r,
                        struct gt_trace_error *err)
{
    static const char *const names[] = {"\"execute\"", "\"arguments\"", "\"id\""};
    struct gt_events_monitor_json *const members[] = {&r->execute, &r->arguments, &r->id};
    struct gt_events_monitor_json key, value;
    const char *at = object->at;
    while (gt_events_monitor_json_member(object, &at, &key, &value)) {
        int i = 0;
        while (i < 3 && !(strlen(names[i]) == key.n && memcmp(names[i], key.at, key.n) == 0))
            i++;
        if (i == 3)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "unknown member %.*s",
                                  key.n > 64 ? 64 : (int)key.n, key.at);
        if (members[i]->n)
            return gt_events_fail(err, GT_TRACE_E_USAGE, "member %s is given twice", names[i]);
        *members[i] = value;
    }
    if (!r->execute.n || r->execute.type != GT_MONITOR_JSON_STRING)
        return gt_events_fail(err, GT_TRACE_E_USAGE, "expected a member \"execute\", a string");
    if (r->arguments.n && r->arguments.type != GT_MONITOR_JSON_OBJECT)
        return gt_events_fail(err, GT_TRACE_E_USAGE, "\"arguments\" must be an object");
    return 0;
}

/* A command of the table, by its argument's text. */
static int run_own(const struct gt_events_monitor_table *t,
                   const struct gt_events_monitor_command *own, const struct argument *a,
                   struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    struct gt_events_monitor_answer answer = {0};
    gt_events_monitor_run_command(t, own, a[0].text, &answer);
    if (answer.failed)
        return fail(&answer, err);
    gt_events_monitor_puts(out, "{\"answer\": ");
    gt_events_monitor_add_json(out, answer.text);
    gt_events_monitor_puts(out, "}");
    return 0;
}

struct found {
    struct command command;                      /* name NULL: there is none */
    const struct gt_events_monitor_command *own; /* NULL: it is not of a table */
};

static struct found find(const struct gt_events_monitor_table *t, const char *name)
{
    const size_t n = strlen(PREFIX);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return (struct found){.command = commands[i]};
    const struct gt_events_monitor_command *c =
        t && strncmp(name, PREFIX, n) == 0 ? t->commands : NULL;
    for (; c && c->name; c++)
        if (strcmp(c->name, name + n) == 0)
            return (struct found){
                {name, {{c->argument, GT_MONITOR_JSON_STRING, c->optional}}, NULL}, c};
    return (struct found){0};
}

/* GT_TRACE_E_NOT_FOUND with *known false where there is no such command. */
static int run(const struct gt_events_monitor_table *t, const struct request *r, bool *known,
               struct gt_events_monitor_text *out, struct gt_trace_error *err)
{
    char name[80];
    if (gt_events_monitor_json_text(&r->execute, name, sizeof name) < 0)
        name[0] = '\0';
    const struct found f = find(t, name);
    *known = f.command.name;
    if (!*known)
        return gt_events_fail(err, GT_TRACE_E_NOT_FOUND, "unknown command %.*s",
                              r->execute.n > 64 ? 64 : (int)r->execute.n, r->execute.at);
    if (strncmp(name, "trace-event-", strlen("trace-event-")) == 0)
        gt_events_monitor_note_events();
    struct argument *a = calloc(PARAMETERS, sizeof *a);
    if (!a)
        return gt_events_fail(err, GT_TRACE_E_NOMEM, "out of memory");
    int status = read_arguments(&f.command, &r->arguments, a, err);
    if (status == 0)
        status = f.own ? run_own(t, f.own, a, out, err) : f.command.run(t, a, out, err);
    free(a);
    return status;
}

static void answer(struct gt_events_monitor_text *out, const struct request *r, int status,
                   bool known, const struct gt_trace_error *err)
{
    if (status < 0) {
        gt_events_monitor_printf(out, "{\"error\": {\"class\": \"%s\", \"desc\": ",
                                 known ? "GenericError" : "CommandNotFound");
        gt_events_monitor_add_json(out, err->text);
        gt_events_monitor_puts(out, "}");
    }
    if (r->id.n) {
        gt_events_monitor_puts(out, ", \"id\": ");
        gt_events_monitor_add(out, r->id.at, r->id.n);
    }
    gt_events_monitor_puts(out, "}\r\n");
}

/* The end of its JSON; NULL: it is none. */
static const char *parse(const char *text, size_t n, struct gt_events_monitor_json *object,
                         struct gt_trace_error *err)
{
    const char *why = "not UTF-8", *where = text, *end = NULL;
    for (size_t k = 1; k && where < text + n; where += k)
        if (!(k = gt_events_monitor_utf8(where, (size_t)(text + n - where))))
            break;
    if (where == text + n)
        end = gt_events_monitor_json_parse(text, n, object, &why, &where);
    if (!end)
        gt_events_fail(err, GT_TRACE_E_FORMAT, "no JSON, byte %zu: %s", (size_t)(where - text) + 1,
                       why);
    return end;
}

ssize_t gt_events_monitor_qmp(const struct gt_events_monitor_table *t, const char *text, size_t n,
                              struct gt_events_monitor_text *out)
{
    struct gt_trace_error err = {0};
    struct request r = {0};
    struct gt_events_monitor_json object;
    const char *end = parse(text, n, &object, &err);
    size_t before = out->n;
    bool known = true;
    int status = end ? read_request(&object, &r, &err) : err.status;
    gt_events_monitor_puts(out, "{\"return\": ");
    if (status == 0)
        status = run(t, &r, &known, out, &err);
    if (status < 0 && !out->failed)
        out->n = before;
    answer(out, &r, status, known, &err);
    return end ? end - text : -1;
}

void gt_events_monitor_qmp_refuse(struct gt_events_monitor_text *out, const char *why)
{
    gt_events_monitor_printf(
        out, "{\"error\": {\"class\": \"GenericError\", \"desc\": \"%s\"}}\r\n", why);
}

void gt_events_monitor_greet(struct gt_events_monitor_text *out)
{
    gt_events_monitor_puts(out, "{\"QMP\": {\"version\": ");
    gt_events_monitor_add_version(out);
    gt_events_monitor_puts(out, ", \"capabilities\": []}}\r\n");
}
