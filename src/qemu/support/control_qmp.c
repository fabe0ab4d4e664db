/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QMP on a control socket: see control_qmp.h. A message is checked once, as a whole: it is UTF-8,
 * and one JSON value of bounded depth.
 */
#include "qemu/support/control_qmp.h"

#include "base/utf8.h"
#include "events/library/monitor/json.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "guesttrace-"

enum { NAME = 80, SHOWN = 64 };

struct request {
    const struct gt_control_table *table;
    struct gt_monitor_json execute, arguments, id; /* n == 0: not given */
    struct gt_control_answer answer;
    char text[GT_CONTROL_LINE]; /* the argument */
};

/* ---- texts --------------------------------------------------------------------------------- */

/* Bytes that are no UTF-8, as those of a character that was cut, become '?'. */
static void add_json(struct gt_monitor_text *out, char *text)
{
    size_t n;
    for (char *at = text; *at; at += n) {
        n = gt_utf8_length(at, strlen(at));
        if (n == 0) {
            *at = '?';
            n = 1;
        }
    }
    gt_monitor_add_json(out, text);
}

static bool fail(struct request *r, const char *what, const struct gt_monitor_json *value)
{
    int n = value->n > SHOWN ? SHOWN : (int)value->n;
    gt_control_fail(&r->answer, "%s %.*s", what, n, value->at);
    return false;
}

static bool is_text(const struct gt_monitor_json *string, const char *text)
{
    char name[NAME];
    return gt_monitor_json_text(string, name, sizeof name) >= 0 && strcmp(name, text) == 0;
}

/* The only argument, a string; "" where it is optional and not given. */
static bool read_argument(struct request *r, const char *name, bool optional)
{
    struct gt_monitor_json key, value;
    const char *at = r->arguments.at;
    bool given = false;
    r->text[0] = '\0';
    while (r->arguments.n && gt_monitor_json_member(&r->arguments, &at, &key, &value)) {
        if (!name || !is_text(&key, name))
            return fail(r, "unknown argument", &key);
        if (given)
            return fail(r, "given twice: argument", &key);
        if (value.type != GT_MONITOR_JSON_STRING)
            return fail(r, "expected a string, not", &value);
        if (gt_monitor_json_text(&value, r->text, sizeof r->text) < 0)
            return fail(r, "too long, or with a NUL: argument", &key);
        given = true;
    }
    if (name && !given && !optional)
        gt_control_fail(&r->answer, "argument '%s' is missing", name);
    return !r->answer.failed;
}

/* ---- commands ------------------------------------------------------------------------------ */

/* Arguments are accepted: a client may name capabilities. */
static void capabilities(struct request *r, struct gt_monitor_text *out)
{
    (void)r;
    gt_monitor_puts(out, "{}");
}

static void version(struct request *r, struct gt_monitor_text *out)
{
    if (read_argument(r, NULL, true))
        gt_monitor_add_version(out);
}

static void human_command(struct request *r, struct gt_monitor_text *out)
{
    char line[sizeof r->answer.text + 8];
    if (!read_argument(r, "command-line", false))
        return;
    gt_control_run_line(r->table, r->text, &r->answer);
    r->answer.unknown = false; /* a command of the line, not of QMP */
    snprintf(line, sizeof line, "ok%s%s\n", r->answer.text[0] ? " " : "", r->answer.text);
    add_json(out, line);
}

static void list_commands(struct request *r, struct gt_monitor_text *out);

static const struct {
    const char *name;
    /* Adds what is returned, or sets an answer that failed. */
    void (*run)(struct request *r, struct gt_monitor_text *out);
} commands[] = {
    {"qmp_capabilities", capabilities},
    {"query-commands", list_commands},
    {"query-version", version},
    {"human-monitor-command", human_command},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void list_commands(struct request *r, struct gt_monitor_text *out)
{
    if (!read_argument(r, NULL, true))
        return;
    for (size_t i = 0; i < COMMANDS; i++)
        gt_monitor_printf(out, "%s{\"name\": \"%s\"}", i ? ", " : "[", commands[i].name);
    for (const struct gt_control_command *c = r->table->commands; c->name; c++)
        gt_monitor_printf(out, ", {\"name\": \"" PREFIX "%s\"}", c->name);
    gt_monitor_puts(out, "]");
}

static void run_own(struct request *r, const struct gt_control_command *c,
                    struct gt_monitor_text *out)
{
    if (!read_argument(r, c->argument, c->optional))
        return;
    gt_control_run(r->table, c, r->text, &r->answer);
    gt_monitor_puts(out, "{\"answer\": ");
    add_json(out, r->answer.text);
    gt_monitor_puts(out, "}");
}

static void run(struct request *r, struct gt_monitor_text *out)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (is_text(&r->execute, commands[i].name)) {
            commands[i].run(r, out);
            return;
        }
    char name[NAME] = "";
    const struct gt_control_command *c = NULL;
    if (gt_monitor_json_text(&r->execute, name, sizeof name) >= 0 &&
        strncmp(name, PREFIX, strlen(PREFIX)) == 0)
        c = gt_control_find(r->table, name + strlen(PREFIX));
    if (c)
        run_own(r, c, out);
    else
        r->answer.unknown = !fail(r, "unknown command", &r->execute);
}

/* ---- messages ------------------------------------------------------------------------------ */

static bool is_utf8(const char *text, size_t n, size_t *bad)
{
    size_t i = 0;
    for (size_t k; i < n && (k = gt_utf8_length(text + i, n - i)); i += k)
        ;
    *bad = i;
    return i == n;
}

static bool parse(struct request *r, const char *message, size_t n, struct gt_monitor_json *object)
{
    const char *why, *where;
    size_t bad;
    if (!is_utf8(message, n, &bad))
        gt_control_fail(&r->answer, "no JSON, byte %zu: not UTF-8", bad + 1);
    else if (!gt_monitor_json_parse(message, n, object, &why, &where))
        gt_control_fail(&r->answer, "no JSON, byte %zu: %s", (size_t)(where - message) + 1, why);
    else if (object->type != GT_MONITOR_JSON_OBJECT)
        gt_control_fail(&r->answer, "expected an object");
    return !r->answer.failed;
}

static bool read_request(struct request *r, const struct gt_monitor_json *object)
{
    static const char *const names[] = {"execute", "arguments", "id"};
    struct gt_monitor_json *const members[] = {&r->execute, &r->arguments, &r->id};
    struct gt_monitor_json key, value;
    const char *at = object->at;
    while (gt_monitor_json_member(object, &at, &key, &value)) {
        int i = 0;
        while (i < 3 && !is_text(&key, names[i]))
            i++;
        if (i == 3)
            return fail(r, "unknown member", &key);
        if (members[i]->n)
            return fail(r, "given twice: member", &key);
        *members[i] = value;
    }
    if (!r->execute.n || r->execute.type != GT_MONITOR_JSON_STRING)
        gt_control_fail(&r->answer, "expected a member \"execute\", a string");
    else if (r->arguments.n && r->arguments.type != GT_MONITOR_JSON_OBJECT)
        gt_control_fail(&r->answer, "\"arguments\" must be an object");
    return !r->answer.failed;
}

static void add_error(struct gt_monitor_text *out, struct gt_control_answer *a)
{
    gt_monitor_printf(out, "{\"error\": {\"class\": \"%s\", \"desc\": ",
                      a->unknown ? "CommandNotFound" : "GenericError");
    add_json(out, a->text);
    gt_monitor_puts(out, "}");
}

void gt_control_qmp(const struct gt_control_table *t, const char *message, size_t n,
                    struct gt_monitor_text *out)
{
    struct request r = {.table = t};
    struct gt_monitor_json object;
    size_t before = out->n;
    gt_monitor_puts(out, "{\"return\": ");
    if (parse(&r, message, n, &object) && read_request(&r, &object))
        run(&r, out);
    if (r.answer.failed && !out->failed) {
        out->n = before;
        add_error(out, &r.answer);
    }
    if (r.id.n) {
        gt_monitor_puts(out, ", \"id\": ");
        gt_monitor_add(out, r.id.at, r.id.n);
    }
    gt_monitor_puts(out, "}\r\n");
}

void gt_control_qmp_greet(struct gt_monitor_text *out)
{
    gt_monitor_puts(out, "{\"QMP\": {\"version\": ");
    gt_monitor_add_version(out);
    gt_monitor_puts(out, ", \"capabilities\": []}}\r\n");
}

void gt_control_qmp_refuse(struct gt_monitor_text *out, const char *why)
{
    gt_monitor_printf(out, "{\"error\": {\"class\": \"GenericError\", \"desc\": \"%s\"}}\r\n", why);
}
